// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A thread's open ranges in the order in which they were opened: a pop closes the newest one of its
// domain.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nvspan::reader {

// Ranges of a site that the file does not define are closed by the next pop of any domain.
constexpr std::uint32_t unknown_domain = 0xFFFFFFFF;

template <typename Range>
class DomainStacks {
 public:
  DomainStacks() { low_.fill(none); }

  // How many are open, with those that were closed from below an open one.
  std::size_t height() const { return nodes_.size(); }
  // The innermost one; null: none is open.
  Range* top() { return nodes_.empty() ? nullptr : &nodes_.back().range; }

  // Opens make(the one around it in its domain, or null).
  template <typename Make>
  Range& push(std::uint32_t domain, Make&& make) {
    std::uint32_t& newest = newest_of(domain);
    const std::uint32_t around = std::exchange(newest, static_cast<std::uint32_t>(nodes_.size()));
    const Range* const outer = around == none ? nullptr : &nodes_[around].range;
    return nodes_.emplace_back(make, outer, domain, around).range;
  }

  // Calls use(range) with the one that it closes. False: none of the domain is open.
  template <typename Use>
  [[gnu::always_inline]] bool pop(std::uint32_t domain, Use&& use) {
    if (nodes_.empty()) return false;
    if (nodes_.back().domain == unknown_domain) domain = unknown_domain;
    std::uint32_t& newest = newest_of(domain);
    if (newest == none) return false;
    Node& node = nodes_[newest];
    use(node.range);
    node.is_open = false;
    newest = node.around;
    do {
      if (nodes_.back().is_open) break;
      nodes_.pop_back();
    } while (!nodes_.empty());
    return true;
  }

  // Calls use(range) for each, the outermost first.
  template <typename Use>
  void each_from_outside(Use&& use) const {
    for (const Node& node : nodes_) {
      if (node.is_open) use(node.range);
    }
  }
  template <typename Use>
  void each_from_inside(Use&& use) const {
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (node->is_open) use(node->range);
    }
  }
  void clear() {
    nodes_.clear();
    low_.fill(none);
    others_.clear();
  }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  struct Node {
    template <typename Make>
    Node(Make& make, const Range* outer, std::uint32_t of, std::uint32_t before)
        : range(make(outer)), domain(of), around(before) {}

    Range range;
    std::uint32_t domain;
    std::uint32_t around;  // of the same domain
    bool is_open = true;   // the last one always is
  };

  std::uint32_t& newest_of(std::uint32_t domain) {
    if (__builtin_expect(domain < low_.size(), 1)) return low_[domain];
    return others_.try_emplace(domain, none).first->second;
  }

  std::vector<Node> nodes_;
  std::array<std::uint32_t, 64> low_;                        // the innermost one, by domain
  std::unordered_map<std::uint32_t, std::uint32_t> others_;  // likewise
};

}  // namespace nvspan::reader
