// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What NCCL passes to a profiler plugin, of versions 4 (NCCL 2.27) and 5 (2.28) of its interface. A
// newer NCCL that finds no newer plugin takes these. The two differ in the order of init's
// arguments, the width of an event's type, and events that nvspan does not ask for.

#include <cstddef>
#include <cstdint>

namespace nvspan::nccl {

using Result = int;
constexpr Result success = 0;

enum EventType : uint64_t { collective = 1 << 1, point_to_point = 1 << 2, kernel_channel = 1 << 6 };
enum State : int { kernel_channel_stopped = 22 };

struct CollectiveCall {
  uint64_t sequence;  // among those of its function in its communicator; a replay repeats it
  const char* function;
  const void* send;
  void* receive;
  size_t count;
  int root;
  const char* datatype;
  uint8_t channels;
};

struct PointToPointCall {
  const char* function;
  void* buffer;
  const char* datatype;
  size_t count;
  int peer;
  uint8_t channels;
};

struct ChannelStart {
  uint8_t channel;
  uint64_t time;  // ns of globaltimer
};

struct EventDescription {
  union {
    uint8_t type4;
    uint64_t type5;
  };
  void* parent;  // what startEvent returned for the operation that a channel belongs to
  int rank;
  union {
    CollectiveCall collective;
    PointToPointCall point_to_point;
    ChannelStart channel;
  };
};

union StateArguments {
  uint64_t time;  // of a channel: ns of globaltimer
};

using Init4 = Result (*)(void** context, int* mask, const char* name, uint64_t communicator,
                         int nodes, int ranks, int rank, void* log);
using Init5 = Result (*)(void** context, uint64_t communicator, int* mask, const char* name,
                         int nodes, int ranks, int rank, void* log);

template <class Init>
struct Profiler {
  const char* name;
  Init init;
  Result (*start_event)(void* context, void** handle, EventDescription* description);
  Result (*stop_event)(void* handle);
  Result (*record_state)(void* handle, int state, StateArguments* arguments);
  Result (*finalize)(void* context);
};

}  // namespace nvspan::nccl
