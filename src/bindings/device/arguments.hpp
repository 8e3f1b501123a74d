// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Arguments of the calls that make device ranges: those of an event, and how to place it.

#include "bindings/support/py.hpp"
#include "bindings/annotation/annotation.hpp"
#include "bindings/support/call_arguments.hpp"
#include "cuda/device_ranges.hpp"

namespace nvspan::bindings {

struct DeviceArguments {
  Annotation* annotation = nullptr;  // a new reference; nobody changes it
  PyObject* stream = nullptr;        // borrowed; null: the current one
  cuda::Options options;
};

// 0, or -1 with an exception set. The call's shape, not its values, decides the work done here: a
// call that comes again is recognised.
int parse_device_call(const PythonCall& call, DeviceArguments& result);

int device_arguments_init();

}  // namespace nvspan::bindings
