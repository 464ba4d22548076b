# SPDX-License-Identifier: GPL-2.0
"""Where a member lies in a structure, from a kernel's own type information (Documentation/bpf/btf.rst).

A module's types go on where the kernel's end: its type numbers and string offsets begin after the last of those.
"""

import struct

MAGIC = 0xeb9f
HEADER = struct.Struct("<HBBIIIII")
TYPE = struct.Struct("<III")
MEMBER = struct.Struct("<III")
KIND_FLAG = 1 << 31
# Kinds that have more after the common part: how many bytes, as a function of their number of elements.
INT, ARRAY, STRUCT, UNION, ENUM, FUNC_PROTO, VAR, DATASEC, DECL_TAG, ENUM64 = 1, 3, 4, 5, 6, 13, 14, 15, 17, 19
EXTRA = {
    INT: lambda count: 4, ARRAY: lambda count: 12, STRUCT: lambda count: 12 * count, UNION: lambda count: 12 * count,
    ENUM: lambda count: 8 * count, FUNC_PROTO: lambda count: 8 * count, VAR: lambda count: 4,
    DATASEC: lambda count: 12 * count, DECL_TAG: lambda count: 4, ENUM64: lambda count: 12 * count,
}
LAST_KIND = ENUM64


class BtfError(Exception):
    """No type information, or not of what was asked for; the text says what."""


class Btf:
    """The structures of a kernel, or of a module, for which the kernel's are the base."""

    def __init__(self, data, base=None):
        self.base = base
        magic, version, _, header_size, type_start, type_size, string_start, string_size = unpack(HEADER, data, 0)
        if magic != MAGIC or version != 1:
            raise BtfError(f"no BTF: it begins with {data[:4].hex()}")
        self.first_string = base.end_of_strings if base else 0
        self.end_of_strings = self.first_string + string_size
        self.strings = section(data, header_size + string_start, string_size)
        self.types = section(data, header_size + type_start, type_size)
        self.aggregates = {}        # type number -> structure or union
        self.by_name = {}           # name of a structure -> its type number
        self.end_of_types = self._read_types(base.end_of_types if base else 1)

    def offset(self, name, member):
        """The offset of a member in bytes from the beginning of its structure."""
        if name not in self.by_name:
            if not self.base:
                raise BtfError(f"no struct {name}")
            return self.base.offset(name, member)
        bits = self._bits(self.by_name[name], member)
        if bits is None:
            raise BtfError(f"struct {name} has no member {member}")
        return bits // 8

    def _bits(self, number, wanted):
        """As offset(), in bits, and None when there is no such member. What has no name is looked through."""
        if number not in self.aggregates:
            return self.base and self.base._bits(number, wanted)
        position, count, has_bit_fields = self.aggregates[number]
        for index in range(count):
            string, inner, bits = unpack(MEMBER, self.types, position + index * MEMBER.size)
            # With bit fields in the structure, the upper byte is the width of this one.
            bits, width = (bits & 0xffffff, bits >> 24) if has_bit_fields else (bits, 0)
            if not string:
                found = self._bits(inner, wanted)
                if found is not None:
                    return bits + found
            elif self.string(string) == wanted:
                if width:
                    raise BtfError(f"{wanted} is a bit field")
                return bits
        return None

    def string(self, offset):
        if offset < self.first_string:
            return self.base.string(offset)
        start = offset - self.first_string
        return self.strings[start:self.strings.index(b"\0", start)].decode()

    def _read_types(self, number):
        """Finds the structures and unions; returns the number after the last type."""
        position = 0
        while position < len(self.types):
            string, info, _ = unpack(TYPE, self.types, position)
            kind, count = info >> 24 & 0x1f, info & 0xffff
            if not 0 < kind <= LAST_KIND:
                raise BtfError(f"unknown kind {kind} of type")
            position += TYPE.size
            if kind in (STRUCT, UNION):
                self.aggregates[number] = (position, count, bool(info & KIND_FLAG))
                if kind == STRUCT and string:
                    self.by_name[self.string(string)] = number
            position += EXTRA.get(kind, lambda count: 0)(count)
            number += 1
        return number


def section(data, start, size):
    if start + size > len(data):
        raise BtfError(f"a section ends at {start + size}, the file at {len(data)}")
    return data[start:start + size]


def unpack(layout, data, position):
    try:
        return layout.unpack_from(data, position)
    except struct.error:
        raise BtfError(f"ends early, at {len(data)}") from None
