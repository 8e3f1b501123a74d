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

  std::size_t size() const { return nodes_.size() - closed_; }
  // The innermost one; null: none is open.
  Range* top() { return nodes_.empty() ? nullptr : &nodes_.back().range; }

  // Opens make(the one around it in its domain, or null).
  template <typename Make>
  Range& push(std::uint32_t domain, Make&& make) {
    if (__builtin_expect(closed_ >= most_closed && 2 * closed_ > nodes_.size(), 0)) drop_closed();
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
    newest = node.around;
    node.is_open = false;
    ++closed_;
    for (; closed_ != 0 && !nodes_.back().is_open; --closed_) nodes_.pop_back();
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
    closed_ = 0;
  }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  static constexpr std::size_t most_closed = 64;
  struct Node {
    template <typename Make>
    Node(Make& make, const Range* outer, std::uint32_t of, std::uint32_t before)
        : range(make(outer)), domain(of), around(before) {}

    Range range;
    std::uint32_t domain;
    std::uint32_t around;  // of the same domain
    bool is_open = true;   // the last one always is
  };

  // Domains whose ranges overlap for ever close each of them from below an open one.
  [[gnu::noinline]] void drop_closed() {
    std::vector<Node> nodes;
    nodes.swap(nodes_);
    clear();
    for (Node& node : nodes) {
      if (!node.is_open) continue;
      const auto index = static_cast<std::uint32_t>(nodes_.size());
      node.around = std::exchange(newest_of(node.domain), index);
      nodes_.push_back(node);
    }
  }
  std::uint32_t& newest_of(std::uint32_t domain) {
    if (__builtin_expect(domain < low_.size(), 1)) return low_[domain];
    return others_.try_emplace(domain, none).first->second;
  }

  std::vector<Node> nodes_;
  std::size_t closed_ = 0;                                   // of them
  std::array<std::uint32_t, 64> low_;                        // the innermost one, by domain
  std::unordered_map<std::uint32_t, std::uint32_t> others_;  // likewise
};

}  // namespace nvspan::reader
