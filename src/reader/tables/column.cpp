// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/tables/column.hpp"

#include "core/text/utf8.hpp"

#include <string_view>

namespace nvspan::reader {

Dictionary::Dictionary(const core::TextTable& strings) {
  offsets.push_back(0);
  for (std::size_t i = 0, count = strings.size(); i < count; ++i) {
    for (std::string_view left = strings[i]; !left.empty();) {
      std::uint32_t code_point = 0;
      const std::size_t size = core::decode_utf8(left, code_point);
      const std::string_view taken = size == 0 ? "\xEF\xBF\xBD" : left.substr(0, size);
      bytes.insert(bytes.end(), taken.begin(), taken.end());
      left.remove_prefix(size == 0 ? 1 : size);
    }
    offsets.push_back(static_cast<std::int32_t>(bytes.size()));
  }
}

std::size_t Column::item_size() const noexcept {
  switch (type) {
    case 'C':
      return 1;
    case 'i':
    case 'I':
      return 4;
    default:
      return 8;
  }
}

}  // namespace nvspan::reader
