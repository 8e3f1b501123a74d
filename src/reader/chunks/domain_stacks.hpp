// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A thread's open ranges in the order in which they were opened: a pop closes the newest one of its
// domain.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace nvspan::reader {

// Ranges of a site that the file does not define are closed by the next pop of any domain.
constexpr std::uint32_t unknown_domain = 0xFFFFFFFF;

template <typename Range>
class DomainStacks {
 public:
  DomainStacks() { low_.fill(none); }

  std::size_t size() const { return size_; }
  // The innermost one; null: none is open.
  Range* top() { return top_ == none ? nullptr : &nodes_[top_].range; }
  // Opens make(the one around it in its domain, or null).
  template <typename Make>
  Range& push(std::uint32_t domain, Make&& make) {
    std::uint32_t index = free_;
    if (index != none) {
      free_ = nodes_[index].below;
    } else {
      index = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    }
    std::uint32_t& newest = newest_of(domain);
    Node& node = nodes_[index];
    node.range = make(newest == none ? nullptr : &nodes_[newest].range);
    node.domain = domain;
    node.around = newest;
    node.above = none;
    node.below = top_;
    if (top_ != none) nodes_[top_].above = index;
    top_ = newest = index;
    ++size_;
    return node.range;
  }

  bool pop(std::uint32_t domain, Range& out) {
    const bool unknown = top_ != none && nodes_[top_].domain == unknown_domain;
    std::uint32_t& newest = newest_of(unknown ? unknown_domain : domain);
    if (newest == none) return false;
    const std::uint32_t index = newest;
    Node& node = nodes_[index];
    out = node.range;
    newest = node.around;
    if (node.above != none) nodes_[node.above].below = node.below;
    if (node.below != none) nodes_[node.below].above = node.above;
    if (top_ == index) top_ = node.below;
    node.below = free_;
    free_ = index;
    --size_;
    return true;
  }

  // Calls use(range) for each, the innermost first.
  template <typename Use>
  void each(Use&& use) const {
    for (std::uint32_t at = top_; at != none; at = nodes_[at].below) use(nodes_[at].range);
  }
  void clear() {
    nodes_.clear();
    low_.fill(none);
    others_.clear();
    top_ = free_ = none;
    size_ = 0;
  }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  struct Node {
    Range range;
    std::uint32_t domain = 0;
    std::uint32_t around = none;  // of the same domain
    std::uint32_t above = none;   // of all
    std::uint32_t below = none;
  };

  std::uint32_t& newest_of(std::uint32_t domain) {
    if (__builtin_expect(domain < low_.size(), 1)) return low_[domain];
    return others_.try_emplace(domain, none).first->second;
  }

  std::vector<Node> nodes_;
  std::array<std::uint32_t, 64> low_;                        // the innermost one, by domain
  std::unordered_map<std::uint32_t, std::uint32_t> others_;  // likewise
  std::uint32_t top_ = none;
  std::uint32_t free_ = none;
  std::size_t size_ = 0;
};

}  // namespace nvspan::reader
