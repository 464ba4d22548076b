# SPDX-License-Identifier: GPL-2.0
# The few words a person types; `make help` lists them. How the modules are built is in Kbuild.

# Stock Debian kernels that we can get ourselves, with their compilers.
KERNEL_LINES := 5.10 6.1 6.12 newest

export KVER ACCEL CPUS MEM RUNS PATHS RING POOL_MB JOBS LONG DEBUG CHECK SUITE SEED REQUESTS

TESTS := $(wildcard selftests/*/test_*.py selftests/*/test_*.sh)
# These say themselves which kernels they are about, are about none, or take long: on 6.12 only.
ONCE := build lib compare bench devices nics host protected hostile
TESTS_ONCE := $(filter $(addsuffix /%,$(addprefix selftests/,$(ONCE))),$(TESTS))
TESTS_EACH_KERNEL := $(filter-out $(TESTS_ONCE),$(TESTS))
# On the debug kernel everything takes several times as long; these are what it has most to say about.
TESTS_DEBUG_KERNEL := selftests/hostile/test_hostile.py kunit/run.py kunit/check_build.py
TESTS_DEBUG_KERNEL += $(if $(LONG),selftests/virtio/test_lifecycle.py selftests/protected/test_protected.py)

.PHONY: modules run run-nics run-host run-iommu run-protected bench shell test kunit coverage check help clean

ifneq ($(filter $(KVER),$(KERNEL_LINES)),)
modules:
	@selftests/setup.sh "KVER=$(KVER)"
	@selftests/build_modules.py
else
RELEASE := $(or $(KVER),$(shell uname -r))
KDIR := /lib/modules/$(RELEASE)/build

modules:
	@test -d $(KDIR) || { echo "No headers of kernel $(RELEASE): install linux-headers-$(RELEASE)," \
		"or build for a stock kernel with  make KVER=6.12" >&2; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules
endif

run:
	@selftests/setup.sh run
	@selftests/compare/run.py

run-nics:
	@selftests/setup.sh run-nics
	@selftests/nics/run.py

run-host:
	@selftests/setup.sh run-host
	@selftests/host/run.py

run-iommu:
	@selftests/setup.sh run-iommu
	@selftests/iommu/run.py

run-protected:
	@selftests/setup.sh run-protected
	@selftests/protected/run.py

bench:
	@selftests/setup.sh bench
	@selftests/bench/run.py

shell:
	@selftests/setup.sh shell
	@selftests/compare/shell.py

test:
	@selftests/setup.sh test
	@selftests/run_tests.py --once $(TESTS_ONCE) --each-kernel $(TESTS_EACH_KERNEL) \
		--debug-kernel $(TESTS_DEBUG_KERNEL)

kunit:
	@selftests/setup.sh kunit
	@kunit/run.py

coverage:
	@selftests/setup.sh coverage
	@kunit/run.py --coverage

check:
	@selftests/setup.sh check
	@selftests/run_tests.py --once $(filter selftests/build/%,$(TESTS)) --debug-kernel kunit/check_build.py

clean:
	rm -rf out
	find . -path ./.git -prune -o \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' \
		-o -name '.*.cmd' -o -name '.*.o.d' -o -name modules.order -o -name Module.symvers \) -type f -exec rm -f {} +

help:
	@echo 'make          build the modules for the running kernel'
	@echo '              KVER=RELEASE      for another installed kernel'
	@echo '              KVER=LINE         for a stock Debian kernel, in out/build/; LINE: $(KERNEL_LINES)'
	@echo 'make run      boot a guest and compare the DMA paths of a disk and a network card'
	@echo 'make run-nics network cards as device models, under the stock drivers of a guest'
	@echo 'make run-host a real KVM and VFIO host, emulated: which pages of an assigned device trap, by guest and host'
	@echo 'make run-iommu what an IOMMU costs a network card, and what DMA masks decide'
	@echo 'make run-protected  guests that share only a part of their memory: what works, what fails, and what leaks'
	@echo 'make bench    count the instructions that DMA mappings cost on each path; CHECK=1: only whether they became more'
	@echo 'make shell    a prompt in the same guest, with the modules loaded'
	@echo 'make test     all tests, in guests; KVER="6.1 6.12" says on which kernels, JOBS how many programs at a time,'
	@echo '              LONG=1 for more rounds and CPUs that really run at once, DEBUG=1 for all guest tests on the debug kernel'
	@echo 'make kunit    the KUnit suites on the debug kernel; SUITE=pool runs those with "pool" in their name'
	@echo 'make coverage the same, and which lines of the modules they ran'
	@echo 'make check    compiler and sparse warnings on every line, checkpatch, shellcheck'
	@echo 'make clean    remove what was built and out/; the cached Debian roots stay'
	@echo
	@echo 'Knobs of run and shell, with what they are when not given:'
	@echo '  KVER=6.12     LINE of the guest kernel'
	@echo '  ACCEL=auto    auto (KVM if a guest boots with it, else TCG), kvm (a demand), tcg'
	@echo '  CPUS=2        of the guest'
	@echo '  MEM=2G        of the guest; a sixteenth of it, but 128 MiB at most, is the swiotlb pool'
	@echo '  RING=split    split or packed (swiotlb and bounce always use split rings)'
	@echo '  POOL_MB=64    size of our bounce pool'
	@echo 'and of run alone:'
	@echo '  RUNS=10       rounds; each measures every path'
	@echo '  PATHS="off direct platform swiotlb bounce"'
