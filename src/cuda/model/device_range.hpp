// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A range that shows when a stream of the GPU did the enclosed work.
//
// Its life, by what happens to it and what that sets:
//
//   the program ends it, or drops it   ended            once: a second end does nothing
//   its end cannot be placed           cancelled, lost  a start that was sent is ended at once
//   with host functions, on a stream, in either order:
//     the beginning is reached         running          if the tool is still there; then begin_told
//     the end is reached               end_came, done   (done by the reader where the range is
//     timed) both                             concluded        running is ended and counted, once
//   with host functions, in a graph, each replay:
//     the beginning is reached         started, running only if complete; started already:
//     ambiguous the end is reached               done             running, then started, are taken
//     back
//   with events or stamps:
//     the reader has both times        done
//   its context dies                   lost
//   both its nodes are in the graph    complete
//   the last graph with it is gone     retired          after which its stamps are read once more
//
// tests/cpp/device_range_lifecycle_test.cpp goes through them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "annotate/event/event.hpp"
#include "annotate/payload/device_origin.hpp"
#include "cuda/driver/driver.hpp"

namespace nvspan::cuda {

class DeviceContext;
struct SideStream;

enum class Backend : uint8_t { automatic, callback, exact };
enum class Placement : uint8_t { side, stream };

struct Options {
  Backend backend = Backend::automatic;
  Placement placement = Placement::side;
  bool timed = false;
  bool skip_captures = false;
};

// A stream as its framework knows it. `device` is -1 where the framework does not say: the stream
// itself tells its context, and a default stream is that of the calling thread's context.
struct Target {
  StreamHandle stream = nullptr;
  DeviceOrdinal device = -1;
};

enum class Phase : uint8_t { open, done, lost };

// One range on its way. Reference counted: a handle holds one reference, what is in flight another.
struct DeviceRange {
  std::atomic<uint32_t> references{1};
  std::atomic<Phase> phase{Phase::open};
  std::atomic<bool> ended{false};
  Backend backend = Backend::callback;
  Placement placement = Placement::side;
  bool timed = false;
  bool captured = false;
  uint64_t epoch = 0;  // of the tool that was listening; 0: nobody
  annotate::DeviceOrigin origin;
  Target target;
  annotate::Domain* domain = nullptr;
  nvtxEventAttributes_t attributes{};
  std::unique_ptr<char[]> text;  // of a message that is not registered, or of a captured range
  SideStream* begin_stream = nullptr;
  std::atomic<double> elapsed_ms{-1};

  // callback
  std::atomic<bool> cancelled{false};  // the end was never placed: the range shall not show
  std::atomic<bool> started{false};
  std::atomic<bool> running{false};
  std::atomic<bool> begin_told{false};  // or left out
  std::atomic<bool> end_came{false};    // may be before that, where a range ends on another stream
  std::atomic<bool> concluded{false};
  bool begin_polled = false;
  uint64_t origin_schema = 0;  // of the tool of `epoch`; 0: it takes none
  annotate::Span span;

  // exact
  EventHandle begin_event = nullptr;
  EventHandle end_event = nullptr;
  SideStream* end_stream = nullptr;

  // captured
  DeviceContext* context = nullptr;
  unsigned long long capture = 0;
  GraphNode begin_node = nullptr;
  uint32_t stamp_id = 0;
  std::atomic<bool> complete{false};  // both nodes are in the graph
  std::atomic<bool> retired{false};   // the last graph that holds it is gone
  annotate::Event event;
};

}  // namespace nvspan::cuda
