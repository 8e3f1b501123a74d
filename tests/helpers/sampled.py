# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of samples, put together byte by byte. A tick is a nanosecond; times are in units of
1,024 of them, since the beginning of the recording."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nvspan._results.lines import LineRow

UNIT = 1024
WAITING, RUNNING, READY = 0, 1, 2
BEGIN = 1_000_000 * UNIT  # ticks
_DEFINITIONS, _EVENTS, _SAMPLES = 2, 1, 4
_STRING, _DOMAIN, _SITE, _CATEGORY, _THREAD = 1, 2, 3, 4, 5
_CODE, _FRAME, _STACK, _SAMPLED_THREAD = 16, 17, 18, 19
_PUSH, _POP, _START, _END, _BASE, _CALL, _WORK = 1, 2, 3, 4, 6, 13, 14
_CALLS, _CUDA, _KERNEL, _COPY = 1, 2, 1, 2  # domains; categories of the second
_GPU_LANE = 1_000_000  # the thread that has the work of the GPU
_HEADER, _HEADER_FIELDS, _CHUNK = 4096, 1592, 96
_LIVE, _LIVE_MAGIC, _LIVE_CHUNKS = 3072, 0x3145564C53564EFD, 24
_NONE, _NO_COLUMN = 0xFFFFFFFF, 0xFFFF
_SHIFT, _PACKED = 10, 64  # of ticks, to units; records as they are written now
# What changes while a program runs: not in the checksum of the header's fixed fields.
_CHANGING = ((0, 8), (16, 24), (96, 152), (160, 184), (1328, 1592))


def _table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return table


_TABLE = _table()


def crc32c(data: bytes, before: int = 0) -> int:
    """The checksum of recordings."""
    total = before ^ 0xFFFFFFFF
    for byte in data:
        total = total >> 8 ^ _TABLE[(total ^ byte) & 0xFF]
    return total ^ 0xFFFFFFFF


def number(value: int) -> bytes:
    """A number of a record of samples."""
    value += 1
    found = bytearray()
    while value >= 0x80:
        found.append(0x80 | value & 0x7F)
        value >>= 7
    found.append(value)
    return bytes(found)


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def _words(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


class SampleChunk:
    """The records of a chunk; `at` is its first time."""

    packs = True

    def __init__(
        self, at: int = 0, period: int | None = 1000, *, packed: bool | None = None
    ) -> None:
        """`period`: in us, in a note at its beginning; None: none. `packed`: in the form of now, or
        of before; None: `packs`."""
        self.base = at
        self.packed = self.packs if packed is None else packed
        self.data = bytearray(number(_SHIFT | _PACKED * self.packed))
        self.samples = 0
        self.now = at
        self._thread: int | None = None
        self._last: dict[int, int] = {}  # the stack of each thread
        self._usual = 0  # 16 times the usual step
        if period is not None:
            self.note(1, period)

    def _head(self, at: int | None, thread: int, recent: int = 0) -> None:
        at = self.now if at is None else at
        other = thread != self._thread
        step = at - self.now
        if self.packed:
            self.data += number(3 << 5 | (step != 0) << 4 | recent << 1 | other)
            self.data += number(step) if step else b""
        else:
            self.data += number(step << 5 | recent << 2 | other << 1)
        if other:
            self.data += number(thread)
        else:
            self._step(at - self.now)
        self.now, self._thread = at, thread

    def _step(self, step: int) -> None:
        usual = self._usual // 16
        self._usual += min(step, 2 * usual + 32) - usual

    def sample(
        self,
        at: int,
        thread: int,
        stack: int,
        state: int = RUNNING,
        part: int | None = None,
        still: tuple[int, int] | None = None,
    ) -> SampleChunk:
        """`part`: of 125; `still`: how many looks before it, and how long ago the last of them was.

        Its numbers are those of a stack that the thread has not had before.
        """
        change = stack - self._last.get(thread, 0)
        self._head(at, thread)
        zigzag = _zigzag(change)
        has_part, is_still = part is not None, still is not None
        self.data += number(zigzag << 4 | state << 2 | has_part << 1 | is_still)
        if part is not None:
            self.data += number(part)
        for value in still or ():
            self.data += number(value)
        self._last[thread] = stack
        self.samples += 1
        return self

    def again(self, at: int, stack: int | None = None, place: int = 0) -> SampleChunk:
        """A sample of the thread of the one before, in short: with its stack and state; or another
        `stack`, which it runs in, or that has a `place` among its last ones."""
        step, thread = at - self.now, self._thread
        assert thread
        is_other = stack is not None
        time = _zigzag(step - self._usual // 16)
        change = 0 if stack is None else _zigzag(stack - self._last[thread])
        if self.packed:
            code = min(change + 8, 127) if is_other and not place else max(place, 1)
            code -= code < 4
            packed = (1 << 12) + ((time - 32) << 3 | code)
            if time < 32:
                packed = code << 5 | time
            elif code >= 8 or packed >= 1 << 14:
                packed = (1 << 14) + ((time - 32) << 7 | code)
            self.data += number(packed) + (number(change) if code == 127 else b"")
        else:
            self.data += number(time << 2 | is_other << 1 | 1)
            if is_other:
                self.data += number(place - 2 if place else change + 6)
        self._last[thread] = self._last[thread] if stack is None else stack
        self._step(step)
        self.now = at
        self.samples += 1
        return self

    def recent(self, at: int, thread: int, stack: int, place: int) -> SampleChunk:
        """A sample of the thread's last stack but `place` - 1."""
        self._head(at, thread, place)
        self._last[thread] = stack
        self.samples += 1
        return self

    def note(self, kind: int, *values: int, at: int | None = None) -> SampleChunk:
        """1: the period; 2: seven counts; 3: a thread that ended."""
        self._head(at, 0)
        for value in (kind, *values):
            self.data += number(value)
        return self

    def raw(self, data: bytes) -> SampleChunk:
        """Bytes that no sampler wrote."""
        self.data += data
        return self


@dataclass
class _Body:
    """What a chunk holds; times in units."""

    kind: int
    data: bytes
    last: int
    count: int = 0
    thread: int = 0
    tid: int = 0
    number: int = 0
    before: int = 0
    base: int = 0
    is_sealed: bool = True
    is_last: bool = False


_Event = tuple[int, int, int, tuple[int, ...]]  # when, its kind, subject, further words


class SampledFile:
    """A recording of ranges and samples."""

    def __init__(self, pid: int = 42, mode: int = 0, *, live: bool = False) -> None:
        """`live`: with what tells other processes where the newest samples are."""
        self.pid, self.mode, self.live = pid, mode, live
        self._texts: dict[str, int] = {}
        self._definitions = bytearray()
        self._counts: dict[int, int] = {}
        self._sites: dict[tuple[str, int, int], int] = {}
        self._codes: dict[tuple[str, str, int], int] = {}
        self._frames: dict[tuple[int, ...], int] = {}
        self._stacks: dict[tuple[int, int], int] = {}
        self._events: dict[int, list[_Event]] = {}
        self._chunks: list[tuple[SampleChunk, int, bool, int]] = []
        self.end = 0
        self.define(_DOMAIN, struct.pack("<II", 0, _NONE))

    def define(self, kind: int, body: bytes, text: bytes = b"") -> None:
        """Adds a definition."""
        offset = _CHUNK + len(self._definitions)
        data = _words(body + text)
        word = kind | len(body + text) << 32
        total = crc32c(data, crc32c(struct.pack("<QQ", 1 << 32 | offset, word)))
        self._definitions += struct.pack("<Q", word | (total & 0xFFFFFF) << 8) + data

    def _next(self, kind: int) -> int:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return self._counts[kind]

    def text(self, text: str) -> int:
        """The number of a string."""
        if text not in self._texts:
            self._texts[text] = len(self._texts)
            self.define(_STRING, struct.pack("<II", self._texts[text], 0), text.encode())
        return self._texts[text]

    def frame(
        self,
        file: str,
        function: str,
        line: int,
        columns: tuple[int, int] | None = None,
        *,
        first_line: int = 1,
        end_line: int | None = None,
        c_function: str | None = None,
    ) -> int:
        """The number of a frame, which may be in a C function."""
        key = (file, function, first_line)
        if key not in self._codes:
            self._codes[key] = self._next(_CODE)
            self.define(_CODE, struct.pack("<IIII", self._codes[key], self.text(file),
                                           self.text(function), first_line))  # fmt: skip
        begin, end = columns or (_NO_COLUMN, _NO_COLUMN)
        called = 0 if c_function is None else self.text(c_function) + 1
        fields = (self._codes[key], line, end_line or line, begin, end, called)
        if fields not in self._frames:
            self._frames[fields] = self._next(_FRAME)
            self.define(_FRAME, struct.pack("<IIIIHHI", self._frames[fields], *fields))
        return self._frames[fields]

    def stack(self, *frames: int) -> int:
        """The number of a stack, the outermost frame first."""
        parent = 0
        for frame in frames:
            key = (parent, frame)
            if key not in self._stacks:
                self._stacks[key] = self._next(_STACK)
                self.define(_STACK, struct.pack("<IIII", self._stacks[key], parent, frame, 0))
            parent = self._stacks[key]
        return parent

    def thread(self, tid: int | None = None, at: int = 0) -> int:
        """The number of a sampled thread; without `tid` the main one."""
        made = self._next(_SAMPLED_THREAD)
        self.define(_SAMPLED_THREAD, struct.pack("<IIQ", made, tid or self.pid, BEGIN + at * UNIT))
        return made

    def ranges(self, ranges: Iterable[tuple[int, int | None, str]], tid: int | None = None) -> None:
        """Nested ranges of a thread, from when to when; None: it does not end."""
        events = self._events.setdefault(tid or self.pid, [])
        for begin, end, name in ranges:
            events.append((begin, _PUSH, self._site(name), ()))
            if end is not None:
                events.append((end, _POP, 0, ()))
        events.sort(key=lambda event: event[0])

    def spans(self, spans: Iterable[tuple[int, int, str]], tid: int | None = None) -> None:
        """Start/end ranges of a thread, from when to when."""
        events = self._events.setdefault(tid or self.pid, [])
        for begin, end, name in spans:
            number = self._next(_START)
            events.append((begin, _START, self._site(name), (number,)))
            events.append((end, _END, 0, (number,)))
        events.sort(key=lambda event: event[0])

    def kernels(self, kernels: Iterable[tuple[int, int, int, str]], tid: int | None = None) -> None:
        """Work of a GPU: when a thread launched it, from when to when it ran, and its name."""
        calls = self._events.setdefault(tid or self.pid, [])
        if _GPU_LANE not in self._events:
            for number, name in ((_CALLS, "CUDA API"), (_CUDA, "CUDA")):
                self.define(_DOMAIN, struct.pack("<II", number, self.text(name)))
            for number, name in ((_KERNEL, "kernel"), (_COPY, "copy")):
                self.define(_CATEGORY, struct.pack("<IIII", _CUDA, number, self.text(name), 0))
        work = self._events.setdefault(_GPU_LANE, [])
        for launched, begin, end, name in kernels:
            number = self._next(_CALL) << 32
            category = _COPY if name.startswith("[CUDA memcpy") else _KERNEL
            calls.append((launched, _CALL, self._site("cudaLaunchKernel", _CALLS), (number,)))
            words = (number | (end - begin) * UNIT, 7)  # on stream 7
            work.append((begin, _WORK, self._site(name, _CUDA, category), words))
        calls.sort(key=lambda event: event[0])
        work.sort(key=lambda event: event[0])

    def _site(self, name: str, domain: int = 0, category: int = 0) -> int:
        key = (name, domain, category)
        if key not in self._sites:
            self._sites[key] = len(self._sites)
            kind = (1, 7, 0, 1) if domain == _CUDA else (1, 0, 0, 0)  # an extended payload
            self.define(_SITE, struct.pack("<IIIBBBBII", self._sites[key], domain, self.text(name),
                                           *kind, 0, category))  # fmt: skip
        return self._sites[key]

    def samples(
        self, chunk: SampleChunk, number: int | None = None, seal: bool = True, skipped: int = 0
    ) -> None:
        """Adds a chunk; `number`: its own, else the next; `skipped` samples before it are gone."""
        before = self._chunks[-1][1] if self._chunks else 0
        number = before + 1 if number is None else number
        self._chunks.append((chunk, number, seal, skipped))

    def data(self, closed: bool = True) -> bytes:
        """The bytes of the file."""
        bodies: list[_Body] = []
        for index, tid in enumerate(self._events):
            self.define(_THREAD, struct.pack("<IIQ", index, tid, BEGIN))
        bodies.append(_Body(_DEFINITIONS, bytes(self._definitions), 0))
        last = self.end
        for index, (tid, events) in enumerate(self._events.items()):
            last = max([last, *(event[0] for event in events)])
            bodies.append(
                _Body(_EVENTS, _entries(events), last, count=len(events), thread=index, tid=tid,
                      number=1, is_last=True)
            )  # fmt: skip
        before = 0
        for at, (chunk, number, is_sealed, skipped) in enumerate(self._chunks, 1):
            last = max(last, chunk.now)
            before += skipped
            bodies.append(
                _Body(_SAMPLES, bytes(chunk.data), chunk.now, count=chunk.samples, number=number,
                      before=before, base=chunk.base, is_sealed=is_sealed,
                      is_last=at == len(self._chunks))
            )  # fmt: skip
            before += chunk.samples
        chunks = bytearray()
        places = []
        for sequence, body in enumerate(bodies, 1):
            places.append(_HEADER + len(chunks))
            chunks += _chunk(places[-1], sequence, body)
        header = bytearray(self._header(len(bodies), bytes(chunks), last, closed))
        if self.live:
            of = {body.number: at for body, at in zip(bodies, places, strict=True)
                  if body.kind == _SAMPLES}  # fmt: skip
            struct.pack_into("<QQQQQ", header, _LIVE, _LIVE_MAGIC, 0, places[0], 0, self.mode)
            struct.pack_into("<Q", header, _LIVE + 80, max(of, default=0))
            for number in sorted(of)[-_LIVE_CHUNKS:]:
                at = _LIVE + 88 + 8 * (number % _LIVE_CHUNKS)
                struct.pack_into("<Q", header, at, of[number])
        return bytes(header) + chunks

    def write(self, path: Path, closed: bool = True) -> Path:
        """Writes the file."""
        path.write_bytes(self.data(closed))
        return path

    def _header(self, chunks: int, data: bytes, last: int, closed: bool) -> bytes:
        header = bytearray(_HEADER)
        put = struct.pack_into
        put("<8sIIQIIIIQQQ", header, 0, b"\xffNVSPAR1", 2, _HEADER, int(closed), self.pid, 1, 1,
            self.mode, 7, 0, 0)  # fmt: skip
        clock = struct.pack("<QQQ", BEGIN, BEGIN, 10**18)
        header[72:96] = clock
        ended = struct.pack("<QQQ", *(time + last * UNIT for time in (BEGIN, BEGIN, 10**18)))
        header[120:144] = ended
        put("<Qd", header, 144, 1, 1e9)
        put("<iiiI", header, 184, -1, -1, -1, 0)
        events = sum(map(len, self._events.values()))
        size = _HEADER + len(data)
        put("<III", header, 1532, 0, crc32c(ended, crc32c(struct.pack("<Q", 1))),
            len(self._events))  # fmt: skip
        put("<QQQQQ", header, 1544, chunks, size, 0, events, size if closed else 0)
        fixed = bytearray(header[:_HEADER_FIELDS])
        for begin, end in _CHANGING:
            fixed[begin:end] = bytes(end - begin)
        put("<I", header, 1528, crc32c(bytes(fixed)))
        if closed:
            put("<I", header, 1588, crc32c(bytes(header[:_HEADER_FIELDS])) or 1)
        return bytes(header)


def _entries(events: Sequence[_Event]) -> bytes:
    base, found = 0, bytearray()
    for at, kind, subject, words in events:
        if (at - base) * UNIT >> 40:
            base = at
            found += struct.pack("<QQ", _BASE << 40, BEGIN + base * UNIT)
        found += struct.pack("<Q", (at - base) * UNIT | kind << 40 | subject << 45)
        found += struct.pack(f"<{len(words)}Q", *words)
    return bytes(found)


_body_sum = lru_cache(maxsize=4)(crc32c)


def _chunk(offset: int, sequence: int, body: _Body) -> bytes:
    data = _words(body.data)
    used = _CHUNK + len(data)
    size = (used + 8 + 63) // 64 * 64
    header = struct.pack("<8sIIIIQQQQI", b"\xfeNVSCHN2", body.kind, body.thread, body.tid,
                         offset // 64, sequence, BEGIN + body.base * UNIT, body.number,
                         body.before, size)  # fmt: skip
    header += struct.pack("<I", crc32c(header))
    seal = bytes(_CHUNK - len(header))
    if body.is_sealed:
        end = BEGIN + body.last * UNIT
        seal = struct.pack("<QQIII", 0, end, body.count, _body_sum(data),
                           used | body.is_last)  # fmt: skip
        seal += struct.pack("<I", crc32c(header + seal))
    return (header + seal + data).ljust(size, b"\0")


def times(rows: Sequence[LineRow]) -> list[tuple[str | None, int, float, float, float, float]]:
    """Of each row, times in units: function, samples, running, ready, waiting and total."""
    return [
        (
            row.function,
            row.samples,
            row.running / UNIT,
            row.ready / UNIT,
            row.waiting / UNIT,
            row.total / UNIT,
        )
        for row in rows
    ]
