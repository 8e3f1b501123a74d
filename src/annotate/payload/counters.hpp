// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counters of NVTX's counter extension, and the scopes that they belong to.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "annotate/event/domain.hpp"
#include "annotate/payload/encoded_payload.hpp"
#include "annotate/payload/schema.hpp"
#include "annotate/tool/attachment.hpp"

namespace nvspan::annotate {

// The tool's id of the scope at `path` below `parent` (a predefined scope, or an id of the same
// domain and tool); 0 if nobody listens to the domain or the tool has no scopes.
uint64_t scope_id(Domain& domain, const std::string& path, uint64_t parent) noexcept;

struct CounterDescription {
  std::string name;
  std::optional<std::string> description;
  const Schema* schema = nullptr;  // null: of the predefined type
  uint64_t type = 0;
  std::optional<std::string> scope_path;
  uint64_t scope = 0;  // predefined; without a path
  std::optional<CounterMeaning> meaning;
  uint64_t time_domain = 0;
};

// Registered with a tool at the first sample that goes to it. All members may be called from any
// thread; what a tool does not take is dropped.
class Counter {
 public:
  Counter(Domain& domain, CounterDescription description)
      : domain_(domain), description_(std::move(description)) {}

  void sample(int64_t value) noexcept;
  void sample(double value) noexcept;
  void sample(const void* value, size_t size) noexcept;
  void sample_no_value(uint8_t reason) noexcept;

  // Registers the counter now if a tool listens.
  void prepare() noexcept {
    uint64_t id = 0;
    (void)ready(id);
  }

  // One timestamp for each sample. The memory is read during the call only.
  void submit(const void* samples, size_t size, const int64_t* timestamps, size_t count) noexcept;

  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

 private:
  // The tool that takes this counter's samples and the ids in it; null if there is none.
  const ToolTable* ready(uint64_t& id) noexcept {
    const ToolTable* tool = listening_tool();
    if (!tool || !domain_.connected(*tool)) return nullptr;
    const uint64_t epoch = tool->epoch.load(std::memory_order_acquire);
    if (epoch_.load(std::memory_order_acquire) == epoch) {
      id = id_.load(std::memory_order_acquire);
      if (epoch_.load(std::memory_order_acquire) == epoch) return id ? tool : nullptr;
    }
    id = register_with(*tool, epoch);
    return id ? tool : nullptr;
  }
  // Calls the tool's function in that slot with this counter and what is given.
  template <class... Given>
  void send(unsigned slot, Given... given) noexcept;
  uint64_t register_with(const ToolTable& tool, uint64_t epoch) noexcept;
  uint64_t register_counter(const ToolTable& tool, uint64_t epoch) const noexcept;

  Domain& domain_;
  const CounterDescription description_;
  std::atomic<uint64_t> epoch_{0};
  std::atomic<uint64_t> id_{0};
  std::mutex mutex_;
};

// The tool's clock; 0 if no tool listens or it has none.
int64_t tool_timestamp() noexcept;

// Sends rows of an event schema. The memory is read during the call only.
void submit_events(Domain& domain, const PayloadView& rows, uint64_t scope,
                   uint64_t flags) noexcept;

}  // namespace nvspan::annotate
