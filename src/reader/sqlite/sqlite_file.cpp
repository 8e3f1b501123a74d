// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/sqlite/sqlite_file.hpp"

#include "reader/sqlite/rows.hpp"

#include <limits>
#include <stdexcept>
#include <utility>

namespace nvspan::reader {
SqliteFile::SqliteFile(const std::string& path) : pages_(path) {
  if (pages_.count() == 0) return;
  SqliteRows rows(pages_, 1);  // type, name, table, root, statement
  while (rows.next()) {
    const std::vector<SqliteValue>& values = rows.shape().values;
    const std::uint8_t* content = rows.content();
    if (values.size() < 5 || !values[0].is_text() || values[0].view(content) != "table") continue;
    if (!values[1].is_text() || !values[3].is_integer() || !values[4].is_text()) continue;
    SqliteTable table;
    table.root = static_cast<std::uint32_t>(values[3].integer(content));
    table.columns = read_create_table(values[4].view(content));
    if (table.root != 0) tables_.emplace(values[1].view(content), std::move(table));
  }
}

const SqliteTable& SqliteFile::table(const std::string& name) const {
  const auto found = tables_.find(name);
  if (found == tables_.end()) throw std::out_of_range("no table " + name);
  if (!found->second.columns.has_row_ids) throw SqliteError("a table without row ids: " + name);
  return found->second;
}

ImportTable SqliteFile::read(const std::string& name, const WantedColumns& columns,
                             const std::string& row_ids) {
  ImportTable into;
  SqliteColumnReader(pages_, table(name), columns, row_ids)
      .read(into, std::numeric_limits<std::size_t>::max());
  return into;
}

std::unique_ptr<SqliteBlocks> SqliteFile::blocks(const std::string& name,
                                                 const WantedColumns& columns, std::size_t rows,
                                                 const std::string& row_ids) const {
  return std::make_unique<SqliteBlocks>(pages_, table(name), columns, row_ids, rows);
}

}  // namespace nvspan::reader
