// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/key_order.hpp"

namespace nvspan::core {

bool sort_keys(std::vector<KeyOfRow>& keys) {
  const auto before = [](const KeyOfRow& a, const KeyOfRow& b) {
    return a.key != b.key ? a.key < b.key : a.row < b.row;
  };
  if (std::is_sorted(keys.begin(), keys.end(), before)) return false;
  std::sort(keys.begin(), keys.end(), before);
  return true;
}

}  // namespace nvspan::core
