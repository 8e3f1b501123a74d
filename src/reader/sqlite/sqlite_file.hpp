// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// An SQLite database: its tables, and columns of them.

#pragma once

#include "reader/import/import_table.hpp"
#include "reader/sqlite/create_table.hpp"
#include "reader/sqlite/pages.hpp"
#include "reader/sqlite/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nvspan::reader {

// A table as it stands in the database.
struct SqliteTable {
  std::uint32_t root = 0;
  SqliteColumns columns;
};

using WantedColumns = std::vector<std::pair<std::string, ImportKind>>;

// Columns of a table's rows, some rows at a time.
class SqliteColumnReader {
 public:
  // The columns of these names and kinds; those that the table lacks have no values. A number where
  // text is asked for, or the reverse, is no value. `row_ids` adds the row's id as a column of that
  // name, unless it is empty. `pages` stay where they are. Throws SqliteError.
  SqliteColumnReader(SqlitePages& pages, const SqliteTable& table, const WantedColumns& columns,
                     const std::string& row_ids);

  // Puts the next rows, `most` of them if there are so many, in the place of those in `table`,
  // which is a new one or was filled here before. False: there were none. Throws SqliteError.
  bool read(ImportTable& table, std::size_t most);
  // As many rows as there are at most, where none has a number of its own.
  std::uint64_t rows_expected() const noexcept { return expected_; }

 private:
  struct Wanted {
    std::size_t index;  // in the table
    std::size_t place;  // in the ImportTable
  };
  // For a shape of a row what it has of them.
  struct Given {
    std::uint64_t shape = 0;
    std::vector<Wanted> columns;
  };

  WantedColumns columns_;
  std::vector<Wanted> wanted_;
  std::size_t row_id_index_;  // of the column that is the row's id
  bool has_ids_;              // the first column is that of `row_ids`
  SqliteRows rows_;
  std::vector<Given> given_;
  std::uint64_t expected_ = 0;
};

// The rows in blocks: another thread reads the next block while one is in use.
class SqliteBlocks {
 public:
  SqliteBlocks(const SqlitePages& pages, const SqliteTable& table, const WantedColumns& columns,
               const std::string& row_ids, std::size_t rows);
  ~SqliteBlocks();
  SqliteBlocks(const SqliteBlocks&) = delete;
  SqliteBlocks& operator=(const SqliteBlocks&) = delete;

  // Null at the end. A table that nobody else holds is filled again. Throws SqliteError and
  // std::system_error.
  std::shared_ptr<ImportTable> next();

 private:
  void read_ahead();

  SqlitePages pages_;  // this reader's own
  SqliteColumnReader reader_;
  std::size_t rows_;
  std::shared_ptr<ImportTable> shown_, ahead_;
  std::future<bool> is_there_;
};

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
