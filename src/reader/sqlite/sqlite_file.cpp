// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/sqlite/sqlite_file.hpp"

#include "reader/sqlite/rows.hpp"

#include <algorithm>
#include <stdexcept>

namespace nvspan::reader {
namespace {

bool fits(ImportKind kind, const SqliteValue& value) {
  switch (kind) {
    case ImportKind::integer:
      return value.is_integer();
    case ImportKind::real:
      return value.is_real() || value.is_integer();
    case ImportKind::text:
      return value.is_text();
    case ImportKind::blob:
      return value.is_blob();
  }
  return false;
}

void add(ImportColumn& column, std::size_t row, const SqliteValue& value,
         const std::uint8_t* content) {
  if (value.is_integer()) {
    column.add(row, value.integer(content));
  } else if (value.is_real()) {
    column.add(row, value.real(content));
  } else {
    column.add(row, std::int64_t{column.texts.number(value.view(content))});
  }
}

}  // namespace

SqliteFile::SqliteFile(const std::string& path) : pages_(path) {
  if (pages_.count() == 0) return;
  SqliteRows rows(pages_, 1);  // type, name, table, root, statement
  while (rows.next()) {
    const std::vector<SqliteValue>& values = rows.shape().values;
    const std::uint8_t* content = rows.content();
    if (values.size() < 5 || !values[0].is_text() || values[0].view(content) != "table") continue;
    if (!values[1].is_text() || !values[3].is_integer() || !values[4].is_text()) continue;
    Table table;
    table.root = static_cast<std::uint32_t>(values[3].integer(content));
    table.columns = read_create_table(values[4].view(content));
    if (table.root != 0) tables_.emplace(values[1].view(content), std::move(table));
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
  ImportColumn* own_column = nullptr;
  for (const Wanted& each : wanted) {
    if (each.index == own) own_column = each.column;
  }
  SqliteRows rows(pages_, found->second.root);
  // A row takes four bytes at least.
  const std::uint64_t most = std::uint64_t{pages_.count()} * pages_.page_bytes() / 4;
  for (const Wanted& each : wanted) each.column->expect(std::min(rows.last_id(), most));
  // For each shape of a row what it has of them.
  struct Given {
    std::uint64_t shape = 0;
    std::vector<Wanted> columns;
  };
  std::vector<Given> given(SqliteRows::shape_places);
  for (; rows.next(); ++table.rows) {
    const SqliteShape& shape = rows.shape();
    Given& of = given[rows.shape_place()];
    if (of.shape != shape.number) {
      of.shape = shape.number;
      of.columns.clear();
      for (const Wanted& each : wanted) {
        if (each.index != own && each.index < shape.values.size() &&
            fits(each.column->kind, shape.values[each.index])) {
          of.columns.push_back(each);
        }
      }
    }
    for (const Wanted& each : of.columns) {
      add(*each.column, table.rows, shape.values[each.index], rows.content());
    }
    if (own_column != nullptr) own_column->add(table.rows, rows.id());
    if (ids != nullptr) ids->add(table.rows, rows.id());
  }
  for (const Wanted& each : wanted) each.column->finish(table.rows);
  return table;
}

}  // namespace nvspan::reader
