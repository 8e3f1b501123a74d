// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/sqlite/sqlite_file.hpp"

#include "reader/sqlite/rows.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::size_t no_index = static_cast<std::size_t>(-1);

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

SqliteColumnReader::SqliteColumnReader(SqlitePages& pages, const SqliteTable& table,
                                       const WantedColumns& columns, const std::string& row_ids)
    : row_id_index_(table.columns.row_id < 0 ? no_index
                                             : static_cast<std::size_t>(table.columns.row_id)),
      has_ids_(!row_ids.empty()),
      rows_(pages, table.root),
      given_(SqliteRows::shape_places) {
  if (has_ids_) columns_.emplace_back(row_ids, ImportKind::integer);
  for (const auto& column : columns) {
    const std::vector<std::string>& names = table.columns.names;
    const auto at = std::find(names.begin(), names.end(), column.first);
    if (at != names.end()) {
      wanted_.push_back({static_cast<std::size_t>(at - names.begin()), columns_.size()});
    }
    columns_.push_back(column);
  }
  // A row takes four bytes at least.
  const std::uint64_t most = std::uint64_t{pages.count()} * pages.page_bytes() / 4;
  expected_ = std::min(rows_.last_id(), most);
}

bool SqliteColumnReader::read(ImportTable& table, std::size_t most) {
  table.clear();
  if (table.columns().empty()) {
    for (const auto& [name, kind] : columns_) table.add_column(name, kind);
  }
  std::vector<ImportColumn*> into;
  for (std::size_t place = 0; place < columns_.size(); ++place) {
    into.push_back(&table.column(place));
    into.back()->expect(static_cast<std::size_t>(std::min<std::uint64_t>(expected_, most)));
  }
  std::vector<ImportColumn*> ids;
  if (has_ids_) ids.push_back(into[0]);
  for (const Wanted& each : wanted_) {
    if (each.index == row_id_index_) ids.push_back(into[each.place]);
  }
  for (; table.rows < most && rows_.next(); ++table.rows) {
    const SqliteShape& shape = rows_.shape();
    Given& of = given_[rows_.shape_place()];
    if (of.shape != shape.number) {
      of.shape = shape.number;
      of.columns.clear();
      for (const Wanted& each : wanted_) {
        if (each.index != row_id_index_ && each.index < shape.values.size() &&
            fits(columns_[each.place].second, shape.values[each.index])) {
          of.columns.push_back(each);
        }
      }
    }
    for (const Wanted& each : of.columns) {
      add(*into[each.place], table.rows, shape.values[each.index], rows_.content());
    }
    for (ImportColumn* column : ids) column->add(table.rows, rows_.id());
  }
  for (ImportColumn* column : into) column->finish(table.rows);
  return table.rows != 0;
}

SqliteBlocks::SqliteBlocks(const SqlitePages& pages, const SqliteTable& table,
                           const WantedColumns& columns, const std::string& row_ids,
                           std::size_t rows)
    : pages_(pages),
      reader_(pages_, table, columns, row_ids),
      rows_(std::max<std::size_t>(rows, 1)) {
  read_ahead();
}

SqliteBlocks::~SqliteBlocks() {
  if (is_there_.valid()) is_there_.wait();
}

void SqliteBlocks::read_ahead() {
  if (ahead_ == nullptr || ahead_.use_count() > 1) ahead_ = std::make_shared<ImportTable>();
  // One block is not worth a thread.
  const auto when = reader_.rows_expected() <= rows_ ? std::launch::deferred
                                                     : std::launch::async | std::launch::deferred;
  is_there_ = std::async(when, [this] { return reader_.read(*ahead_, rows_); });
}

std::shared_ptr<ImportTable> SqliteBlocks::next() {
  if (!is_there_.valid() || !is_there_.get()) return nullptr;
  std::swap(shown_, ahead_);
  read_ahead();
  return shown_;
}

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
