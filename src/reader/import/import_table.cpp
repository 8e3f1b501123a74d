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

// A value for each of some numbers, which mostly count from 0.
class NumberMap {
 public:
  NumberMap(const std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& values,
            std::int64_t otherwise)
      : otherwise_(otherwise) {
    const auto most = static_cast<std::int64_t>(4 * ids.size() + 64);
    std::int64_t last = -1;
    bool is_dense = true;
    for (const std::int64_t id : ids) {
      is_dense = is_dense && id >= 0 && id < most;
      last = std::max(last, id);
    }
    if (!is_dense) {
      for (std::size_t i = 0; i < ids.size(); ++i) map_.emplace(ids[i], values[i]);
      return;
    }
    dense_.assign(static_cast<std::size_t>(last + 1), otherwise);
    for (std::size_t i = ids.size(); i-- != 0;) {
      dense_[static_cast<std::size_t>(ids[i])] = values[i];
    }
  }

  std::int64_t operator[](std::int64_t id) const {
    if (map_.empty()) {
      const auto place = static_cast<std::uint64_t>(id);
      return place < dense_.size() ? dense_[static_cast<std::size_t>(place)] : otherwise_;
    }
    const auto at = map_.find(id);
    return at == map_.end() ? otherwise_ : at->second;
  }

 private:
  std::int64_t otherwise_;
  std::vector<std::int64_t> dense_;  // by id
  std::unordered_map<std::int64_t, std::int64_t> map_;
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

void ImportTable::clear() {
  for (ImportColumn& column : columns_) column.clear();
  rows = 0;
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
  group_of_.resize(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint32_t group = grouping.group_of(row);
    group_of_[row] = group;
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
    order_.resize(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      order_[next[group_of_[row]]++] = static_cast<std::uint32_t>(row);
    }
    for (ImportColumn& column : columns_) {
      const bool is_key = std::find(of_keys.begin(), of_keys.end(), &column) != of_keys.end();
      if (!is_key) column.reorder(order_, spare_);
    }
  }
  for (const std::string& key : keys) {
    if (ImportColumn* column = find(key)) column->clear();
  }
  return std::move(grouping.groups);
}

void ImportTable::look_up(const std::string& name, const std::string& column,
                          const std::vector<std::int64_t>& ids,
                          const std::vector<std::int64_t>& values, std::int64_t otherwise) {
  if (ids.size() != values.size()) throw std::length_error("ids and values of different length");
  const NumberMap map(ids, values, otherwise);
  const ImportColumn* from = find(column);
  ImportColumn* known = find(name);
  ImportColumn& into = known == nullptr ? add_column(name, ImportKind::integer) : *known;
  into.clear();
  if (from == nullptr || from->empty()) {
    into.integers.assign(rows, otherwise);
    return;
  }
  into.integers.resize(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    into.integers[row] = from->has(row) ? map[integer(from, row)] : otherwise;
  }
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

}  // namespace nvspan::reader
