# SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of device ranges: checked the same with and without a tool, a GPU or CUDA."""

from __future__ import annotations

import ctypes

import pytest

import nvspan


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"stream": "s"}, TypeError, "stream must be a CUDA stream, an int or None, not 's'"),
        ({"stream": object}, TypeError, "stream must be a CUDA stream, an int or None, not"),
        ({"stream": True}, TypeError, "stream must be a CUDA stream, an int or None, not True"),
        ({"stream": 1.5}, TypeError, "stream must be a CUDA stream, an int or None, not 1.5"),
        ({"stream": -1}, ValueError, "stream must be a stream handle, not -1"),
        ({"backend": "fast"}, ValueError,
         "backend must be 'auto', 'callback' or 'exact', not 'fast'"),
        ({"backend": None}, TypeError, "backend must be a str, not None"),
        ({"placement": "x"}, ValueError, "placement must be 'side', 'stream', not 'x'"),
        ({"capture": "x"}, ValueError, "capture must be 'graph', 'skip', not 'x'"),
        ({"timing": 1}, TypeError, "timing must be a bool, not 1"),
        ({"kind": "span"}, TypeError, "unexpected keyword argument 'kind'"),
        ({"color": (1, 2)}, ValueError, "three or four numbers"),
        ({"level": -1}, ValueError, "level -1 is outside"),
    ],
)  # fmt: skip
def test_bad_arguments_raise(arguments, error, text):
    for function in (nvspan.device_range, nvspan.start_device_range,
                     nvspan.Domain("lib").device_range):  # fmt: skip
        with pytest.raises(error, match=text):
            function("message", **arguments)


def test_only_the_message_is_positional():
    with pytest.raises(TypeError, match="takes at most 1 positional argument"):
        nvspan.device_range("message", 0)
    with pytest.raises(TypeError):
        nvspan.end_device_range()
    with pytest.raises(TypeError, match="handle must be a handle from start_device_range"):
        nvspan.end_device_range(5)
    with pytest.raises(TypeError, match="decorates functions and callables, not 5"):
        nvspan.device_range("x")(5)
    nvspan.end_device_range(None)


class Protocol:
    def __init__(self, value):
        self.value = value

    def __cuda_stream__(self):
        return self.value


class OtherVersion:
    def __cuda_stream__(self):
        return (1, 11)


class NoTuple:
    def __cuda_stream__(self):
        return 5


class ProtocolAttribute:
    __cuda_stream__ = (0, 99)


class Torch:
    cuda_stream = 7
    device_index = 1


class Cupy:
    ptr = 8
    device_id = 2


class Numba:
    handle = ctypes.c_void_p(9)


class Legacy:
    handle = ctypes.c_void_p(None)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (5, (5, -1)), (0, (0, -1)), (Protocol((0, 11)), (11, -1)), (ProtocolAttribute(), (99, -1)),
        (Torch(), (7, 1)), (Cupy(), (8, 2)), (Numba(), (9, -1)),
    ],
)  # fmt: skip
def test_streams_of_every_framework(stream, expected):
    for _ in range(3):
        assert nvspan._core._stream_target(stream) == expected


@pytest.mark.parametrize("stream", [OtherVersion(), NoTuple(), Legacy()])
def test_what_only_looks_like_a_stream(stream):
    with pytest.raises(TypeError, match="stream must be"):
        nvspan.device_range("x", stream=stream)


def test_idle_ranges_share_one_handle():
    with nvspan.device_range("x") as handle, nvspan.device_range("x", stream=3) as other:
        assert handle is other
    assert handle.done()
    assert handle.elapsed() is None
    assert not handle.timed
    assert repr(handle) == "DeviceRangeHandle(idle)"
    domain = nvspan.Domain("lib")
    assert repr(domain.device_range("x")) == f"device_range('x', domain={domain!r})"


def test_flush_arguments():
    with pytest.raises(TypeError, match="timeout must be a number of seconds or None, not 'x'"):
        nvspan.device_flush("x")
    with pytest.raises(ValueError, match="timeout must not be negative, but is -1"):
        nvspan.device_flush(-1)
    assert nvspan.device_flush(0)
    assert nvspan.device_flush()


def test_decorated_functions_keep_what_they_are():
    class Holder:
        @nvspan.device_range
        def method(self):
            """Says so."""
            return self

        @nvspan.device_range("static")
        @staticmethod
        def static(x):
            return x

        @nvspan.device_range("class")
        @classmethod
        def of_class(cls):
            return cls

    assert Holder().method.__doc__ == "Says so."
    assert Holder.static(4) == 4
    assert Holder.of_class() is Holder
