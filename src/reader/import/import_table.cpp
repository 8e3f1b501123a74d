// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/import/import_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::uint32_t none = 0xFFFFFFFF;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

// Numbers by the hash of a key; equal keys are told apart by whoever asks.
class RowSlots {
 public:
  explicit RowSlots(std::size_t expected) {
    std::size_t size = 64;
    while (size < 2 * expected) size *= 2;
    slots_.assign(size, none);
  }
  // The number that is there and passes `is_it`, or the free place for one.
  template <typename IsIt>
  std::uint32_t& find(std::uint64_t hash, IsIt&& is_it) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      if (slots_[at] == none || is_it(slots_[at])) return slots_[at];
    }
  }
  bool is_full(std::size_t numbers) const noexcept { return 2 * numbers >= slots_.size(); }

 private:
  std::vector<std::uint32_t> slots_;
};

class Grouping {
 public:
  Grouping(const std::vector<const ImportColumn*>& keys,
           const std::vector<const ImportColumn*>& given)
      : slots_(64), row_(keys.size()) {
    for (std::size_t i = 0; i < keys.size(); ++i) add(keys[i], i, true);
    for (std::size_t i = 0; i < given.size(); ++i) add(given[i], keys.size() + i, false);
  }

  std::uint32_t group_of(std::size_t row) {
    std::uint64_t given = always_, hash = 0;
    for (const Key& key : keys_) {
      const std::int64_t value = key.values[row];
      row_[key.at] = value;
      hash = mixed(hash, static_cast<std::uint64_t>(value));
    }
    for (const Presence& presence : presences_) {
      given |= static_cast<std::uint64_t>(presence.present[row] != 0) << presence.at;
    }
    hash = mixed(hash, given);
    if (hash == last_hash_ && is_group(last_, given)) return last_;
    std::uint32_t& slot =
        slots_.find(hash, [&](std::uint32_t number) { return is_group(number, given); });
    if (slot == none) {
      slot = static_cast<std::uint32_t>(groups.size());
      ImportGroup group;
      group.keys = row_;
      group.given = given;
      groups.push_back(std::move(group));
      hashes_.push_back(hash);
    }
    last_ = slot;
    last_hash_ = hash;
    if (slots_.is_full(groups.size())) grow();
    return last_;
  }

  std::vector<ImportGroup> groups;

 private:
  struct Key {
    const std::int64_t* values;
    std::size_t at;
  };
  struct Presence {
    const std::uint8_t* present;
    std::size_t at;
  };

  void add(const ImportColumn* column, std::size_t at, bool is_key) {
    if (column == nullptr || column->empty()) return;
    if (is_key && !column->integers.empty()) keys_.push_back({column->integers.data(), at});
    if (column->present.empty()) {
      always_ |= std::uint64_t{1} << at;
    } else {
      presences_.push_back({column->present.data(), at});
    }
  }
  bool is_group(std::uint32_t number, std::uint64_t given) const {
    return number < groups.size() && groups[number].given == given && groups[number].keys == row_;
  }
  void grow() {
    slots_ = RowSlots(2 * groups.size());
    for (std::uint32_t i = 0; i < groups.size(); ++i) {
      slots_.find(hashes_[i], [](std::uint32_t) { return false; }) = i;
    }
  }

  std::vector<Key> keys_;
  std::vector<Presence> presences_;
  std::uint64_t always_ = 0;
  RowSlots slots_;
  std::vector<std::int64_t> row_;
  std::uint32_t last_ = none;
  std::uint64_t last_hash_ = 0;
  std::vector<std::uint64_t> hashes_;
};

std::int64_t integer(const ImportColumn* column, std::size_t row) noexcept {
  return column == nullptr || column->integers.empty() ? 0 : column->integers[row];
}

}  // namespace

ImportColumn& ImportTable::add_column(std::string name, ImportKind kind) {
  return columns_.emplace_back(std::move(name), kind);
}

ImportColumn* ImportTable::find(std::string_view name) noexcept {
  for (ImportColumn& column : columns_) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

ImportColumn& ImportTable::at(std::string_view name) {
  ImportColumn* column = find(name);
  if (column == nullptr) throw std::out_of_range("no column " + std::string(name));
  return *column;
}

std::vector<ImportGroup> ImportTable::group(const std::vector<std::string>& keys,
                                            const std::vector<std::string>& given) {
  if (keys.size() + given.size() > 64) throw std::length_error("more than 64 columns");
  if (rows >= none) throw std::length_error("too many rows");
  std::vector<const ImportColumn*> of_keys, of_given;
  of_keys.reserve(keys.size());
  of_given.reserve(given.size());
  for (const std::string& key : keys) of_keys.push_back(find(key));
  for (const std::string& column : given) of_given.push_back(find(column));
  Grouping grouping(of_keys, of_given);
  std::vector<std::uint32_t> group_of(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t group = grouping.group_of(row);
    group_of[row] = group;
    ++grouping.groups[group].end;
  }
  std::size_t at = 0;
  std::vector<std::size_t> next;
  next.reserve(grouping.groups.size());
  for (ImportGroup& group : grouping.groups) {
    group.begin = at;
    at += group.end;
    group.end = at;
    next.push_back(group.begin);
  }
  if (grouping.groups.size() > 1) {
    std::vector<std::uint32_t> order(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      order[next[group_of[row]]++] = static_cast<std::uint32_t>(row);
    }
    for (ImportColumn& column : columns_) {
      const bool is_key = std::find(of_keys.begin(), of_keys.end(), &column) != of_keys.end();
      if (!is_key) column.reorder(order);
    }
  }
  for (const std::string& key : keys) {
    if (ImportColumn* column = find(key)) *column = ImportColumn(key, column->kind);
  }
  return std::move(grouping.groups);
}

void ImportTable::look_up(const std::string& name, const std::string& column,
                          const std::vector<std::int64_t>& ids,
                          const std::vector<std::int64_t>& values, std::int64_t otherwise) {
  if (ids.size() != values.size()) throw std::length_error("ids and values of different length");
  std::unordered_map<std::int64_t, std::int64_t> map;
  map.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) map.emplace(ids[i], values[i]);
  const ImportColumn* from = find(column);
  ImportColumn& into = add_column(name, ImportKind::integer);
  into.integers.reserve(rows);
  bool has_last = false;
  std::int64_t last = 0, found = otherwise;
  for (std::size_t row = 0; row < rows; ++row) {
    if (from == nullptr || !from->has(row)) {
      into.integers.push_back(otherwise);
      continue;
    }
    const std::int64_t id = integer(from, row);
    if (!has_last || id != last) {
      const auto at = map.find(id);
      found = at == map.end() ? otherwise : at->second;
      last = id;
      has_last = true;
    }
    into.integers.push_back(found);
  }
}

void ImportTable::join(const std::vector<std::string>& names, const std::string& first_key,
                       const std::string& second_key, ImportTable& of,
                       const std::string& of_first_key, const std::string& of_second_key,
                       std::int64_t mask, const std::vector<std::string>& columns) {
  if (names.size() != columns.size()) throw std::length_error("names and columns differ in length");
  if (of.rows >= none) throw std::length_error("too many rows");
  const ImportColumn &first = at(first_key), &second = at(second_key);
  const ImportColumn &of_first = of.at(of_first_key), &of_second = of.at(of_second_key);
  std::vector<const ImportColumn*> from;
  std::vector<ImportColumn*> into;
  for (std::size_t i = 0; i < names.size(); ++i) {
    from.push_back(of.find(columns[i]));
    into.push_back(&add_column(names[i], ImportKind::integer));
  }
  const auto hash = [](std::int64_t a, std::int64_t b) {
    return mixed(mixed(0, static_cast<std::uint64_t>(a)), static_cast<std::uint64_t>(b));
  };
  const auto is = [&](std::uint32_t row, std::int64_t a, std::int64_t b) {
    return (integer(&of_first, row) & mask) == a && integer(&of_second, row) == b;
  };
  RowSlots slots(of.rows);
  for (std::uint32_t row = 0; row < of.rows; ++row) {
    const std::int64_t a = integer(&of_first, row) & mask, b = integer(&of_second, row);
    std::uint32_t& slot =
        slots.find(hash(a, b), [&](std::uint32_t other) { return is(other, a, b); });
    if (slot == none) slot = row;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int64_t a = integer(&first, row) & mask, b = integer(&second, row);
    const std::uint32_t slot =
        first.has(row) && second.has(row)
            ? slots.find(hash(a, b), [&](std::uint32_t other) { return is(other, a, b); })
            : none;
    for (std::size_t i = 0; i < into.size(); ++i) {
      if (slot != none && from[i] != nullptr && from[i]->has(slot)) {
        into[i]->add(row, integer(from[i], slot));
      }
    }
  }
  for (ImportColumn* column : into) column->finish(rows);
}

void ImportTable::replace(const std::string& name, std::int64_t value, std::int64_t by) {
  ImportColumn* found = find(name);
  ImportColumn& column = found == nullptr ? add_column(name, ImportKind::integer) : *found;
  if (column.integers.empty()) {
    column.integers.assign(rows, by);
  } else {
    for (std::size_t row = 0; row < rows; ++row) {
      std::int64_t& own = column.integers[row];
      if (own == value || !column.has(row)) own = by;
    }
  }
  column.present.clear();
}

void ImportTable::keep_bits(const std::string& column, std::int64_t mask) {
  for (std::int64_t& value : at(column).integers) value &= mask;
}

}  // namespace nvspan::reader
