// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/import/nsys_payload.hpp"

#include "nvtx/numbers.hpp"

#include <cstring>
#include <string>

namespace nvspan::reader {
namespace {

constexpr std::size_t word_size = sizeof(std::uint64_t);
constexpr std::size_t place_words = 3;  // of a piece: schema, size, where its bytes begin

std::uint64_t word_at(std::string_view bytes, std::size_t index) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + index * word_size, word_size);
  return value;
}

void append_piece(std::uint64_t schema, std::string_view bytes,
                  std::vector<std::uint64_t>& pieces) {
  pieces.insert(pieces.end(), {schema, bytes.size(), bytes.size()});
  const std::size_t data = pieces.size();
  pieces.resize(data + (bytes.size() + word_size - 1) / word_size);
  if (!bytes.empty()) std::memcpy(pieces.data() + data, bytes.data(), bytes.size());
}

}  // namespace

bool append_pieces(std::string_view exported, std::vector<std::uint64_t>& pieces) {
  if (exported.size() < word_size) return false;
  const std::uint64_t count = word_at(exported, 0);
  if (count == 0 || count > (exported.size() - word_size) / (place_words * word_size)) return false;
  const std::size_t before = pieces.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = 1 + place_words * i;
    const std::uint64_t size = word_at(exported, place + 1), at = word_at(exported, place + 2);
    if (at > exported.size() || size > exported.size() - at) {
      pieces.resize(before);
      return false;
    }
    append_piece(word_at(exported, place),
                 exported.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(size)),
                 pieces);
  }
  return true;
}

PayloadPieces pieces_of(const ImportColumn& column, std::size_t rows) {
  PayloadPieces pieces;
  pieces.begins.reserve(rows + 1);
  for (std::size_t row = 0; row < rows; ++row) {
    pieces.begins.push_back(static_cast<std::int64_t>(pieces.words.size()));
    if (!column.has(row)) continue;
    const auto number = static_cast<std::size_t>(column.integers[row]);
    const std::string& exported = column.texts.all()[number];
    if (!append_pieces(exported, pieces.words)) {
      append_piece(nvtx::entry_type::raw, exported, pieces.words);
    }
  }
  pieces.begins.push_back(static_cast<std::int64_t>(pieces.words.size()));
  return pieces;
}

}  // namespace nvspan::reader
