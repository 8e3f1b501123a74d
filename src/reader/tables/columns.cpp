// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/tables/columns.hpp"

#include "core/text/json_text.hpp"
#include "core/text/utf8.hpp"
#include "reader/tables/tables.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace nvspan::reader {
namespace {

const std::vector<std::string>& plain_names(std::string_view table) {
  // Never destroyed: threads may read while the process ends.
  static const auto& none = *new std::vector<std::string>;
  static const auto& tables = *new std::map<std::string, std::vector<std::string>, std::less<>>{
      {"ranges",
       {"process",      "thread",   "end_thread",    "kind",          "domain",     "name",
        "message_type", "category", "category_name", "color",         "start",      "end",
        "duration",     "self",     "parent",        "depth",         "level",      "range_id",
        "payload_type", "payload",  "payload_value", "payload_bytes", "end_reason", "device",
        "stream",       "launcher", "launch_shape"}},
      {"marks",
       {"process", "thread", "domain", "name", "message_type", "category", "category_name", "color",
        "time", "payload_type", "payload", "payload_value", "payload_bytes"}},
      {"counters",
       {"process", "thread", "domain", "name", "counter", "time", "kind", "value", "integer",
        "field", "unit"}},
      {"threads", {"process", "pid", "tid", "name", "start", "end", "exited"}},
      {"domains", {"domain"}},
      {"losses", {"process", "thread", "from", "to", "count", "reason"}},
  };
  const auto found = tables.find(table);
  return found == tables.end() ? none : found->second;
}

constexpr std::string_view payload_prefix = "payload.";

}  // namespace

Dictionary::Dictionary(const core::TextTable& strings) {
  offsets.push_back(0);
  for (std::size_t i = 0, count = strings.size(); i < count; ++i) {
    const std::string text = core::replaced_utf8(strings[i]);
    bytes.insert(bytes.end(), text.begin(), text.end());
    offsets.push_back(static_cast<std::int32_t>(bytes.size()));
  }
}

std::size_t Column::item_size() const noexcept {
  switch (type) {
    case 'C':
      return 1;
    case 'i':
    case 'I':
      return 4;
    default:
      return 8;
  }
}

std::vector<std::string> Columns::names(std::string_view table) {
  std::vector<std::string> names = plain_names(table);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const PayloadColumns* known = payloads(table)) {
    for (const auto& field : known->fields()) {
      names.push_back(std::string(payload_prefix) + field.name);
    }
  }
  return names;
}

const PayloadColumns* Columns::payloads(std::string_view table) {
  const bool of_ranges = table == "ranges";
  if (!of_ranges && table != "marks") return nullptr;
  auto& payloads = of_ranges ? range_payloads_ : mark_payloads_;
  if (payloads == nullptr) {
    const Tables& all = tables();
    payloads = of_ranges ? std::make_unique<PayloadColumns>(*recording_, all.ranges, all.bytes)
                         : std::make_unique<PayloadColumns>(*recording_, all.marks, all.bytes);
    if (payloads->refused() != 0 && whole_ == nullptr) {
      recording_->add_problem(std::to_string(payloads->refused()) + " payloads of " +
                              std::string(table) + " do not fit their schemas");
    }
    if (payloads->left_out() != 0 && whole_ == nullptr) {
      recording_->add_problem(std::to_string(payloads->left_out()) + " values in payloads of " +
                              std::string(table) + " have no column: there are more than " +
                              std::to_string(PayloadColumns::most_fields) + " fields");
    }
  }
  return payloads.get();
}

std::shared_ptr<Column> Columns::of_payload(std::string_view table, const std::string& name) {
  const PayloadColumns* known = payloads(table);
  const PayloadColumns::Field* field = known == nullptr ? nullptr : known->find(name);
  if (field == nullptr) return nullptr;
  using Kind = trace::PayloadValue::Kind;
  bool text = false, real = false, is_signed = false, large = false;
  for (const FieldValue& value : field->values) {
    text = text || value.kind == Kind::text;
    real = real || value.kind == Kind::real;
    is_signed = is_signed || value.kind == Kind::integer;
    large = large || (value.kind == Kind::count && value.bits >> 63 != 0);
  }
  real = real || (is_signed && large);
  const std::size_t rows = this->rows(table);
  const auto fill = [&](auto& column, auto value) {
    for (std::size_t i = 0; i < field->rows.size(); ++i) {
      column[field->rows[i]] = value(field->values[i]);
    }
  };
  const auto number = [](const FieldValue& value) {
    double result = 0;
    if (value.kind == Kind::integer)
      return static_cast<double>(static_cast<std::int64_t>(value.bits));
    if (value.kind == Kind::count) return static_cast<double>(value.bits);
    std::memcpy(&result, &value.bits, sizeof result);
    return result;
  };
  if (text) {
    std::vector<std::int32_t> indices(rows, no_name);
    core::PagePool pool;
    core::LineBuffer line(pool);
    fill(indices, [&](const FieldValue& value) {
      if (value.kind == Kind::text) return static_cast<std::int32_t>(value.bits);
      line.clear();
      if (value.kind == Kind::integer) line.add_signed(static_cast<std::int64_t>(value.bits));
      if (value.kind == Kind::count) line.add_unsigned(value.bits);
      if (value.kind == Kind::real) core::add_json_real(line, number(value));
      return recording_->intern(std::string_view(line.data(), line.size()));
    });
    return this->text(rows, std::move(indices));
  }
  std::vector<bool> known_rows(rows);
  for (const std::uint64_t row : field->rows) known_rows[row] = true;
  std::shared_ptr<Column> column;
  if (real) {
    std::vector<double> values(rows);
    fill(values, number);
    column = make_column<double>('g', rows, [&](std::size_t i) { return values[i]; });
  } else {
    std::vector<std::uint64_t> values(rows);
    fill(values, [](const FieldValue& value) { return value.bits; });
    column = large ? make_column<std::uint64_t>('L', rows, [&](std::size_t i) { return values[i]; })
                   : make_column<std::int64_t>('l', rows, [&](std::size_t i) { return values[i]; });
  }
  set_valid(*column, [&](std::size_t i) { return known_rows[i]; });
  return column;
}

const Tables& Columns::tables() {
  if (const Tables* tables = built_tables_.load(std::memory_order_acquire)) return *tables;
  const std::lock_guard<std::mutex> lock(tables_mutex_);
  if (tables_ == nullptr) {
    tables_ = std::make_shared<const Tables>(
        whole_ == nullptr ? make_tables(*recording_) : select_rows(whole_->tables(), part_));
    built_tables_.store(tables_.get(), std::memory_order_release);
  }
  return *tables_;
}

std::size_t Columns::rows(std::string_view table) {
  if (table == "ranges") return tables().ranges.size();
  if (table == "marks") return tables().marks.time.size();
  if (table == "counters") return tables().counters.time.size();
  if (table == "threads") return recording_->threads().size();
  if (table == "domains") return recording_->domains().size();
  if (table == "losses") return tables().losses.size();
  return 0;
}

std::shared_ptr<const Column> Columns::column(std::string_view table, std::string_view name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto key = std::make_pair(std::string(table), std::string(name));
  const auto found = columns_.find(key);
  if (found != columns_.end()) return found->second;
  std::shared_ptr<Column> column;
  if (name.substr(0, payload_prefix.size()) == payload_prefix) {
    column = of_payload(table, std::string(name.substr(payload_prefix.size())));
    if (column != nullptr) column->name = name;
    columns_[key] = column;
    return column;
  }
  if (table == "ranges") column = of_ranges(name);
  if (table == "marks") column = of_marks(name);
  if (table == "counters") column = of_counters(name);
  if (table == "threads") column = of_threads(name);
  if (table == "domains") column = of_domains(name);
  if (table == "losses") column = of_losses(name);
  if (column == nullptr) return nullptr;
  column->name = name;
  columns_[key] = column;
  return column;
}

std::shared_ptr<Column> Columns::text(std::size_t rows, std::vector<std::int32_t> indices) {
  const auto largest = std::max_element(indices.begin(), indices.end());
  const std::size_t needed = largest == indices.end() ? 0 : static_cast<std::size_t>(*largest + 1);
  if (dictionary_ == nullptr || dictionary_->offsets.size() <= needed) {
    dictionary_ = std::make_shared<const Dictionary>(recording_->strings());
  }
  auto data = std::make_shared<std::vector<std::int32_t>>(std::move(indices));
  auto column = std::make_shared<Column>();
  column->type = 'i';
  column->data = data->data();
  column->length = rows;
  column->owner = data;
  column->dictionary = dictionary_;
  set_valid(*column, [&](std::size_t i) { return (*data)[i] >= 0; });
  return column;
}

// What follows from a row's site and thread, in ranges and marks alike.

}  // namespace nvspan::reader
