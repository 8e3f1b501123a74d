// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/sqlite/rows.hpp"

#include <algorithm>

namespace nvspan::reader {
namespace {

constexpr std::uint8_t interior_page = 5, leaf_page = 13;
constexpr std::size_t most_depth = 40;
constexpr std::size_t most_record = std::size_t{1} << 30;

[[noreturn]] void damaged(std::uint32_t page) {
  throw SqliteError("damaged: page " + std::to_string(page));
}

std::uint32_t two(const std::uint8_t* at) noexcept {
  return static_cast<std::uint32_t>(at[0]) << 8 | at[1];
}
std::uint32_t four(const std::uint8_t* at) noexcept { return two(at) << 16 | two(at + 2); }

// Null: the bytes end before it does.
const std::uint8_t* read_varint(const std::uint8_t* at, const std::uint8_t* end,
                                std::uint64_t& value) noexcept {
  value = 0;
  for (int i = 0; i < 8; ++i) {
    if (at >= end) return nullptr;
    value = value << 7 | (*at & 0x7F);
    if ((*at++ & 0x80) == 0) return at;
  }
  if (at >= end) return nullptr;
  value = value << 8 | *at;
  return at + 1;
}

constexpr std::uint8_t sizes[10] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};

std::uint64_t bytes_of(std::uint64_t type) noexcept {
  return type < 10 ? sizes[type] : type < 12 ? 0 : (type - 12) / 2;
}

// The database's header stands before the first page's own.
std::size_t header_at(std::uint32_t page) noexcept { return page == 1 ? 100 : 0; }

}  // namespace

SqliteRows::SqliteRows(SqlitePages& pages, std::uint32_t root) : pages_(pages), root_(root) {
  descend(root);
}

std::uint64_t SqliteRows::last_id() {
  std::uint32_t number = root_;
  for (std::size_t depth = 0; depth <= most_depth; ++depth) {
    const std::uint8_t* page = pages_.page(number);
    const std::size_t header = header_at(number);
    if (page[header] == interior_page) {
      number = four(page + header + 8);
      continue;
    }
    const std::size_t cells = two(page + header + 3);
    if (cells == 0 || header + 8 + 2 * cells > pages_.usable_bytes()) return 0;
    const std::size_t at = two(page + header + 8 + 2 * (cells - 1));
    const std::uint8_t* end = page + pages_.usable_bytes();
    std::uint64_t payload = 0, id = 0;
    const std::uint8_t* next = page + at < end ? read_varint(page + at, end, payload) : nullptr;
    return next != nullptr && read_varint(next, end, id) != nullptr ? id : 0;
  }
  damaged(root_);
}

// To the first leaf below a page.
void SqliteRows::descend(std::uint32_t number) {
  for (;;) {
    if (above_.size() > most_depth || ++visited_ > 2 * std::uint64_t{pages_.count()}) {
      damaged(number);
    }
    const std::uint8_t* page = pages_.page(number);
    const std::size_t header = header_at(number);
    const std::uint32_t cells = two(page + header + 3);
    if (page[header] == leaf_page) {
      if (header + 8 + 2 * std::size_t{cells} > pages_.usable_bytes()) damaged(number);
      leaf_ = number;
      cell_ = 0;
      cells_ = cells;
      return;
    }
    if (page[header] != interior_page ||
        header + 12 + 2 * std::size_t{cells} > pages_.usable_bytes()) {
      damaged(number);
    }
    above_.push_back({number});
    Step& step = above_.back();
    if (cells == 0) {
      number = four(page + header + 8);
    } else {
      const std::size_t at = two(page + header + 12);
      if (at + 4 > pages_.usable_bytes()) damaged(number);
      number = four(page + at);
    }
    step.cell = 1;
  }
}

bool SqliteRows::next() {
  while (cell_ == cells_) {
    if (above_.empty()) return false;
    Step& step = above_.back();
    const std::uint8_t* page = pages_.page(step.page);
    const std::size_t header = header_at(step.page);
    const std::uint32_t cells = two(page + header + 3);
    if (step.cell > cells) {
      above_.pop_back();
      continue;
    }
    std::uint32_t child = 0;
    if (step.cell == cells) {
      child = four(page + header + 8);
    } else {
      const std::size_t at = two(page + header + 12 + 2 * std::size_t{step.cell});
      if (at + 4 > pages_.usable_bytes()) damaged(step.page);
      child = four(page + at);
    }
    ++step.cell;
    descend(child);
  }
  const std::uint8_t* page = pages_.page(leaf_);
  const std::size_t at = two(page + header_at(leaf_) + 8 + 2 * std::size_t{cell_});
  ++cell_;
  read_cell(leaf_, page, at);
  return true;
}

void SqliteRows::read_cell(std::uint32_t number, const std::uint8_t* page, std::size_t at) {
  const std::size_t usable = pages_.usable_bytes();
  if (at >= usable) damaged(number);
  const std::uint8_t* end = page + usable;
  std::uint64_t payload = 0, id = 0;
  const std::uint8_t* content = read_varint(page + at, end, payload);
  if (content != nullptr) content = read_varint(content, end, id);
  const std::uint64_t whole_file = std::uint64_t{pages_.count()} * pages_.page_bytes();
  if (content == nullptr || payload > std::min<std::uint64_t>(most_record, whole_file)) {
    damaged(number);
  }
  id_ = static_cast<std::int64_t>(id);
  if (payload <= usable - 35) {
    if (payload > static_cast<std::uint64_t>(end - content)) damaged(number);
    return read_record(content, payload);
  }
  // The rest of a long record is a chain of pages, each with the number of the next.
  const std::size_t least = (usable - 12) * 32 / 255 - 23;
  std::size_t here = least + (payload - least) % (usable - 4);
  if (here > usable - 35) here = least;
  if (here + 4 > static_cast<std::size_t>(end - content)) damaged(number);
  whole_.assign(content, content + here);
  std::uint32_t further = four(content + here);
  while (whole_.size() < payload) {
    const std::uint8_t* more = pages_.page(further);
    const std::size_t take = std::min<std::size_t>(usable - 4, payload - whole_.size());
    whole_.insert(whole_.end(), more + 4, more + 4 + take);
    further = four(more);
  }
  whole_.resize(static_cast<std::size_t>(payload) + SqlitePages::padding);
  read_record(whole_.data(), payload);
}

void SqliteRows::read_record(const std::uint8_t* at, std::size_t bytes) {
  std::uint64_t header = 0;
  const std::uint8_t* types = read_varint(at, at + bytes, header);
  if (types == nullptr || header > bytes || types > at + header) damaged(leaf_);
  std::uint64_t hash = header;
  for (std::size_t i = 0; i < header; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at + i, sizeof word);  // the buffer has padding
    if (header - i < 8) word &= (std::uint64_t{1} << 8 * (header - i)) - 1;
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  }
  SqliteShape& shape = shapes_[hash >> 56];
  const bool known = shape.header.size() == header &&
                     std::memcmp(shape.header.data(), at, static_cast<std::size_t>(header)) == 0;
  if (!known) read_shape(shape, at, static_cast<std::size_t>(header));
  if (shape.content_bytes > bytes - header) damaged(leaf_);
  shape_ = &shape;
  content_ = at + header;
}

void SqliteRows::read_shape(SqliteShape& shape, const std::uint8_t* at, std::size_t header) {
  shape.header.clear();
  shape.values.clear();
  std::uint64_t size = 0;
  const std::uint8_t* const end = at + header;
  const std::uint8_t* types = read_varint(at, end, size);
  std::size_t offset = 0;
  while (types < end) {
    std::uint64_t type = 0;
    types = read_varint(types, end, type);
    if (types == nullptr) damaged(leaf_);
    const std::uint64_t bytes = bytes_of(type);
    if (bytes > most_record - offset) damaged(leaf_);
    shape.values.push_back({type, offset, static_cast<std::size_t>(bytes)});
    offset += static_cast<std::size_t>(bytes);
  }
  shape.content_bytes = offset;
  shape.header.assign(at, end);
  shape.number = ++shapes_met_;
}

}  // namespace nvspan::reader
