// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/sqlite/create_table.hpp"

#include <cctype>
#include <cstddef>
#include <utility>

namespace nvspan::reader {
namespace {

struct Word {
  std::string text;
  bool is_quoted = false;
};

// Words, names in quotes and single signs; comments are left out.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  // False at the end.
  bool next(Word& word) {
    skip();
    if (at_ >= text_.size()) return false;
    word = Word();
    const char first = text_[at_];
    if (first == '"' || first == '`' || first == '\'' || first == '[') {
      const char last = first == '[' ? ']' : first;
      word.is_quoted = true;
      for (++at_; at_ < text_.size(); ++at_) {
        if (text_[at_] == last) {
          ++at_;
          if (at_ >= text_.size() || text_[at_] != last || last == ']') break;
        }
        word.text += text_[at_];
      }
      return true;
    }
    while (at_ < text_.size() && is_letter(text_[at_])) word.text += text_[at_++];
    if (word.text.empty()) word.text = text_[at_++];
    return true;
  }

 private:
  static bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
  }

  void skip() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (std::isspace(static_cast<unsigned char>(rest[0])) != 0) {
        ++at_;
      } else if (rest.substr(0, 2) == "--") {
        const std::size_t end = text_.find('\n', at_);
        at_ = end == std::string_view::npos ? text_.size() : end;
      } else if (rest.substr(0, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is(const Word& word, std::string_view name) {
  if (word.is_quoted || word.text.size() != name.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::toupper(static_cast<unsigned char>(word.text[i])) != name[i]) return false;
  }
  return true;
}

bool begins_constraint(const Word& word) {
  for (const char* name : {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"}) {
    if (is(word, name)) return true;
  }
  return false;
}

// One column, or a constraint of the table.
void read_definition(const std::vector<Word>& words, SqliteColumns& columns) {
  if (words.empty() || begins_constraint(words[0])) return;
  std::string type;
  bool is_key = false, is_integer = words.size() > 1 && is(words[1], "INTEGER");
  if (words.size() > 1) type = words[1].text;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    is_key = is_key || (is(words[i], "PRIMARY") && is(words[i + 1], "KEY"));
  }
  if (is_key && is_integer) columns.row_id = static_cast<int>(columns.names.size());
  columns.names.push_back(words[0].text);
  columns.types.push_back(std::move(type));
}

}  // namespace

SqliteColumns read_create_table(std::string_view statement) {
  SqliteColumns columns;
  Words words(statement);
  Word word;
  while (words.next(word) && !is(word, "(")) {
  }
  std::vector<Word> definition;
  for (int depth = 1; depth > 0 && words.next(word);) {
    if (is(word, "(")) ++depth;
    if (is(word, ")")) --depth;
    if (depth == 0 || (depth == 1 && is(word, ","))) {
      read_definition(definition, columns);
      definition.clear();
    } else {
      definition.push_back(word);
    }
  }
  while (words.next(word)) {
    if (is(word, "WITHOUT")) columns.has_row_ids = false;
  }
  return columns;
}

}  // namespace nvspan::reader
