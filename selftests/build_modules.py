#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""`make KVER=6.12`: builds the modules for the stock kernel of that line and says where they are."""

import os
import sys

from lib import build, kernels
from lib.failure import Failure

try:
    for module in build.build(kernels.wanted()).values():
        print(os.path.relpath(module))
except Failure as failure:
    sys.exit(str(failure))
