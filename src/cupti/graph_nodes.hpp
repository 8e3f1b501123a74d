// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cupti/records.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace nvspan::cupti {

// The nodes of the process's graphs, by CUPTI's numbers, of which no two are ever alike. Any thread
// may call, several at once.
class GraphNodes {
 public:
  void made(std::uint64_t id, SeenNode node);
  // Of what is not known nothing is.
  void cloned(std::uint64_t from, std::uint64_t to);
  // It is known for some time longer: records come after the work is done.
  void destroyed(std::uint64_t id);
  // Its number is 0: it is not known.
  SeenNode find(std::uint64_t id);

 private:
  static constexpr std::size_t most_destroyed = 65'536;

  // A recording has 24 bits for them.
  static constexpr std::uint32_t most_numbers = (std::uint32_t{1} << 24) - 1;

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, SeenNode> nodes_;
  std::deque<std::uint64_t> destroyed_;
  std::uint32_t last_number_ = 0;
};

}  // namespace nvspan::cupti
