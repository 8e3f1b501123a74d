// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// annotate(device=True) and annotate(sync=True): a range of the GPU's work under the CPU range's
// name, and a CPU range that closes only when the stream is through with what it was given.
//
// An annotation without either has no DevicePart, and nothing here is called for it.

#include "bindings/py.hpp"
#include "annotate/tool.hpp"
#include "bindings/annotate_object.hpp"

namespace nvspan {

struct OpenEntry;

struct DevicePart {
  bool range = false;
  bool sync = false;
};

// From the arguments; null: not given. 0, or -1 with a TypeError.
int set_device_part(Annotation* annotation, PyObject* device, PyObject* sync);

// Opens both ranges while a tool listens. What goes wrong with the GPU's is counted; the CPU range
// is opened all the same.
void enter_with_device(Annotation* annotation, RangeKind kind, const ToolTable& tool) noexcept;

// Ends the range of the GPU, waits for the stream if asked to, and closes the CPU range. Nothing is
// raised: an error of the driver's shows where the program would have met it without us.
void close_with_device(Annotation* annotation, const OpenEntry& open) noexcept;

}  // namespace nvspan
