"""Which function of an ELF file an address lies in, by its symbol tables.

A symbol names the bytes from st_value to st_value + st_size and no others: what a stripped file still names
may be far away from an address. The file may come from anybody: nothing is read beyond its end."""

import lzma
import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unisono.core import files

DEBUG = Path("/usr/lib/debug")  # where distributions put what they strip off (debuginfo)
MOST_XZ = 64 << 20  # bytes of an uncompressed .gnu_debugdata
MOST_SYMBOLS = 1 << 24
FUNCTIONS = (2, 10)  # STT_FUNC, STT_GNU_IFUNC; of an assembler's code often 0
NO_TYPE = 0
NESTED = 64  # symbols before an address that are looked at: functions may lie within each other
SYMTAB, DYNSYM, NOBITS = 2, 11, 8  # types of sections
EXECUTABLE = 4  # SHF_EXECINSTR
LOAD = 1  # a type of segments
SYMBOL = {
    2: [("name", "u4"), ("info", "u1"), ("other", "u1"), ("section", "u2"), ("value", "u8"), ("size", "u8")],
    1: [("name", "u4"), ("value", "u4"), ("size", "u4"), ("info", "u1"), ("other", "u1"), ("section", "u2")],
}


@dataclass(frozen=True)
class Section:
    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


class Elf:
    """Sections of a file, or of what was packed into one. Raises ValueError."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        self.data = data
        if len(data) < 64 or data[:4] != b"\x7fELF" or data[4] not in SYMBOL or data[5] not in (1, 2):
            raise ValueError("no ELF file")
        self.wide = data[4]
        self.order: Literal["<", ">"] = "<" if data[5] == 1 else ">"
        self.sections = self.headers()
        self.by_name = {section.name: section for section in self.sections}

    def headers(self) -> list[Section]:
        if self.wide == 2:
            (start,) = struct.unpack_from(self.order + "Q", self.data, 0x28)
            size, count, names = struct.unpack_from(self.order + "HHH", self.data, 0x3A)
            form = struct.Struct(self.order + "IIQQQQII")
        else:
            (start,) = struct.unpack_from(self.order + "I", self.data, 0x20)
            size, count, names = struct.unpack_from(self.order + "HHH", self.data, 0x2E)
            form = struct.Struct(self.order + "IIIIIIII")
        if size < form.size or start + count * size > len(self.data):
            return []
        rows = [form.unpack_from(self.data, start + at * size) for at in range(count)]
        made = [Section("", *row[1:7]) for row in rows]
        if names >= count:
            return made
        texts = self.bytes_of(made[names])
        return [Section(text_at(texts, row[0]), *row[1:7]) for row in rows]

    def virtual_addresses(self, offsets: Sequence[int]) -> list[int]:
        """Of bytes of the file, by what of it is mapped; 0 for one that is not."""
        if self.wide == 2:
            (start,) = struct.unpack_from(self.order + "Q", self.data, 0x20)
            size, count = struct.unpack_from(self.order + "HH", self.data, 0x36)
            form, order = struct.Struct(self.order + "IIQQQQ"), (0, 2, 3, 5)
        else:
            (start,) = struct.unpack_from(self.order + "I", self.data, 0x1C)
            size, count = struct.unpack_from(self.order + "HH", self.data, 0x2A)
            form, order = struct.Struct(self.order + "IIIIII"), (0, 1, 2, 4)
        if size < form.size or start + count * size > len(self.data):
            raise ValueError("no ELF file")
        rows = [form.unpack_from(self.data, start + at * size) for at in range(count)]
        loads = [tuple(row[at] for at in order) for row in rows if row[0] == LOAD]
        return [
            next((at - start + address for _, start, address, size in loads if start <= at < start + size), 0)
            for at in offsets
        ]

    def bytes_of(self, section: Section | None) -> bytes:
        """Empty for what lies outside the file."""
        if section is None or section.type == NOBITS or section.offset + section.size > len(self.data):
            return b""
        return bytes(self.data[section.offset : section.offset + section.size])

    def build_id(self) -> str:
        """Empty: it has none."""
        note = self.bytes_of(self.by_name.get(".note.gnu.build-id"))
        if len(note) < 16 or note[12:16] != b"GNU\0":
            return ""
        return note[16 : 16 + min(64, int(struct.unpack_from(self.order + "I", note, 4)[0]))].hex()

    def debug_link(self) -> str:
        name = self.bytes_of(self.by_name.get(".gnu_debuglink")).partition(b"\0")[0]
        return "" if b"/" in name else name.decode(errors="replace")

    def packed(self) -> "Elf | None":
        """Of minidebuginfo: the symbols that were stripped off (.gnu_debugdata, xz)."""
        data = self.bytes_of(self.by_name.get(".gnu_debugdata"))
        if not data:
            return None
        try:
            return Elf(lzma.LZMADecompressor(memlimit=MOST_XZ).decompress(data, MOST_XZ))
        except (lzma.LZMAError, ValueError):
            return None

    def tables(self) -> Iterator["Table"]:
        for section in self.sections:
            if section.type in (SYMTAB, DYNSYM) and section.link < len(self.sections):
                form = np.dtype(SYMBOL[self.wide]).newbyteorder(self.order)
                data = self.bytes_of(section)[: MOST_SYMBOLS * form.itemsize]
                symbols = np.frombuffer(data, form, len(data) // form.itemsize)
                yield Table(symbols, self.bytes_of(self.sections[section.link]), self.sections)


def text_at(texts: bytes, start: int) -> str:
    return texts[start : texts.find(b"\0", start)].decode(errors="replace") if start < len(texts) else ""


class Table:
    """The functions of one symbol table, in the order of their addresses."""

    def __init__(self, symbols: NDArray[np.void], texts: bytes, sections: Sequence[Section]) -> None:
        code = np.array([bool(section.flags & EXECUTABLE) for section in sections], bool)
        at = np.minimum(symbols["section"], max(len(sections) - 1, 0))
        kind = symbols["info"] & 15
        inside = (
            (symbols["name"] > 0) & (symbols["section"] > 0) & (symbols["section"] < len(sections)) & code[at]
        )
        named = symbols[inside & (np.isin(kind, FUNCTIONS) | (kind == NO_TYPE))]
        # Of several names for an address the one with a size, and of these a global one, comes last.
        order = np.lexsort((named["info"] >> 4, named["size"] > 0, named["value"]))
        self.symbols, self.texts, self.sections = named[order], texts, sections
        self.value = self.symbols["value"].astype(np.uint64)

    def sized(self, address: int) -> str:
        """Empty: no function has this byte."""
        last = self.before(address)
        for at in range(last - 1, max(last - NESTED, 0) - 1, -1):
            symbol = self.symbols[at]
            if address < int(symbol["value"]) + int(symbol["size"]):
                return text_at(self.texts, int(symbol["name"]))
        return ""

    def unsized(self, address: int) -> str:
        """A symbol without a size, as assembler code has them, may go on to the next symbol or to the end of
        its section; that this is likely only is said."""
        last = self.before(address)
        if not last:
            return ""
        symbol = self.symbols[last - 1]
        section = self.sections[int(symbol["section"])]
        if int(symbol["size"]) or not section.address <= address < section.address + section.size:
            return ""
        return f"at or after {text_at(self.texts, int(symbol['name']))}"

    def before(self, address: int) -> int:
        """How many symbols begin at the address or before it."""
        return int(np.searchsorted(self.value, np.uint64(address), side="right"))


def functions(module: Path, addresses: Sequence[int]) -> list[str]:
    """Of virtual addresses of the file; empty where nothing names them. Raises OSError, ValueError."""
    own = Elf(mapped(module))
    tables = [table for elf in (own, own.packed(), separate(own, module)) if elf for table in elf.tables()]
    return [
        next(
            filter(None, (*(table.sized(at) for table in tables), *(table.unsized(at) for table in tables))),
            "",
        )
        for at in addresses
    ]


def mapped(module: Path) -> mmap.mmap:
    file = files.opened(module)
    try:
        return mmap.mmap(file, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(file)


def separate(own: Elf, module: Path) -> Elf | None:
    """The file of its debugging information, as gdb looks for it."""
    name, link = own.build_id(), own.debug_link()
    places = [DEBUG / ".build-id" / name[:2] / f"{name[2:]}.debug"] if len(name) > 2 else []
    if link:
        folder = module.resolve().parent
        places += [folder / link, folder / ".debug" / link, DEBUG / folder.relative_to("/") / link]
    for place in places:
        try:
            if place != module:
                found = Elf(mapped(place))
                if not name or found.build_id() == name:
                    return found
        except (OSError, ValueError):
            continue
    return None
