// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/import/import_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nvspan::reader {

// Appends the pieces of a payload as Nsight Systems exports it (how many they are; schema, size and
// place of each; their bytes) as a recording has them: schema, size, size kept, bytes up to a word.
// False: it is none, and nothing was appended.
bool append_pieces(std::string_view exported, std::vector<std::uint64_t>& pieces);

// The payloads of a column's rows, and where each begins among the words; the last one's end. What
// is no payload is a piece of raw bytes.
struct PayloadPieces {
  std::vector<std::uint64_t> words;
  std::vector<std::int64_t> begins;
};
PayloadPieces pieces_of(const ImportColumn& column, std::size_t rows);

}  // namespace nvspan::reader
