// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// An SQLite database: its tables, and columns of them.

#pragma once

#include "reader/import/import_table.hpp"
#include "reader/sqlite/pages.hpp"
#include "reader/sqlite/sqlite_blocks.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>

namespace nvspan::reader {

class SqliteFile {
 public:
  // Throws std::system_error and SqliteError.
  explicit SqliteFile(const std::string& path);

  const std::map<std::string, SqliteTable>& tables() const noexcept { return tables_; }

  // The columns as SqliteColumnReader has them. Both throw SqliteError, and std::out_of_range for a
  // table that is not there.
  ImportTable read(const std::string& table, const WantedColumns& columns,
                   const std::string& row_ids = "");
  // The same, so many rows at a time.
  std::unique_ptr<SqliteBlocks> blocks(const std::string& table, const WantedColumns& columns,
                                       std::size_t rows, const std::string& row_ids = "") const;

 private:
  const SqliteTable& table(const std::string& name) const;

  SqlitePages pages_;
  std::map<std::string, SqliteTable> tables_;
};

}  // namespace nvspan::reader
