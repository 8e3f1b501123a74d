// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "cupti/graph_nodes.hpp"

namespace nvspan::cupti {

void GraphNodes::made(std::uint64_t id, SeenNode node) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (last_number_ == most_numbers) return;
  node.number = ++last_number_;
  nodes_[id] = node;
}

void GraphNodes::cloned(std::uint64_t from, std::uint64_t to) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = nodes_.find(from);
  if (found == nodes_.end()) return;
  const SeenNode node = found->second;
  nodes_[to] = node;
}

void GraphNodes::destroyed(std::uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (nodes_.count(id) == 0) return;
  destroyed_.push_back(id);
  if (destroyed_.size() <= most_destroyed) return;
  nodes_.erase(destroyed_.front());
  destroyed_.pop_front();
}

SeenNode GraphNodes::find(std::uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? SeenNode{} : found->second;
}

}  // namespace nvspan::cupti
