// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/columns.hpp"

#include "record/json_text.hpp"
#include "record/scalar_payload.hpp"
#include "record/select.hpp"
#include "record/utf8.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace nvspan {
namespace {

std::shared_ptr<const Dictionary> make_dictionary(const TextTable& strings) {
  auto made = std::make_shared<Dictionary>();
  made->offsets.push_back(0);
  for (std::size_t i = 0, count = strings.size(); i < count; ++i) {
    for (std::string_view left = strings[i]; !left.empty();) {
      std::uint32_t code_point = 0;
      const std::size_t size = decode_utf8(left, code_point);
      const std::string_view taken = size == 0 ? "\xEF\xBF\xBD" : left.substr(0, size);
      made->bytes.insert(made->bytes.end(), taken.begin(), taken.end());
      left.remove_prefix(size == 0 ? 1 : size);
    }
    made->offsets.push_back(static_cast<std::int32_t>(made->bytes.size()));
  }
  return made;
}

double payload_value(std::uint8_t type, std::uint64_t bits) {
  double made = 0;
  use_scalar(static_cast<PayloadType>(type), bits,
             [&](auto value) { made = static_cast<double>(value); });
  return made;
}

}  // namespace

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

namespace {

const std::vector<std::string>& plain_names(std::string_view table) {
  static const std::vector<std::string> none;
  static const std::map<std::string, std::vector<std::string>, std::less<>> tables = {
      {"ranges",
       {"process",      "thread",   "end_thread",    "kind",          "domain",     "name",
        "message_type", "category", "category_name", "color",         "start",      "end",
        "duration",     "self",     "parent",        "depth",         "level",      "range_id",
        "payload_type", "payload",  "payload_value", "payload_bytes", "end_reason", "device",
        "stream",       "launcher"}},
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

std::vector<std::string> Columns::names(std::string_view table) {
  std::vector<std::string> made = plain_names(table);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const PayloadColumns* known = payloads(table)) {
    for (const auto& field : known->fields()) {
      made.push_back(std::string(payload_prefix) + field.name);
    }
  }
  return made;
}

const PayloadColumns* Columns::payloads(std::string_view table) {
  const bool of_ranges = table == "ranges";
  if (!of_ranges && table != "marks") return nullptr;
  auto& made = of_ranges ? range_payloads_ : mark_payloads_;
  if (made == nullptr) {
    const Tables& all = tables();
    made = of_ranges ? std::make_unique<PayloadColumns>(*recording_, all.ranges, all.bytes)
                     : std::make_unique<PayloadColumns>(*recording_, all.marks, all.bytes);
    if (made->refused() != 0 && whole_ == nullptr) {
      recording_->add_problem(std::to_string(made->refused()) + " payloads of " +
                              std::string(table) + " do not fit their schemas");
    }
    if (made->left_out() != 0 && whole_ == nullptr) {
      recording_->add_problem(std::to_string(made->left_out()) + " values in payloads of " +
                              std::string(table) + " have no column: there are more than " +
                              std::to_string(PayloadColumns::most_fields) + " fields");
    }
  }
  return made.get();
}

std::shared_ptr<Column> Columns::of_payload(std::string_view table, const std::string& name) {
  const PayloadColumns* known = payloads(table);
  const PayloadColumns::Field* field = known == nullptr ? nullptr : known->find(name);
  if (field == nullptr) return nullptr;
  using Kind = PayloadValue::Kind;
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
    double made = 0;
    if (value.kind == Kind::integer)
      return static_cast<double>(static_cast<std::int64_t>(value.bits));
    if (value.kind == Kind::count) return static_cast<double>(value.bits);
    std::memcpy(&made, &value.bits, sizeof made);
    return made;
  };
  if (text) {
    std::vector<std::int32_t> indices(rows, no_name);
    PagePool pool;
    LineBuffer line(pool);
    fill(indices, [&](const FieldValue& value) {
      if (value.kind == Kind::text) return static_cast<std::int32_t>(value.bits);
      line.clear();
      if (value.kind == Kind::integer) line.add_signed(static_cast<std::int64_t>(value.bits));
      if (value.kind == Kind::count) line.add_unsigned(value.bits);
      if (value.kind == Kind::real) add_json_real(line, number(value));
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
    column = made<double>('g', rows, [&](std::size_t i) { return values[i]; });
  } else {
    std::vector<std::uint64_t> values(rows);
    fill(values, [](const FieldValue& value) { return value.bits; });
    column = large ? made<std::uint64_t>('L', rows, [&](std::size_t i) { return values[i]; })
                   : made<std::int64_t>('l', rows, [&](std::size_t i) { return values[i]; });
  }
  set_valid(*column, [&](std::size_t i) { return known_rows[i]; });
  return column;
}

const Tables& Columns::tables() {
  if (const Tables* made = made_.load(std::memory_order_acquire)) return *made;
  const std::lock_guard<std::mutex> lock(tables_mutex_);
  if (tables_ == nullptr) {
    tables_ = std::make_shared<const Tables>(
        whole_ == nullptr ? make_tables(*recording_) : select_rows(whole_->tables(), part_));
    made_.store(tables_.get(), std::memory_order_release);
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
  std::shared_ptr<Column> made;
  if (name.substr(0, payload_prefix.size()) == payload_prefix) {
    made = of_payload(table, std::string(name.substr(payload_prefix.size())));
    if (made != nullptr) made->name = name;
    columns_[key] = made;
    return made;
  }
  if (table == "ranges") made = of_ranges(name);
  if (table == "marks") made = of_marks(name);
  if (table == "counters") made = of_counters(name);
  if (table == "threads") made = of_threads(name);
  if (table == "domains") made = of_domains(name);
  if (table == "losses") made = of_losses(name);
  if (made == nullptr) return nullptr;
  made->name = name;
  columns_[key] = made;
  return made;
}

template <typename T, typename Value>
std::shared_ptr<Column> Columns::made(char type, std::size_t rows, Value&& value) {
  auto data = std::make_shared<std::vector<T>>();
  data->reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) data->push_back(static_cast<T>(value(i)));
  auto column = std::make_shared<Column>();
  column->type = type;
  column->data = data->data();
  column->length = rows;
  column->owner = data;
  return column;
}

template <typename T>
std::shared_ptr<Column> Columns::borrowed(char type, const std::vector<T>& data) {
  auto column = std::make_shared<Column>();
  column->type = type;
  column->data = data.data();
  column->length = data.size();
  column->owner = tables_;
  return column;
}

template <typename Is>
void Columns::set_valid(Column& column, Is&& is_valid) {
  auto bits = std::make_shared<std::vector<std::uint8_t>>((column.length + 7) / 8, 0);
  column.null_count = 0;
  for (std::size_t i = 0; i < column.length; ++i) {
    if (is_valid(i)) {
      (*bits)[i / 8] = static_cast<std::uint8_t>((*bits)[i / 8] | 1u << i % 8);
    } else {
      ++column.null_count;
    }
  }
  if (column.null_count != 0) column.validity = std::move(bits);
}

std::shared_ptr<Column> Columns::text(std::size_t rows, std::vector<std::int32_t> indices) {
  const auto largest = std::max_element(indices.begin(), indices.end());
  const std::size_t needed = largest == indices.end() ? 0 : static_cast<std::size_t>(*largest + 1);
  if (dictionary_ == nullptr || dictionary_->offsets.size() <= needed) {
    dictionary_ = make_dictionary(recording_->strings());
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
template <typename Table>
std::shared_ptr<Column> Columns::of_site(const Table& table, std::string_view name) {
  const auto& sites = recording_->sites();
  const std::size_t rows = table.site.size();
  const auto site = [&](std::size_t i) -> const ReadSite& { return sites[table.site[i]]; };
  const auto texts = [&](auto value) {
    std::vector<std::int32_t> indices;
    indices.reserve(rows);
    for (std::size_t i = 0; i < rows; ++i) indices.push_back(value(i));
    return text(rows, std::move(indices));
  };
  if (name == "thread") return borrowed('I', table.thread);
  if (name == "process") {
    return made<std::uint32_t>(
        'I', rows, [&](std::size_t i) { return recording_->threads()[table.thread[i]].process; });
  }
  if (name == "domain") {
    return texts([&](std::size_t i) { return recording_->domains()[site(i).domain]; });
  }
  if (name == "name") return texts([&](std::size_t i) { return site(i).name; });
  if (name == "category_name") return texts([&](std::size_t i) { return site(i).category_name; });
  if (name == "message_type") {
    return made<std::uint8_t>('C', rows, [&](std::size_t i) { return site(i).message_type; });
  }
  if (name == "category") {
    return made<std::uint32_t>('I', rows, [&](std::size_t i) { return site(i).category; });
  }
  if (name == "color") {
    auto column = made<std::uint32_t>('I', rows, [&](std::size_t i) { return site(i).color; });
    set_valid(*column, [&](std::size_t i) { return site(i).has_color; });
    return column;
  }
  if (name == "payload_type") {
    return made<std::uint8_t>('C', rows, [&](std::size_t i) {
      return table.has_payload[i] != 0 ? site(i).own_payload_type() : 0;
    });
  }
  if (name == "payload") return borrowed('L', table.payload);
  if (name == "payload_bytes") return borrowed('I', table.payload_bytes);
  if (name == "payload_value") {
    auto column = made<double>('g', rows, [&](std::size_t i) {
      return payload_value(site(i).own_payload_type(), table.payload[i]);
    });
    set_valid(*column, [&](std::size_t i) {
      return table.has_payload[i] != 0 &&
             site(i).own_payload_type() < static_cast<std::uint8_t>(PayloadType::ext);
    });
    return column;
  }
  return nullptr;
}

std::shared_ptr<Column> Columns::of_ranges(std::string_view name) {
  const RangeTable& ranges = tables().ranges;
  const auto is_closed = [&](std::size_t i) { return ranges.end_reason[i] == 0; };
  if (name == "start") return borrowed('l', ranges.start);
  if (name == "self") return borrowed('l', ranges.self);
  if (name == "end_thread") return borrowed('I', ranges.end_thread);
  if (name == "kind") return borrowed('C', ranges.kind);
  if (name == "depth") return borrowed('I', ranges.depth);
  if (name == "level") return borrowed('I', ranges.level);
  if (name == "range_id") return borrowed('L', ranges.range_id);
  if (name == "end_reason") return borrowed('C', ranges.end_reason);
  if (name == "device" || name == "stream" || name == "launcher") return of_devices(name);
  std::shared_ptr<Column> column;
  if (name == "end") {
    column = borrowed('l', ranges.end);
    set_valid(*column, is_closed);
  } else if (name == "duration") {
    column = made<std::int64_t>('l', ranges.size(),
                                [&](std::size_t i) { return ranges.end[i] - ranges.start[i]; });
    set_valid(*column, is_closed);
  } else if (name == "parent") {
    column = borrowed('l', ranges.parent);
    set_valid(*column, [&](std::size_t i) { return ranges.parent[i] >= 0; });
  } else {
    column = of_site(ranges, name);
  }
  return column;
}

std::shared_ptr<Column> Columns::of_devices(std::string_view name) {
  const RangeTable& ranges = tables().ranges;
  const auto& lanes = tables().lanes.lanes();
  const auto known = [&](std::size_t i) {
    return !ranges.lane.empty() && ranges.lane[i] < lanes.size() &&
           lanes[ranges.lane[i]].device >= 0;
  };
  std::shared_ptr<Column> column;
  if (name == "launcher") {
    const auto launcher = [&](std::size_t i) {
      return ranges.launcher.empty() ? std::int64_t{-1} : ranges.launcher[i];
    };
    column = made<std::int64_t>('l', ranges.size(), launcher);
    set_valid(*column, [&](std::size_t i) { return launcher(i) >= 0; });
    return column;
  }
  if (name == "device") {
    column = made<std::int32_t>('i', ranges.size(), [&](std::size_t i) {
      return known(i) ? lanes[ranges.lane[i]].device : -1;
    });
  } else {
    column = made<std::uint64_t>('L', ranges.size(), [&](std::size_t i) {
      return known(i) ? lanes[ranges.lane[i]].stream : 0;
    });
  }
  set_valid(*column, known);
  return column;
}

std::shared_ptr<Column> Columns::of_marks(std::string_view name) {
  const MarkTable& marks = tables().marks;
  if (name == "time") return borrowed('l', marks.time);
  return of_site(marks, name);
}

std::shared_ptr<Column> Columns::of_counters(std::string_view name) {
  const CounterTable& table = tables().counters;
  const auto& counters = recording_->counters();
  const std::size_t rows = table.time.size();
  const auto counter = [&](std::size_t i) -> const ReadCounter& {
    return counters[table.counter[i]];
  };
  if (name == "time") return borrowed('l', table.time);
  if (name == "thread") return borrowed('I', table.thread);
  if (name == "kind") return borrowed('C', table.kind);
  if (name == "process") {
    return made<std::uint32_t>(
        'I', rows, [&](std::size_t i) { return recording_->threads()[table.thread[i]].process; });
  }
  if (name == "counter") {
    return made<std::uint64_t>('L', rows, [&](std::size_t i) { return counter(i).id; });
  }
  if (name == "domain" || name == "name" || name == "field" || name == "unit") {
    std::vector<std::int32_t> indices;
    for (std::size_t i = 0; i < rows; ++i) {
      const ReadCounter& of = counter(i);
      indices.push_back(name == "name"    ? of.name
                        : name == "field" ? of.field
                        : name == "unit"  ? of.unit
                                          : recording_->domains()[of.domain]);
    }
    return text(rows, std::move(indices));
  }
  std::shared_ptr<Column> column;
  if (name == "value") {
    column = borrowed('g', table.value);
    set_valid(*column, [&](std::size_t i) { return table.kind[i] != 2; });
  } else if (name == "integer") {
    column = borrowed('l', table.integer);
    set_valid(*column, [&](std::size_t i) { return table.kind[i] == 0; });
  }
  return column;
}

std::shared_ptr<Column> Columns::of_threads(std::string_view name) {
  tables();
  const auto& threads = recording_->threads();
  const auto& processes = recording_->processes();
  const std::size_t rows = threads.size();
  if (name == "process") {
    return made<std::uint32_t>('I', rows, [&](std::size_t i) { return threads[i].process; });
  }
  if (name == "pid") {
    return made<std::uint32_t>(
        'I', rows, [&](std::size_t i) { return processes[threads[i].process].header.pid; });
  }
  if (name == "tid") {
    return made<std::uint32_t>('I', rows, [&](std::size_t i) { return threads[i].tid; });
  }
  if (name == "start") {
    return made<std::int64_t>('l', rows, [&](std::size_t i) {
      return processes[threads[i].process].time(threads[i].start_ticks);
    });
  }
  if (name == "end") {
    auto column = made<std::int64_t>('l', rows, [&](std::size_t i) {
      return processes[threads[i].process].time(threads[i].end_ticks);
    });
    set_valid(*column, [&](std::size_t i) { return threads[i].exited; });
    return column;
  }
  if (name == "exited") {
    return made<std::uint8_t>('C', rows, [&](std::size_t i) { return threads[i].exited; });
  }
  if (name == "name") {
    std::vector<std::int32_t> indices;
    for (const ReadThread& thread : threads) indices.push_back(thread.name);
    return text(rows, std::move(indices));
  }
  return nullptr;
}

std::shared_ptr<Column> Columns::of_domains(std::string_view name) {
  if (name != "domain") return nullptr;
  return text(recording_->domains().size(), recording_->domains());
}

std::shared_ptr<Column> Columns::of_losses(std::string_view name) {
  const auto& losses = tables().losses;
  const std::size_t rows = losses.size();
  if (name == "process") {
    return made<std::uint32_t>('I', rows, [&](std::size_t i) { return losses[i].process; });
  }
  if (name == "thread") {
    auto column = made<std::int64_t>('l', rows, [&](std::size_t i) { return losses[i].thread; });
    set_valid(*column, [&](std::size_t i) { return losses[i].thread >= 0; });
    return column;
  }
  if (name == "from") {
    return made<std::int64_t>('l', rows, [&](std::size_t i) { return losses[i].from; });
  }
  if (name == "to") {
    return made<std::int64_t>('l', rows, [&](std::size_t i) { return losses[i].to; });
  }
  if (name == "count") {
    auto column = made<std::uint64_t>('L', rows, [&](std::size_t i) { return losses[i].count; });
    set_valid(*column, [&](std::size_t i) { return losses[i].count != 0; });
    return column;
  }
  if (name == "reason") {
    std::vector<std::int32_t> indices;
    for (const ReadLoss& loss : losses) indices.push_back(recording_->intern(loss.reason));
    return text(rows, std::move(indices));
  }
  return nullptr;
}

}  // namespace nvspan
