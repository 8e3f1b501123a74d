// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/sqlite/sqlite_file.hpp"

#include "reader/sqlite/rows.hpp"

#include <algorithm>
#include <stdexcept>

namespace nvspan::reader {
namespace {

void add(ImportColumn& column, const SqliteValue& value) {
  switch (column.kind) {
    case ImportKind::integer:
      return value.is_integer() ? column.add(value.integer()) : column.add_null();
    case ImportKind::real:
      if (value.is_real()) return column.add(value.real());
      return value.is_integer() ? column.add(value.integer()) : column.add_null();
    case ImportKind::text:
      return value.is_text() ? column.add(std::int64_t{column.texts.number(value.view())})
                             : column.add_null();
    case ImportKind::blob:
      return value.is_blob() ? column.add(std::int64_t{column.texts.number(value.view())})
                             : column.add_null();
  }
}

}  // namespace

SqliteFile::SqliteFile(const std::string& path) : pages_(path) {
  if (pages_.count() == 0) return;
  SqliteRows rows(pages_, 1);  // type, name, table, root, statement
  while (rows.next()) {
    const std::vector<SqliteValue>& values = rows.values();
    if (values.size() < 5 || !values[0].is_text() || values[0].view() != "table") continue;
    if (!values[1].is_text() || !values[3].is_integer() || !values[4].is_text()) continue;
    Table table;
    table.root = static_cast<std::uint32_t>(values[3].integer());
    table.columns = read_create_table(values[4].view());
    if (table.root != 0) tables_.emplace(values[1].view(), std::move(table));
  }
}

ImportTable SqliteFile::read(const std::string& name,
                             const std::vector<std::pair<std::string, ImportKind>>& columns,
                             const std::string& row_ids) {
  const auto found = tables_.find(name);
  if (found == tables_.end()) throw std::out_of_range("no table " + name);
  const SqliteColumns& of = found->second.columns;
  if (!of.has_row_ids) throw SqliteError("a table without row ids: " + name);
  ImportTable table;
  struct Wanted {
    std::size_t index;
    ImportColumn* column;
  };
  std::vector<Wanted> wanted;
  ImportColumn* ids = row_ids.empty() ? nullptr : &table.add_column(row_ids, ImportKind::integer);
  for (const auto& [column, kind] : columns) {
    ImportColumn& into = table.add_column(column, kind);
    const auto at = std::find(of.names.begin(), of.names.end(), column);
    if (at != of.names.end()) {
      wanted.push_back({static_cast<std::size_t>(at - of.names.begin()), &into});
    }
  }
  const std::size_t own = of.row_id < 0 ? static_cast<std::size_t>(-1) : of.row_id;
  SqliteRows rows(pages_, found->second.root);
  while (rows.next()) {
    const std::vector<SqliteValue>& values = rows.values();
    for (const Wanted& each : wanted) {
      if (each.index == own) {
        each.column->add(rows.id());
      } else if (each.index < values.size()) {
        add(*each.column, values[each.index]);
      } else {
        each.column->add_null();
      }
    }
    if (ids != nullptr) ids->add(rows.id());
    ++table.rows;
  }
  for (const Wanted& each : wanted) each.column->finish(table.rows);
  return table;
}

}  // namespace nvspan::reader
