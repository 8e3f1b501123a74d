// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of an SQLite table, which a thread reads ahead while the one before is in use. Made for
// ThreadSanitizer. Argument: tests/data/nsight/rows.sqlite, whose table t has 400 rows of n (3
// times the row's place), text (none in each fifth row) and real (half of the place).

#include "expect.hpp"
#include "reader/sqlite/sqlite_file.hpp"
#include "threads.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace {

using nvspan::reader::ImportColumn;
using nvspan::reader::ImportKind;
using nvspan::reader::ImportTable;
using nvspan::reader::SqliteFile;

constexpr std::size_t row_count = 400;

std::unique_ptr<nvspan::reader::SqliteBlocks> blocks_of(const SqliteFile& file, std::size_t rows) {
  return file.blocks(
      "t", {{"n", ImportKind::integer}, {"text", ImportKind::text}, {"real", ImportKind::real}},
      rows);
}

// Whether a table has the rows from `first` on.
bool has_rows(ImportTable& table, std::size_t first) {
  const ImportColumn& numbers = table.at("n");
  const ImportColumn& texts = table.at("text");
  const ImportColumn& reals = table.at("real");
  for (std::size_t row = 0; row < table.rows; ++row) {
    const std::size_t place = first + row;
    if (numbers.integers[row] != static_cast<std::int64_t>(3 * place)) return false;
    if (reals.reals[row] != static_cast<double>(place) / 2) return false;
    if (texts.has(row) != (place % 5 != 0)) return false;
    if (!texts.has(row)) continue;
    const auto number = static_cast<std::size_t>(texts.integers[row]);
    if (texts.texts.all()[number] != "text " + std::to_string(place % 7)) return false;
  }
  return true;
}

// Reads all blocks; every `kept`th is held to the end.
bool reads_all(const SqliteFile& file, std::size_t rows, std::size_t kept) {
  const auto blocks = blocks_of(file, rows);
  std::vector<std::pair<std::size_t, std::shared_ptr<ImportTable>>> held;
  std::size_t place = 0;
  bool right = true;
  for (std::size_t number = 0; const auto table = blocks->next(); ++number) {
    right = right && has_rows(*table, place);
    if (kept != 0 && number % kept == 0) held.emplace_back(place, table);
    place += table->rows;
  }
  for (const auto& [first, table] : held) right = right && has_rows(*table, first);
  return right && place == row_count && blocks->next() == nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const SqliteFile file(argv[1]);
  for (const std::size_t rows : {1, 7, 100, 399, 400, 1000}) {
    EXPECT(reads_all(file, rows, 0));
    EXPECT(reads_all(file, rows, 1));
    EXPECT(reads_all(file, rows, 3));
  }
  for (int i = 0; i < 20; ++i) {  // nobody takes what is being read
    const auto blocks = blocks_of(file, 50);
    if (i % 2 != 0) EXPECT(blocks->next() != nullptr);
  }
  std::vector<char> right(4, 0);
  nvspan_test::in_threads(4, [&](int i) {
    const auto number = static_cast<std::size_t>(i);
    right[number] = reads_all(file, 11 + number, 2);
  });
  for (const char each : right) EXPECT(each != 0);
  return nvspan_test::failures() != 0;
}
