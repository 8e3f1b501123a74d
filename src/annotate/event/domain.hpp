// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A domain: a name, the tool's handle for it, and what is registered in it (strings, categories).

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "annotate/tool/tool_table.hpp"
#include "nvtx/abi.hpp"

namespace nvspan::annotate {

struct ReadyEvent;

// Bound the messages that a domain registers: further ones are passed to the tool as plain strings.
// The text of all, and how many the program may ask for by name beyond the limit of the others.
constexpr size_t most_registered_bytes = 8 << 20;
constexpr size_t most_requested_messages = 65536;
// nsys drops an event without a word if its message has 65,535 bytes or more: longer ones are cut.
constexpr size_t longest_message = 65000;
constexpr size_t default_message_limit = 4096;

// Where the id of a category's name comes from.
enum class CategoryIds {
  named,      // 1000000001, ...: above what programs choose for categories of their own
  requested,  // 1, 2, ...: what the nvtx package tells a program that asks
};

struct MessageStats {
  size_t registered;
  size_t limit;
  uint64_t overflowed;
};

// Immortal once made; all members may be called from any thread.
class Domain {
 public:
  // `name` null: NVTX's default domain. The same name gives the same object, always.
  static Domain& get(const std::string* name);

  const std::string& name() const noexcept { return name_; }
  bool is_default() const noexcept { return is_default_; }

  // Switches this domain off and on. As with the process's switch, what is open is closed in both
  // states, and the cost when off is that of no tool.
  void set_enabled(bool enabled);
  void pause(int change);  // +1 or -1: off while a pause lasts
  bool enabled() const noexcept { return on_.load(std::memory_order_acquire); }

  // Annotations above this level are not sent.
  [[gnu::always_inline]] uint32_t level() const noexcept {
    return level_.load(std::memory_order_relaxed);
  }
  void set_level(uint32_t level) noexcept { level_.store(level, std::memory_order_relaxed); }

  // Sets the switch unless the environment says something of this domain.
  void set_default_enabled(bool enabled);

  // Sets the level that holds unless the environment, or an earlier call, gives one. False if an
  // earlier call gave another.
  bool set_default_level(uint32_t level);

  // True if `tool` wants this domain's events. Makes the tool's handle on first use.
  [[gnu::always_inline]] bool connected(const ToolTable& tool) noexcept {
    const uint64_t epoch = tool.epoch.load(std::memory_order_acquire);
    if (active_epoch_.load(std::memory_order_acquire) == epoch) return true;
    if (!enabled()) return false;
    return connect(tool, epoch);
  }

  // True if handle() is the tool's of that epoch, whether the domain is on or off.
  bool has_handle(uint64_t epoch) const noexcept {
    return handle_epoch_.load(std::memory_order_acquire) == epoch;
  }

  [[gnu::always_inline]] nvtxDomainHandle_t handle() const noexcept {
    return handle_.load(std::memory_order_relaxed);
  }

  // Fills in the event's message for `tool`; the domain must be connected.
  void resolve_message(ReadyEvent& event, const ToolTable& tool, uint64_t epoch) noexcept;

  // The tool's handle for a message; null if the domain registers no more. It must be connected.
  nvtxStringHandle_t message_handle(const ToolTable& tool, uint64_t epoch, std::string_view text);

  // The id of a named category. A name that has none yet gets the next one of `ids` that is neither
  // another name's nor one that the program passed itself.
  uint32_t category_id(const std::string& name, CategoryIds ids = CategoryIds::named);

  // Names an id of the user's choosing. False if either belongs to another one.
  bool name_category_id(uint32_t id, const std::string& name);

  // Notes that the program passes `id` itself, so that no name gets it.
  void use_category_id(uint32_t id);

  // In the order of their ids.
  std::vector<std::pair<std::string, uint32_t>> categories() const;

  void set_message_limit(size_t limit);
  static void set_default_message_limit(size_t limit) noexcept;
  MessageStats message_stats() const;

  // Has a message registered when an event carries it, whatever the limit says.
  void request_message(std::string_view text);

  // True once per domain, when the table of messages has overflowed.
  bool take_overflow_notice() noexcept;

  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

 private:
  struct Message {
    std::string text;
    nvtxStringHandle_t handle = nullptr;
    uint64_t epoch = 0;
  };

  Domain(std::string name, bool is_default);
  bool connect(const ToolTable& tool, uint64_t epoch) noexcept;
  nvtxStringHandle_t registered(const ToolTable& tool, uint64_t epoch, std::string_view text);
  Message& add_message(std::string_view text);

  const std::string name_;
  const bool is_default_;
  std::atomic<uint64_t> active_epoch_{0};  // 0 while the domain is off
  std::atomic<uint64_t> handle_epoch_{0};
  std::atomic<uint64_t> refused_epoch_{0};
  std::atomic<nvtxDomainHandle_t> handle_{nullptr};

  void update_on();

  std::atomic<bool> on_;  // enabled_ and no pause
  bool enabled_;
  int pauses_ = 0;
  std::atomic<uint32_t> level_;
  bool level_given_;
  bool switch_given_;

  mutable std::mutex mutex_;
  std::unordered_map<std::string_view, std::unique_ptr<Message>> messages_;
  size_t message_limit_ = 0;  // 0: the default limit of the process
  size_t message_bytes_ = 0;
  size_t requested_messages_ = 0;
  uint64_t overflowed_ = 0;
  std::atomic<bool> overflow_notice_{false};
  bool overflow_noticed_ = false;
  std::unordered_map<std::string, uint32_t> category_ids_;
  std::set<uint32_t> named_categories_;
  std::set<uint32_t> user_categories_;
  uint32_t next_named_ = 1000000001;
  uint32_t next_requested_ = 1;
};

}  // namespace nvspan::annotate
