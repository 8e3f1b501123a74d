// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/file/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace nvspan::reader {

struct PushRange {
  std::uint32_t site = 0;
  std::uint32_t domain = 0;  // the file's
  std::uint64_t start = 0;   // ticks
  std::uint64_t self = 0;    // ticks in which it was the innermost
  std::uint64_t row = 0;     // whatever open() returned
  std::uint32_t depth = 0;   // in its domain
  std::uint32_t level = 0;   // over all domains
  std::uint64_t inside = 0;  // how many events its thread sent while it was open
  bool shown = true;         // depth and level count those alone
};

// A thread's open ranges: a stack for each domain, and a list over all of them.
class OpenStack {
 public:
  static constexpr std::uint64_t no_row = static_cast<std::uint64_t>(-1);
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  struct Node {
    PushRange range;
    std::uint32_t above = none;
    std::uint32_t below = none;
  };

  void advance(std::uint64_t ticks) {
    if (top_ != none && ticks > last_) nodes_[top_].range.self += ticks - last_;
    last_ = ticks;
  }
  std::uint64_t top_row() const { return top_ == none ? no_row : nodes_[top_].range.row; }

  // Ranges of a site that the file does not define have a stack of their own.
  static constexpr std::uint32_t unknown_domain = 0xFFFFFFFF;

  Node& push(std::uint32_t site, std::uint32_t domain, std::uint64_t start, bool shown) {
    std::uint32_t index = free_;
    if (index != none) {
      free_ = nodes_[index].below;
    } else {
      index = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    }
    std::vector<std::uint32_t>& stack = stack_of(site == unknown_site ? unknown_domain : domain);
    std::uint32_t depth = 0;
    if (!stack.empty()) {
      const PushRange& around = nodes_[stack.back()].range;
      depth = around.depth + (around.shown ? 1 : 0);
    }
    Node& node = nodes_[index];
    node.range = PushRange{site, domain, start, 0, no_row, depth, count_, 0, shown};
    if (shown) ++count_;
    node.above = none;
    node.below = top_;
    if (top_ != none) nodes_[top_].above = index;
    top_ = index;
    stack.push_back(index);
    return node;
  }

  bool pop(std::uint32_t domain, PushRange& out) {
    const bool unknown = top_ != none && nodes_[top_].range.site == unknown_site;
    std::vector<std::uint32_t>& stack = stack_of(unknown ? unknown_domain : domain);
    if (stack.empty()) return false;
    const std::uint32_t index = stack.back();
    stack.pop_back();
    Node& node = nodes_[index];
    out = node.range;
    if (node.above != none) nodes_[node.above].below = node.below;
    if (node.below != none) nodes_[node.below].above = node.above;
    if (top_ == index) top_ = node.below;
    node.below = free_;
    free_ = index;
    if (out.shown) --count_;
    return true;
  }

  // Calls `use` with what is open, the innermost first, and forgets it.
  template <typename Use>
  void drain(Use&& use) {
    for (std::uint32_t at = top_; at != none; at = nodes_[at].below) use(nodes_[at].range);
    nodes_.clear();
    for (auto& stack : stacks_) stack.second.clear();
    top_ = free_ = none;
    count_ = 0;
    last_stack_ = nullptr;
  }

 private:
  std::vector<std::uint32_t>& stack_of(std::uint32_t domain) {
    if (last_stack_ == nullptr || last_domain_ != domain) {
      last_stack_ = &stacks_[domain];
      last_domain_ = domain;
    }
    return *last_stack_;
  }

  std::vector<Node> nodes_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> stacks_;
  std::vector<std::uint32_t>* last_stack_ = nullptr;
  std::uint32_t last_domain_ = 0;
  std::uint32_t top_ = none;
  std::uint32_t free_ = none;
  std::uint32_t count_ = 0;  // shown ones
  std::uint64_t last_ = 0;
};

}  // namespace nvspan::reader
