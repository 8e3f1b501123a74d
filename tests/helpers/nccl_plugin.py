# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""The extension module's profiler plugin for NCCL, called from Python as NCCL calls it."""

from __future__ import annotations

NCCL = """
import ctypes, time
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint8,
                    c_uint64, c_void_p)
import nvspan._core

COLL, P2P, CHANNEL, STOPPED = 2, 4, 64, 22

class Call(Structure):
    _fields_ = [("type", c_uint64), ("parent", c_void_p), ("rank", c_int), ("seq", c_uint64),
                ("func", c_char_p), ("send", c_void_p), ("recv", c_void_p), ("count", c_size_t),
                ("root", c_int), ("datatype", c_char_p), ("channels", c_uint8),
                ("pad", c_uint8 * 64)]

class Peer(Structure):
    _fields_ = [("type", c_uint64), ("parent", c_void_p), ("rank", c_int), ("func", c_char_p),
                ("buff", c_void_p), ("datatype", c_char_p), ("count", c_size_t), ("peer", c_int),
                ("channels", c_uint8),
                ("pad", c_uint8 * 64)]

class Start(Structure):
    _fields_ = [("channel", c_uint8), ("time", c_uint64)]

class Channel(Structure):
    _fields_ = [("type", c_uint64), ("parent", c_void_p), ("rank", c_int), ("start", Start),
                ("pad", c_uint8 * 64)]

COMMON = [("start", CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p), c_void_p)),
          ("stop", CFUNCTYPE(c_int, c_void_p)),
          ("state", CFUNCTYPE(c_int, c_void_p, c_int, POINTER(c_uint64))),
          ("finalize", CFUNCTYPE(c_int, c_void_p))]

class Version4(Structure):
    _fields_ = [("name", c_char_p),
                ("init", CFUNCTYPE(c_int, POINTER(c_void_p), POINTER(c_int), c_char_p, c_uint64,
                                   c_int, c_int, c_int, c_void_p)), *COMMON]

class Version5(Structure):
    _fields_ = [("name", c_char_p),
                ("init", CFUNCTYPE(c_int, POINTER(c_void_p), c_uint64, POINTER(c_int), c_char_p,
                                   c_int, c_int, c_int, c_void_p)), *COMMON]

library = ctypes.CDLL(nvspan._core.__file__)  # the same one that is imported, as dlopen has it

class Nccl:
    def __init__(self, version, id=0xabc, ranks=4, rank=2):
        kind = Version4 if version == 4 else Version5
        self.plugin = kind.in_dll(library, f"ncclProfiler_v{version}")
        self.context, self.mask = c_void_p(), c_int()
        first = [byref(self.context)]
        mask = byref(self.mask)
        first += [mask, b"name", id] if version == 4 else [id, mask, b"name"]
        assert self.plugin.init(*first, 1, ranks, rank, None) == 0

    def start(self, description):
        handle = c_void_p()
        assert self.plugin.start(self.context, byref(handle), byref(description)) == 0
        return handle.value

    def collective(self, func, seq, channels):
        return self.start(Call(type=COLL, seq=seq, func=func, channels=channels, count=8))

    def send(self, func, peer, channels):
        return self.start(Peer(type=P2P, func=func, peer=peer, channels=channels, count=8))

    def channel(self, parent, number, time):
        return self.start(Channel(type=CHANNEL, parent=parent, start=Start(number, time)))

    def channel_stop(self, handle, time):
        assert self.plugin.state(handle, STOPPED, byref(c_uint64(time))) == 0
        self.stop(handle)

    def stop(self, handle):
        assert self.plugin.stop(handle) == 0

    def finalize(self):
        assert self.plugin.finalize(self.context) == 0

EPOCH = 1700000000000000000
def now(): return time.monotonic_ns() + EPOCH  # globaltimer of the fake driver
"""
