// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cupti/abi.hpp"

#include <cstddef>

namespace nvspan::cupti {

// As long as CUPTI 13 makes them.
struct LongKernel : KernelRecord {
  char rest[64];
};
struct LongCopy : CopyRecord {
  char rest[24];
};
struct LongPeerCopy : PeerCopyRecord {
  char rest[24];
};
struct LongSet : SetRecord {
  char rest[24];
};
struct LongGraph : GraphRecord {
  char rest[16];
};
struct LongMemory : MemoryRecord {
  char rest[72];
};

struct LongDevice : DeviceRecord {
  char rest[48];
};

inline std::size_t size_of(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kernel:
    case ActivityKind::concurrent_kernel:
      return sizeof(LongKernel);
    case ActivityKind::copy:
      return sizeof(LongCopy);
    case ActivityKind::peer_copy:
      return sizeof(LongPeerCopy);
    case ActivityKind::set:
      return sizeof(LongSet);
    case ActivityKind::graph:
      return sizeof(LongGraph);
    case ActivityKind::memory:
      return sizeof(LongMemory);
    case ActivityKind::device:
      return sizeof(LongDevice);
  }
  return 0;
}

}  // namespace nvspan::cupti
