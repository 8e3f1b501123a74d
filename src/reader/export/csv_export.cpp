// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/export/csv_export.hpp"

#include "core/text/number_text.hpp"
#include "core/text/utf8.hpp"
#include "reader/export/output_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::size_t progress_rows = 1 << 16;

// What a spreadsheet would take for the begin of a formula, in narrow and in full width, or what it
// skips before one.
bool begins_formula(std::string_view text) {
  std::uint32_t first = 0;
  if (core::decode_utf8(text, first) == 0) return false;
  for (const std::uint32_t known : {'=', '+', '-', '@', '\t', '\r', '\n'}) {
    if (first == known) return true;
  }
  return first == 0xFF1D || first == 0xFF0B || first == 0xFF0D || first == 0xFF20;
}

class TextFields {
 public:
  explicit TextFields(bool escape_formulas) : escape_formulas_(escape_formulas) {}

  std::string operator()(std::string_view text) const {
    std::string field = core::repaired_utf8(text);
    if (escape_formulas_ && begins_formula(field)) field.insert(0, 1, '\'');
    if (field.find_first_of(",\"\n\r") == std::string::npos) return field;
    std::string quoted(1, '"');
    for (const char byte : field) {
      if (byte == '"') quoted += '"';
      quoted += byte;
    }
    return quoted + '"';
  }

 private:
  bool escape_formulas_;
};

template <typename Integer>
void add_integer(std::string& out, Integer value) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, value);
  out.append(text, end.ptr);
}

// A column, and how its values are written.
class CsvField {
 public:
  CsvField(std::shared_ptr<const Column> column, const ColumnWords& words,
           const std::vector<std::string>& texts)
      : column_(std::move(column)), texts_(column_->dictionary == nullptr ? nullptr : &texts) {
    const auto found = words.find(column_->name);
    if (found == words.end()) return;
    for (const std::string& word : found->second) words_.push_back(word);
  }

  const std::string& name() const { return column_->name; }

  void add(std::string& out, std::size_t row) const {
    const auto& valid = column_->validity;
    if (valid != nullptr && ((*valid)[row / 8] >> row % 8 & 1) == 0) return;
    switch (column_->type) {
      case 'C':
        return add_number(out, value<std::uint8_t>(row));
      case 'i':
        if (texts_ == nullptr) return add_number(out, value<std::int32_t>(row));
        if (value<std::int32_t>(row) >= 0) {
          out += (*texts_)[static_cast<std::size_t>(value<std::int32_t>(row))];
        }
        return;
      case 'I':
        return add_number(out, value<std::uint32_t>(row));
      case 'L':
        return add_number(out, value<std::uint64_t>(row));
      case 'g':
        out += core::NumberText(value<double>(row)).view();
        return;
      default:
        return add_number(out, value<std::int64_t>(row));
    }
  }

 private:
  template <typename T>
  T value(std::size_t row) const {
    return static_cast<const T*>(column_->data)[row];
  }
  template <typename Integer>
  void add_number(std::string& out, Integer number) const {
    if (words_.empty()) return add_integer(out, number);
    out += words_[std::min<std::size_t>(static_cast<std::size_t>(number), words_.size() - 1)];
  }

  std::shared_ptr<const Column> column_;
  const std::vector<std::string>* texts_;
  std::vector<std::string> words_;
};

}  // namespace

void export_csv(Columns& columns, const std::string& table, const std::string& path,
                const ColumnWords& words, const std::function<void(std::size_t)>& progress,
                bool escape_formulas) {
  const TextFields field_of(escape_formulas);
  const std::size_t rows = columns.rows(table);
  OutputFile file(path);
  std::string& out = file.buffer();
  std::vector<std::string> texts;
  std::vector<CsvField> fields;
  for (const std::string& name : columns.names(table)) {
    fields.emplace_back(columns.column(table, name), words, texts);
    out += field_of(fields.back().name()) + ',';
  }
  const core::TextTable& strings = columns.recording().strings();
  for (std::size_t i = 0, count = strings.size(); i < count; ++i) {
    texts.push_back(field_of(strings[i]));
  }
  out += "pid,tid\n";

  const auto* const thread =
      static_cast<const std::uint32_t*>(columns.column(table, "thread")->data);
  std::vector<std::string> owners;
  for (const ReadThread& of : columns.recording().threads()) {
    const std::uint32_t pid = columns.recording().processes()[of.process].header.pid;
    owners.push_back(std::to_string(pid) + ',' + std::to_string(of.tid) + '\n');
  }
  for (std::size_t row = 0; row < rows; ++row) {
    for (const CsvField& field : fields) {
      field.add(out, row);
      out += ',';
    }
    out += owners[thread[row]];
    file.flush_when_full();
    if (progress && (row + 1) % progress_rows == 0) progress(row + 1);
  }
  file.finish();
}

}  // namespace nvspan::reader
