// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Layouts of binary data that travels with events: schemas of NVTX's payload extension.
//
// A schema is described once, shared by everything that describes the same, and immortal. The tool
// learns of it when data of that layout is first sent to it in a domain, and again after it has
// been attached anew.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "annotate/event/domain.hpp"
#include "annotate/tool/tool_table.hpp"
#include "nvtx/abi.hpp"
#include "nvtx/numbers.hpp"

namespace nvspan::annotate {

// How a counter's values are to be read: nvtxSemanticsCounter_t.
struct CounterMeaning {
  uint64_t flags = 0;
  std::optional<std::string> unit;
  uint64_t scale_numerator = 1;
  uint64_t scale_denominator = 1;
  int64_t limit_type = 0;
  uint64_t min_bits = 0;
  uint64_t max_bits = 0;
};

class Schema;

struct SchemaEntry {
  std::optional<std::string> name;
  uint64_t type = 0;               // a predefined type, or
  const Schema* nested = nullptr;  // another schema
  uint64_t flags = 0;
  uint64_t detail = 0;  // an array's length, or the index of the entry that holds it
  uint64_t offset = 0;
  std::optional<CounterMeaning> counter;
  uint64_t time_domain = 0;  // of a timestamp; 0: none
};

struct SchemaDescription {
  std::optional<std::string> name;
  bool dynamic = false;
  uint64_t flags = 0;
  uint64_t static_size = 0;
  std::vector<SchemaEntry> entries;
};

class Schema {
 public:
  // The schema of that description. Null when the process has described too many: a program that
  // makes layouts up as it goes would fill the tool's memory and ours.
  static const Schema* describe(SchemaDescription description);

  // A type that every tool knows, used as a schema: the data is an array of it.
  static const Schema& predefined(uint64_t type);

  // An array of any length: a 64-bit count and the elements.
  static const Schema* array_of(const Schema& element);

  // The tool's id for this schema in a domain that is connected to it; 0 if the tool does not take
  // payloads or refuses this one.
  uint64_t id(const Domain& domain, nvtxDomainHandle_t handle, const ToolTable& tool,
              uint64_t epoch) const noexcept {
    for (const Registration* at = first_.load(std::memory_order_acquire); at; at = at->next) {
      if (at->domain != &domain) continue;
      const uint64_t seen = at->epoch.load(std::memory_order_acquire);
      const uint64_t found = at->id.load(std::memory_order_acquire);
      if (seen == epoch && at->epoch.load(std::memory_order_acquire) == epoch) return found;
      break;
    }
    return register_in(domain, handle, tool, epoch);
  }

  const SchemaDescription& description() const noexcept { return description_; }

  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

 private:
  struct Registration {
    const Domain* domain;
    std::atomic<uint64_t> epoch{0};
    std::atomic<uint64_t> id{0};
    Registration* next = nullptr;
  };

  Schema() = default;
  uint64_t register_in(const Domain& domain, nvtxDomainHandle_t handle, const ToolTable& tool,
                       uint64_t epoch) const noexcept;
  uint64_t register_with_tool(const Domain& domain, nvtxDomainHandle_t handle,
                              const ToolTable& tool, uint64_t epoch) const;

  SchemaDescription description_;
  uint64_t predefined_ = 0;
  mutable std::atomic<Registration*> first_{nullptr};
  mutable std::atomic<const Schema*> array_{nullptr};
};

}  // namespace nvspan::annotate
