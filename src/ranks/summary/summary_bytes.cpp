// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A summary as bytes: magic, version, checksum of the rest; texts in their order, rows in the order
// of their keys, tables in the order of their names.

#include "ranks/summary/packed.hpp"
#include "ranks/summary/summary.hpp"
#include "record/file/checksum.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::ranks {
namespace {

constexpr char magic[] = "NVSPSUM5";
constexpr std::size_t magic_bytes = sizeof magic - 1;
constexpr std::size_t head_bytes = magic_bytes + sizeof(std::uint32_t);

void pack(Packer& to, const RangeFigures& row) {
  for (const std::uint64_t value :
       {row.calls, row.unclosed, row.threads, row.devices, row.resumable, row.resumptions}) {
    to.count(value);
  }
  for (const Wide value : {row.total, row.open_time, row.sum, row.self, row.squares, row.overhead,
                           row.nested, row.bytes, row.covered, row.awaited}) {
    to.wide(value);
  }
  for (const std::int64_t value : {row.shortest, row.longest, row.first, row.last}) {
    to.number(value);
  }
  to.text(row.durations);
}

void unpack(Unpacker& from, RangeFigures& row) {
  for (std::uint64_t* value :
       {&row.calls, &row.unclosed, &row.threads, &row.devices, &row.resumable, &row.resumptions}) {
    *value = from.count();
  }
  for (Wide* value : {&row.total, &row.open_time, &row.sum, &row.self, &row.squares, &row.overhead,
                      &row.nested, &row.bytes, &row.covered, &row.awaited}) {
    *value = from.wide();
  }
  for (std::int64_t* value : {&row.shortest, &row.longest, &row.first, &row.last}) {
    *value = from.number();
  }
  row.durations = from.text();
  core::LogHistogram whole;
  add_packed(row.durations, whole);
}

// A text by its place, 0 for none.
std::uint64_t cited(std::int64_t id, const TextPlaces& places) {
  return id < 0 ? 0 : std::uint64_t{places[static_cast<std::size_t>(id)]} + 1;
}

std::int32_t cited_text(std::uint64_t number, std::size_t texts) {
  if (number > texts) throw SummaryError("the summary is damaged");
  return static_cast<std::int32_t>(number) - 1;
}

// Column by column, each value as its distance from the one above it.
void pack(Packer& to, const SummaryTable& table, const TextPlaces& places) {
  const std::vector<std::size_t> order = table.order(places);
  to.text(table.name());
  to.count(table.columns().size());
  to.count(table.rows());
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    const bool is_text = table.columns()[column].is_text;
    to.text(table.columns()[column].name);
    to.count(is_text ? 1 : 0);
    std::uint64_t last = 0;
    for (const std::size_t row : order) {
      const std::int64_t value = table.value(row, column);
      const std::uint64_t now = is_text ? cited(value, places) : static_cast<std::uint64_t>(value);
      to.number(static_cast<std::int64_t>(now - last));
      last = now;
    }
  }
}

void unpack_table(Unpacker& from, Summary& summary) {
  const std::string name(from.text());
  const std::size_t width = from.size();
  const std::uint64_t rows = from.count();
  if (width == 0 || rows > from.left() / width) throw SummaryError("the summary is damaged");
  std::vector<SummaryTable::Column> columns;
  std::vector<std::int64_t> values(static_cast<std::size_t>(rows) * width);
  for (std::size_t column = 0; column < width; ++column) {
    const std::string title(from.text());
    columns.push_back(SummaryTable::Column{title, from.count() != 0});
    std::uint64_t last = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      last += static_cast<std::uint64_t>(from.number());
      values[row * width + column] = columns[column].is_text
                                         ? cited_text(last, summary.texts().size())
                                         : static_cast<std::int64_t>(last);
    }
  }
  SummaryTable& table = summary.table(name, columns);
  for (std::size_t row = 0; row < rows; ++row) table.add_row(values.data() + row * width);
}

}  // namespace

std::string Summary::bytes() const {
  std::string body;
  Packer to(body);
  const TextPlaces places = this->places();
  std::vector<std::size_t> order(places.size());
  for (std::size_t id = 0; id < places.size(); ++id) order[places[id]] = id;
  to.count(order.size());
  for (const std::size_t id : order) to.text(texts_[id]);
  to.count(rows_.size());
  for (const Rows::value_type* row : ordered_rows()) {
    const RangeKey& key = row->first;
    to.count(cited(key.domain, places));
    to.count(cited(key.name, places));
    to.count(key.kind | (key.backward ? 16u : 0u) | (key.is_others ? 32u : 0u));
    to.number(key.group);
    pack(to, row->second);
  }
  std::vector<const SummaryTable*> tables;
  for (const auto& table : tables_) {
    if (table->rows() != 0) tables.push_back(table.get());
  }
  std::sort(tables.begin(), tables.end(),
            [](const auto* one, const auto* other) { return one->name() < other->name(); });
  to.count(tables.size());
  for (const SummaryTable* table : tables) pack(to, *table, places);
  std::string whole(magic, magic_bytes);
  const std::uint32_t sum = record::crc32c(body.data(), body.size());
  char sum_bytes[sizeof sum];
  std::memcpy(sum_bytes, &sum, sizeof sum);
  whole.append(sum_bytes, sizeof sum).append(body);
  return whole;
}

std::unique_ptr<Summary> Summary::read(std::string_view bytes) {
  if (bytes.substr(0, magic_bytes) != std::string_view(magic, magic_bytes) ||
      bytes.size() < head_bytes) {
    throw SummaryError("these bytes are no summary of this version of nvspan");
  }
  std::uint32_t sum = 0;
  std::memcpy(&sum, bytes.data() + magic_bytes, sizeof sum);
  const std::string_view body = bytes.substr(head_bytes);
  if (sum != record::crc32c(body.data(), body.size())) {
    throw SummaryError("the summary is damaged");
  }
  auto summary = std::make_unique<Summary>();
  Unpacker from(body);
  const std::size_t texts = from.size();
  for (std::size_t i = 0; i < texts; ++i) {
    if (summary->intern(from.text()) != static_cast<std::int32_t>(i)) {
      throw SummaryError("the summary is damaged");
    }
  }
  const std::size_t rows = from.size();
  for (std::size_t i = 0; i < rows; ++i) {
    RangeKey key;
    key.domain = cited_text(from.count(), texts);
    key.name = cited_text(from.count(), texts);
    const std::uint64_t bits = from.count();
    key.kind = static_cast<std::uint8_t>(bits & 15);
    key.backward = (bits & 16) != 0;
    key.is_others = (bits & 32) != 0;
    key.group = from.number();
    unpack(from, summary->row(key));
  }
  const std::size_t tables = from.size();
  for (std::size_t i = 0; i < tables; ++i) unpack_table(from, *summary);
  if (!from.at_end()) throw SummaryError("the summary is damaged");
  return summary;
}

}  // namespace nvspan::ranks
