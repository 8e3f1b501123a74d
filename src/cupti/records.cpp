// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "cupti/records.hpp"

#include <cstddef>

namespace nvspan::cupti {
namespace {

template <typename Record>
void take_common(const Record& record, SeenWork& work) {
  work.start = record.start;
  work.end = record.end;
  work.correlation = record.correlation;
  work.device = record.device;
  work.context = record.context;
  work.stream = record.stream;
}

template <typename Record>
void take_node(const Record& record, SeenWork& work) {
  take_common(record, work);
  work.graph_node = record.graph_node;
}

template <typename Record>
void take_copy(const ActivityRecord& base, SeenWork& work) {
  const auto& record = reinterpret_cast<const Record&>(base);
  take_node(record, work);
  work.kind = SeenKind::copy;
  work.bytes = record.bytes;
  work.detail = record.copy_kind;
}

SeenShape shape_of(const KernelRecord& record) {
  SeenShape shape;
  for (int i = 0; i < 3; ++i) {
    shape.grid[i] = static_cast<std::uint32_t>(record.grid[i]);
    shape.block[i] = static_cast<std::uint32_t>(record.block[i]);
  }
  shape.registers = record.registers_per_thread;
  shape.static_shared = static_cast<std::uint32_t>(record.static_shared_memory);
  shape.dynamic_shared = static_cast<std::uint32_t>(record.dynamic_shared_memory);
  return shape;
}

}  // namespace

bool read_record(const ActivityRecord& base, SeenWork& work) {
  work = SeenWork{};
  switch (base.kind) {
    case ActivityKind::kernel:
    case ActivityKind::concurrent_kernel: {
      const auto& record = reinterpret_cast<const KernelRecord&>(base);
      take_node(record, work);
      work.name = record.name;
      work.shape = shape_of(record);
      return true;
    }
    case ActivityKind::copy:
      take_copy<CopyRecord>(base, work);
      return true;
    case ActivityKind::peer_copy:
      take_copy<PeerCopyRecord>(base, work);
      return true;
    case ActivityKind::set: {
      const auto& record = reinterpret_cast<const SetRecord&>(base);
      take_node(record, work);
      work.kind = SeenKind::set;
      work.bytes = record.bytes;
      return true;
    }
    case ActivityKind::device:
      break;
    case ActivityKind::memory: {
      const auto& record = reinterpret_cast<const MemoryRecord&>(base);
      if (record.operation != MemoryOperation::allocation &&
          record.operation != MemoryOperation::release) {
        return false;
      }
      work.kind = record.operation == MemoryOperation::allocation ? SeenKind::allocation
                                                                  : SeenKind::release;
      work.start = work.end = record.time;
      work.correlation = record.correlation;
      work.device = record.device;
      work.context = record.context;
      work.stream = record.stream;
      work.bytes = record.bytes;
      work.address = record.address;
      work.detail = record.memory_kind;
      return true;
    }
    case ActivityKind::graph: {
      const auto& record = reinterpret_cast<const GraphRecord&>(base);
      take_common(record, work);
      work.kind = SeenKind::graph;
      work.detail = record.graph;
      return true;
    }
  }
  return false;
}

bool read_device(const ActivityRecord& base, SeenDevice& device) {
  if (base.kind != ActivityKind::device) return false;
  const auto& record = reinterpret_cast<const DeviceRecord&>(base);
  device.device = record.id;
  device.major_capability = record.major_capability;
  device.minor_capability = record.minor_capability;
  device.processors = record.processors;
  device.threads_of_warp = record.threads_of_warp;
  device.warps = record.warps;
  device.blocks = record.blocks;
  device.registers = record.registers;
  device.shared_bytes = record.shared_bytes;
  device.name = record.name;
  return true;
}

std::string_view copy_direction(std::uint32_t detail) {
  constexpr std::string_view directions[] = {
      "Unknown",          "Host-to-Device", "Device-to-Host",  "Host-to-Array",
      "Array-to-Host",    "Array-to-Array", "Array-to-Device", "Device-to-Array",
      "Device-to-Device", "Host-to-Host",   "Peer-to-Peer"};
  constexpr std::size_t count = sizeof directions / sizeof *directions;
  return directions[detail < count ? detail : 0];
}

std::string_view memory_kind(std::uint32_t detail) {
  constexpr std::string_view kinds[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                        "Array",   "Managed",  "Device Static", "Managed Static"};
  constexpr std::size_t count = sizeof kinds / sizeof *kinds;
  return kinds[detail < count ? detail : 0];
}

}  // namespace nvspan::cupti
