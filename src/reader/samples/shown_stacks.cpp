// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/samples/shown_stacks.hpp"

#include <string_view>

namespace nvspan::reader {
namespace {

// A comprehension's frame is one of the function that it is in, which is its caller.
bool is_comprehension(std::string_view function) {
  for (const std::string_view end : {"<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"}) {
    if (function.size() > end.size() && function.substr(function.size() - end.size()) == end) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::uint32_t LinePlaces::number(const SampleTables& tables, std::uint32_t frame) {
  const ReadFrame& read = tables.frames[frame];
  const ReadCode& code = tables.codes[read.code];
  LinePlace place;
  place.file = code.file;
  place.function = code.function;
  place.first_line = code.first_line;
  if (key_ != LineKey::function) place.line = read.line;
  if (key_ == LineKey::expression) {
    place.end_line = read.end_line;
    place.column = read.column;
    place.end_column = read.end_column;
  }
  const std::string_view file = recording_.text(code.file);
  const bool by_line = key_ != LineKey::function && !file.empty() && file.front() != '<';
  const auto found =
      numbers_.emplace(std::make_tuple(place.file, by_line ? no_name : place.function,
                                       by_line ? 0 : place.first_line, place.line, place.end_line,
                                       place.column, place.end_column),
                       static_cast<std::uint32_t>(places_.size()));
  if (found.second) places_.push_back(place);
  return found.first->second;
}

std::vector<bool> hidden_codes(const Recording& recording, const SampleTables& tables, LineKey key,
                               const std::vector<bool>& hidden) {
  std::vector<bool> codes;
  for (const ReadCode& code : tables.codes) {
    const auto file = static_cast<std::size_t>(code.file);
    codes.push_back((file < hidden.size() && hidden[file]) ||
                    (key == LineKey::function && is_comprehension(recording.text(code.function))));
  }
  return codes;
}

ShownStacks::ShownStacks(const SampleTables& tables, LinePlaces& places,
                         const std::vector<bool>& hidden)
    : place(tables.stacks.size()),
      is_hidden(place.size()),
      is_bare(place.size()),
      self(place.size(), none) {
  std::vector<std::uint32_t> place_of(tables.frames.size(), none);
  for (std::size_t i = 0; i < place.size(); ++i) {
    const ReadStack& stack = tables.stacks[i];
    std::uint32_t& number = place_of[stack.frame];
    if (number == none) number = places.number(tables, stack.frame);
    place[i] = number;
    is_hidden[i] = hidden[tables.frames[stack.frame].code];
    is_bare[i] = is_hidden[i] && (stack.parent == 0 || is_bare[stack.parent]);
    self[i] = is_hidden[i] && !is_bare[i] ? self[stack.parent] : number;
  }
}

}  // namespace nvspan::reader
