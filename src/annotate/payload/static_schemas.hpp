// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ids that tools give to a schema of ours: one for each domain, attachment and type of a
// range's own payload.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "annotate/event/domain.hpp"
#include "annotate/tool/tool_table.hpp"

namespace nvspan::annotate {

// Which of NVTX's types a range's own payload has; `of_rank`: unsigned_int64, of a range of a
// communicator's rank. Each has a schema of its own.
enum class DeferredPayload : uint8_t { none, unsigned_int64, int64, float64, of_rank };
constexpr size_t deferred_payloads = 5;

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

}  // namespace nvspan::annotate
