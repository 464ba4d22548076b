#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Installs the Debian packages that `make run` and `make test` need and that are missing.

set -eu

packages="python3 make mmdebstrap qemu-system-x86 shellcheck gcc libc6-dev libcmocka-dev"
# The keyring of a Debian 12 that was never updated does not know Debian 13.
newest_key=/usr/share/keyrings/debian-archive-trixie-stable.gpg

if ! command -v apt-get >/dev/null; then
	echo "This needs Debian or a derivative: there is no apt-get to install $packages with." >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "Root makes the Debian roots that the kernels come from: run  sudo make ${1:-run}" >&2
	exit 1
fi

missing=
for package in $packages; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] || missing="$missing $package"
done
[ -e "$newest_key" ] || missing="$missing debian-archive-keyring"
[ -n "$missing" ] || exit 0

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "installing$missing" >&2
# shellcheck disable=SC2086
if ! { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends $missing; } \
	>"$log" 2>&1 </dev/null; then
	tail -n 5 "$log" >&2
	echo "Could not install$missing: see the lines above." >&2
	exit 1
fi
