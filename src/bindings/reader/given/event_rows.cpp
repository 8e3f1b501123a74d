// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/support/py.hpp"

#include "bindings/reader/given/event_rows.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

constexpr std::uint8_t plain_message = 1;  // SiteDefinition::message_type: ASCII or UTF-8
constexpr std::int64_t largest_word = 0xFFFFFFFF;

[[noreturn]] void refuse(const GivenColumn& column, std::size_t row, const std::string& value,
                         const std::string& why) {
  throw std::invalid_argument(std::string(column.name()) +
                              (column.rows() ? "[" + std::to_string(row) + "]" : std::string()) +
                              " " + why + ", not " + value);
}

std::string text_of_number(const GivenColumn& column, std::int64_t value) {
  return column.is_unsigned64() ? std::to_string(static_cast<std::uint64_t>(value))
                                : std::to_string(value);
}

// Calls `use` with row and value of each row, in blocks.
template <typename Use>
void each(const GivenColumn& column, std::size_t rows, Use&& use) {
  if (!column.is_given()) return;
  std::int64_t values[given_block];
  for (std::size_t begin = 0; begin < rows; begin += given_block) {
    const std::size_t count = std::min(given_block, rows - begin);
    column.integers(begin, count, values);
    for (std::size_t i = 0; i < count; ++i) use(begin + i, values[i]);
    if (column.is_scalar()) return;
  }
}

void check_numbers(const GivenColumn& column, std::size_t rows, std::int64_t most,
                   const char* why) {
  each(column, rows, [&](std::size_t row, std::int64_t value) {
    const bool in_range = value >= 0 && value <= most;
    const bool absent = value == -1 && !column.is_unsigned64();
    if (!in_range && !absent) refuse(column, row, text_of_number(column, value), why);
  });
}

}  // namespace

GivenFields::GivenFields(const py::kwargs& given) {
  for (const auto& item : given) left_[item.first] = item.second;
}

py::object GivenFields::take(const char* name) {
  return left_.contains(name) ? py::object(left_.attr("pop")(name)) : py::object(py::none());
}

void GivenFields::end() const {
  for (const auto& item : left_) {
    throw py::type_error("unexpected keyword argument '" + std::string(py::str(item.first)) + "'");
  }
}

std::size_t rows_of(std::initializer_list<const GivenColumn*> columns) {
  const char* first_name = nullptr;
  std::optional<std::size_t> first;
  for (const GivenColumn* column : columns) {
    const std::optional<std::size_t> rows = column->rows();
    if (!rows) continue;
    if (!first) {
      first = rows;
      first_name = column->name();
    } else if (*first != *rows) {
      throw std::invalid_argument(std::string(first_name) + " has " + std::to_string(*first) +
                                  " rows and " + column->name() + " has " + std::to_string(*rows));
    }
  }
  return first.value_or(1);
}

SiteRows::SiteRows(record::ExternalWriter& writer, std::uint32_t domain, const Columns& columns,
                   trace::PayloadType payload, std::uint8_t device)
    : writer_(writer),
      process_(writer.process(writer.domain_place(domain).process)),
      columns_(columns),
      same_but_name_(!columns.category.rows() && !columns.color.rows()) {
  common_.domain = writer.domain_place(domain).number;
  common_.payload_type = static_cast<std::uint8_t>(payload);
  common_.device = device;
}

void SiteRows::check(std::size_t rows) const {
  const auto texts = static_cast<std::int64_t>(writer_.texts());
  each(columns_.name, rows, [&](std::size_t row, std::int64_t value) {
    if ((value < 0 || value >= texts) && value != -1 && value != largest_word) {
      refuse(columns_.name, row, text_of_number(columns_.name, value),
             "must be a number that strings() returned");
    }
  });
  check_numbers(columns_.category, rows, largest_word, "must be a category of 0 to 2**32 - 1");
  check_numbers(columns_.color, rows, largest_word, "must be an ARGB color of 0 to 2**32 - 1");
}

std::uint32_t SiteRows::site(const Row& row) {
  record::SiteDefinition site = common_;
  const bool named = columns_.name.is_given() && row.name >= 0 && row.name != largest_word;
  site.message = named ? static_cast<std::uint32_t>(row.name) : record::no_string;
  site.message_type = named ? plain_message : 0;
  site.category = columns_.category.is_given() && row.category > 0
                      ? static_cast<std::uint32_t>(row.category)
                      : 0;
  site.has_color = columns_.color.is_given() && row.color >= 0;
  site.color = site.has_color != 0 ? static_cast<std::uint32_t>(row.color) : 0;
  return process_.site(site);
}

void SiteRows::sites(std::size_t begin, std::size_t count, std::uint32_t* out) {
  std::int64_t names[given_block], categories[given_block], colors[given_block];
  const auto read = [&](const GivenColumn& column, std::int64_t* values) {
    if (column.is_given())
      column.integers(begin, count, values);
    else
      std::fill(values, values + count, -1);
  };
  read(columns_.name, names);
  constexpr std::size_t few = 64;
  if (same_but_name_ && !columns_.name.rows()) {
    read(columns_.category, categories);
    read(columns_.color, colors);
    std::fill(out, out + count, site(Row{names[0], categories[0], colors[0]}));
    return;
  }
  if (same_but_name_ && count > few) {
    std::int64_t category = -1, color = -1;
    if (columns_.category.is_given()) columns_.category.integers(0, 1, &category);
    if (columns_.color.is_given()) columns_.color.integers(0, 1, &color);
    const std::size_t texts = writer_.texts();
    if (by_name_.empty()) by_name_.assign(texts + 1, 0);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t place =
          names[i] >= 0 && names[i] != largest_word ? static_cast<std::size_t>(names[i]) : texts;
      std::uint32_t& known = by_name_[place];
      if (known == 0) known = 1 + site(Row{names[i], category, color});
      out[i] = known - 1;
    }
    return;
  }
  read(columns_.category, categories);
  read(columns_.color, colors);
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    const std::uint64_t hash =
        (bits(names[i]) ^ bits(categories[i]) << 20 ^ bits(colors[i]) << 40) * 0x9E3779B97F4A7C15u;
    Known& known = known_[hash >> 56];
    if (names[i] != known.row.name || categories[i] != known.row.category ||
        colors[i] != known.row.color) {
      known.row = Row{names[i], categories[i], colors[i]};
      known.site = site(known.row);
    }
    out[i] = known.site;
  }
}

void TimeRows::read(std::size_t begin, std::size_t count, std::int64_t* out,
                    bool may_be_open) const {
  column_.integers(begin, count, out);
  std::uint64_t wrong = 0;
  constexpr std::int64_t last = INT64_MAX;
  const bool is_unsigned = column_.is_unsigned64();
  for (std::size_t i = 0; i < count; ++i) {
    wrong |= static_cast<std::uint64_t>(out[i] == not_ended) |
             static_cast<std::uint64_t>(out[i] == last) |
             static_cast<std::uint64_t>(is_unsigned && out[i] < 0);
  }
  for (std::size_t i = 0; wrong != 0 && i < count; ++i) {
    const bool open = out[i] == not_ended && may_be_open && !is_unsigned;
    if (open || (out[i] != not_ended && out[i] != last && !(is_unsigned && out[i] < 0))) continue;
    refuse(column_, begin + i, text_of_number(column_, out[i]),
           "must be a time in ns between -2**63 + 1 and 2**63 - 2");
  }
  if (clock_ == nullptr) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (out[i] != not_ended) out[i] = clock_->ns(out[i]);
  }
}

}  // namespace nvspan::bindings
