// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The `stream=` argument: None, an int, or a stream object of any framework. Frameworks are asked
// through what they have loaded already; nothing is imported. torch is known by name, for speed;
// any other registers a source of streams from Python.

#include "bindings/support/py.hpp"
#include "cuda/device_ranges.hpp"

namespace nvspan::bindings {

// Checks an argument without asking for the stream itself, where its type is known. 0, or -1 with a
// TypeError or ValueError naming the argument.
int check_stream(PyObject* stream);

// The stream. 0, or -1 with an exception set. `stream` null or None: the current one.
int resolve_stream(PyObject* stream, cuda::Target& target);

int device_stream_add_to_module(PyObject* module);

}  // namespace nvspan::bindings
