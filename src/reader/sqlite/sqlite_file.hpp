// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// An SQLite database: its tables, and columns of them.

#pragma once

#include "reader/import/import_table.hpp"
#include "reader/sqlite/create_table.hpp"
#include "reader/sqlite/pages.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nvspan::reader {

class SqliteFile {
 public:
  // Throws std::system_error and SqliteError.
  explicit SqliteFile(const std::string& path);

  struct Table {
    std::uint32_t root = 0;
    SqliteColumns columns;
  };
  const std::map<std::string, Table>& tables() const noexcept { return tables_; }

  // The columns of these names and kinds; those that the table lacks have no values. A number where
  // text is asked for, or the reverse, is no value. `row_ids` adds the row's id as a column of that
  // name, unless it is empty. Throws SqliteError, and std::out_of_range for a table that is not
  // there.
  ImportTable read(const std::string& table,
                   const std::vector<std::pair<std::string, ImportKind>>& columns,
                   const std::string& row_ids = "");

 private:
  SqlitePages pages_;
  std::map<std::string, Table> tables_;
};

}  // namespace nvspan::reader
