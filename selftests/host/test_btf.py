#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does btf.py find where a member lies, in a kernel's types and in those of a module that go on there?"""

import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from lib import ktap
from lib.checks import expect, expect_in

from btf import ARRAY, ENUM, INT, KIND_FLAG, STRUCT, UNION, Btf, BtfError

U32, INNER, ANONYMOUS, OUTER = 1, 2, 3, 4
# The kernel below has 8 types.
FIRST_OF_MODULE = 9


class Maker:
    """Writes type information."""

    def __init__(self, first_string=0):
        self.first_string = first_string
        self.strings = b"" if first_string else b"\0"
        self.types = b""

    def string(self, text):
        if not text:
            return 0
        offset = self.first_string + len(self.strings)
        self.strings += text.encode() + b"\0"
        return offset

    def add(self, kind, name="", count=0, size=0, extra=b"", flag=0):
        self.types += struct.pack("<III", self.string(name), flag | kind << 24 | count, size) + extra

    def aggregate(self, kind, name, members, flag=0):
        extra = b"".join(struct.pack("<III", self.string(member), number, bits) for member, number, bits in members)
        self.add(kind, name, len(members), 64, extra, flag)

    def bytes(self, magic=0xeb9f):
        return struct.pack("<HBBIIIII", magic, 1, 0, 24, 0, len(self.types), len(self.types), len(self.strings)) \
            + self.types + self.strings


def kernel():
    maker = Maker()
    maker.add(INT, "u32", size=4, extra=bytes(4))
    maker.aggregate(STRUCT, "inner", [("first", U32, 0), ("second", U32, 32)])
    maker.aggregate(UNION, "", [("either", INNER, 0), ("", INNER, 64)])
    maker.aggregate(STRUCT, "outer", [("head", U32, 0), ("", ANONYMOUS, 128), ("tail", U32, 512)])
    maker.aggregate(STRUCT, "bits", [("plain", U32, 32), ("narrow", U32, 3 << 24 | 64)], KIND_FLAG)
    maker.add(ENUM, "list", 2, 4, bytes(16))
    maker.add(ARRAY, extra=bytes(12))
    maker.aggregate(STRUCT, "last", [("member", U32, 8)])
    return maker


def module(base):
    maker = Maker(len(base.strings))
    maker.aggregate(STRUCT, "", [("inside", U32, 32)])
    maker.aggregate(STRUCT, "of_module", [("pointer", U32, 0), ("", OUTER, 1024), ("", FIRST_OF_MODULE, 2048)])
    return maker


def refusal(ask, *args):
    try:
        return f"no refusal, but {ask(*args)}"
    except BtfError as error:
        return str(error)


def main():
    suite = ktap.Suite("btf")
    base = kernel()
    types = Btf(base.bytes())
    split = Btf(module(base).bytes(), types)
    for where, struct_name, member, want in (
            (types, "inner", "second", 4), (types, "outer", "head", 0), (types, "outer", "tail", 64),
            (types, "outer", "either", 16), (types, "outer", "second", 28), (types, "bits", "plain", 4),
            (types, "last", "member", 1), (split, "of_module", "pointer", 0), (split, "of_module", "tail", 192),
            (split, "of_module", "second", 156), (split, "of_module", "inside", 260), (split, "inner", "second", 4)):
        with suite.case(f"{struct_name}.{member}{' from a module' if where is split else ''}"):
            expect("offset", where.offset(struct_name, member), want)
    for name, ask, args, want in (
            ("no such structure", split.offset, ("missing", "x"), "no struct missing"),
            ("no such member", types.offset, ("outer", "x"), "struct outer has no member x"),
            ("a bit field", types.offset, ("bits", "narrow"), "narrow is a bit field"),
            ("no type information", Btf, (base.bytes(magic=1),), "no BTF"),
            ("the header is cut", Btf, (base.bytes()[:20],), "ends early"),
            ("the strings are cut", Btf, (base.bytes()[:-1],), "a section ends"),
            ("an unknown kind", Btf, (unknown_kind(),), "unknown kind 31")):
        with suite.case(f"refused: {name}"):
            expect_in("refusal", refusal(ask, *args), want)
    suite.finish()


def unknown_kind():
    maker = Maker()
    maker.add(31)
    return maker.bytes()


if __name__ == "__main__":
    main()
