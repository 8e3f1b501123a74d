// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where on a GPU a range ran, and which call asked for it: what travels with a device range in an
// extended payload, so that a tool can tell it from ranges of the CPU.
//
// The schema's name and the names of its entries are a contract with readers: docs/device.md.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "annotate/event/domain.hpp"
#include "annotate/event/event.hpp"
#include "annotate/tool/tool_table.hpp"

namespace nvspan::annotate {

// The rank of a communicator that a range is of, and how many it has.
struct CommunicatorRank {
  uint32_t rank;
  uint32_t size;
};

// The members are what the schema tells the tool: their order and sizes are part of it.
struct DeviceOrigin {
  uint64_t stream = 0;  // the stream's id in this process, or the communicator's
  union {
    uint64_t stream_handle = 0;  // what names of streams are given to
    CommunicatorRank of_rank;    // a communicator has no stream's handle
  };
  uint64_t launch = 0;  // the number of the call; replays of a captured range share it
  // When the call came, by the processor's time stamp counter, and its thread. 0 for a range in a
  // captured graph: its replays are launched from elsewhere.
  int64_t launched = 0;
  int32_t device = -1;  // ordinal of the GPU
  uint32_t thread = 0;
};

// Which of NVTX's types a range's own payload has; `of_rank`: unsigned_int64, of a range of a
// communicator's rank. Each has a schema of its own.
enum class DeferredPayload : uint8_t { none, unsigned_int64, int64, float64, of_rank };
constexpr size_t deferred_payloads = 5;

// The ids that tools give to a schema of ours: one for each domain, attachment and type of a
// range's own payload.
class StaticSchemas {
 public:
  // Registers the schema with the tool; 0: the tool takes none.
  using Register = uint64_t (*)(const ToolTable& tool, nvtxDomainHandle_t domain,
                                DeferredPayload payload);

  // An id and what it is of: a thread keeps the newest that it asked for.
  struct Known {
    uint64_t epoch = 0;
    const Domain* domain = nullptr;
    DeferredPayload payload = DeferredPayload::none;
    uint64_t id = 0;

    bool is_of(uint64_t wanted_epoch, const Domain& wanted_domain,
               DeferredPayload wanted_payload) const noexcept {
      return epoch == wanted_epoch && domain == &wanted_domain && payload == wanted_payload;
    }
  };

  explicit StaticSchemas(Register register_schema) : register_(register_schema) {}

  // The id of the tool of `epoch`; 0: it takes none. The domain must be connected to the tool. The
  // tool is asked once, under a lock.
  Known find(const ToolTable& tool, uint64_t epoch, const Domain& domain,
             DeferredPayload payload) noexcept;

 private:
  struct Ids {
    uint64_t epoch = 0;
    bool asked[deferred_payloads] = {};
    uint64_t ids[deferred_payloads] = {};
  };

  const Register register_;
  std::mutex mutex_;
  std::map<const Domain*, Ids> of_domain_;  // domains are immortal
};

DeferredPayload deferred_payload_of(int32_t payload_type) noexcept;

// The id of the schema for ranges that are started and ended while they run; 0: the tool takes
// none. The domain must be connected to the tool. Takes a lock at the first call of a domain.
uint64_t origin_schema(const ToolTable& tool, Domain& domain, DeferredPayload payload) noexcept;

// Starts a range that tells its origin, by a schema of origin_schema() of the same epoch, or, with
// 0, without it. The event's own payload travels in it. Takes no lock.
uint64_t send_device_start(const Outgoing& event, const ToolTable& tool, uint64_t schema,
                           const DeviceOrigin& origin) noexcept;

#if NVSPAN_HAVE_NVTX

// A static schema "nvspan device range" in the making.
class DeviceSchema {
 public:
  nvtxPayloadSchemaEntry_t& add(uint64_t type, const char* name, size_t offset,
                                uint64_t flags = 0) noexcept;
  void add_payload(DeferredPayload payload, size_t offset) noexcept;  // nothing for `none`
  void add_origin(size_t offset, DeferredPayload payload) noexcept;
  // The tool's id, or 0.
  uint64_t register_with(const ToolTable& tool, nvtxDomainHandle_t domain, size_t size,
                         uint64_t flags) const noexcept;

 private:
  static constexpr size_t most_entries = 16;
  nvtxPayloadSchemaEntry_t entries_[most_entries];
  size_t count_ = 0;
};

#endif

}  // namespace nvspan::annotate
