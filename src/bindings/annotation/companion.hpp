// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// annotate(device=True) and annotate(sync=True): a range of the GPU's work under the CPU range's
// name, and a CPU range that closes only when the stream has finished the work that it was given.
//
// An annotation owns a Companion where one of them is asked for, else none, and then nothing here
// is called. What becomes of the GPU's range is for the device ranges to know, which are built on
// annotations: they set `companion_calls` when the module is made.

#include "bindings/support/py.hpp"
#include "annotate/tool/attachment.hpp"
#include "bindings/annotation/annotation.hpp"

namespace nvspan::bindings {

struct Companion {
  bool device = false;
  bool sync = false;
};

struct CompanionCalls {
  // Before a range that will wait begins: warns of what it could not be measured by then.
  void (*before_wait)(const EventFields& fields) noexcept;
  // Begins a range on the current stream. Null if none could be placed, which is counted.
  cuda::DeviceRange* (*begin)(EventFields& fields, const annotate::ToolTable& tool) noexcept;
  // Ends a range, if not null; with `wait` it waits for the range's stream, else the current one.
  void (*end)(cuda::DeviceRange* range, bool wait) noexcept;
};

extern CompanionCalls companion_calls;

// From the arguments; null: not given. 0, or -1 with a TypeError.
int set_companion(Annotation* annotation, PyObject* device, PyObject* sync);

// Opens both ranges. What goes wrong with the GPU's is counted; the CPU range is opened all the
// same.
void enter_with_companion(Annotation* annotation, AnnotationKind kind,
                          const annotate::ToolTable& tool) noexcept;

// Ends the range of the GPU, waits for the stream if asked to, and closes the CPU range. Nothing is
// raised: an error of the driver's shows where the program would have met it without us.
void close_with_companion(Annotation* annotation, const OpenEntry& open) noexcept;

}  // namespace nvspan::bindings
