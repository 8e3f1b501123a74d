// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "lines/stack_names.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace nvspan::lines {

StackNames::StackNames(MemoryCopier& copier, const Interpreter& interpreter)
    : copier_(copier), interpreter_(interpreter), c_functions_(copier, interpreter.layout) {
  if (interpreter.deaths != nullptr) {
    deaths_seen_ = interpreter.deaths->count.load(std::memory_order_acquire);
  }
}

std::size_t StackNames::FrameHash::operator()(const FrameKey& key) const noexcept {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
  const Position& at = key.position;
  std::uint64_t hash = (std::uint64_t{key.code} << 32 | at.line) * odd;
  hash = (hash ^ hash >> 32 ^
          (std::uint64_t{at.end_line} << 32 | std::uint32_t{at.column} << 16 | at.end_column) ^
          std::uint64_t{key.c_function} << 40) *
         odd;
  return static_cast<std::size_t>(hash ^ hash >> 29);
}

void StackNames::forget(Address address) {
  const auto found = places_.find(address);
  if (found == places_.end()) return;
  codes_[found->second] = KnownCode{};
  free_places_.push_back(found->second);
  places_.erase(found);
}

void StackNames::forget_freed(PythonThread& thread) {
  const Deaths* const deaths = interpreter_.deaths;
  ++round_;
  if (deaths == nullptr) return;
  const std::uint64_t now = deaths->count.load(std::memory_order_acquire);
  if (now - deaths_seen_ >= Deaths::kept / 2) {
    places_.clear();
    codes_.clear();
    free_places_.clear();
  } else {
    for (; deaths_seen_ != now; ++deaths_seen_) forget((*deaths)[deaths_seen_]);
  }
  deaths_seen_ = now;
  if (thread.deaths != now) thread.frames.clear();
  thread.deaths = now;
}

bool StackNames::is_doubtful(const PythonThread& thread) const noexcept {
  const Deaths* const deaths = interpreter_.deaths;
  if (deaths == nullptr) return false;
  const std::uint64_t now = deaths->count.load(std::memory_order_acquire);
  constexpr std::uint64_t most_compared = 256;
  if (now - thread.deaths > most_compared) return true;
  for (std::uint64_t death = thread.deaths; death != now; ++death) {
    const Address address = (*deaths)[death];
    for (const NamedFrame& named : thread.frames) {
      if (named.frame.code == address) return true;
    }
  }
  return false;
}

std::size_t StackNames::place_of(Address address) {
  const auto found = places_.find(address);
  return found == places_.end() ? resolve(address) : found->second;
}

// `no_place`: it cannot be read.
std::size_t StackNames::resolve(Address address) {
  KnownCode known = {};
  if (!read_code(copier_, interpreter_.layout, address, known.code)) return no_place;
  known.number = number_of(known.code);
  known.compared = round_;
  std::size_t place = codes_.size();
  if (free_places_.empty()) {
    codes_.push_back(std::move(known));
  } else {
    place = free_places_.back();
    free_places_.pop_back();
    codes_[place] = std::move(known);
  }
  places_[address] = place;
  return place;
}

std::uint32_t StackNames::number_of(const Code& code) {
  std::string what = code.file;
  what += '\0';
  what += code.qualified_name;
  what += '\0';
  what += std::to_string(code.header.first_line);
  const auto found = numbers_.find(what);
  if (found != numbers_.end()) return found->second;
  if (numbers_.size() >= most_codes) return 0;
  const auto number = static_cast<std::uint32_t>(numbers_.size() + 1);
  numbers_.emplace(std::move(what), number);
  added_.codes.push_back(NewCode{number, code.header.first_line, code.file, code.qualified_name});
  return number;
}

std::uint32_t StackNames::frame(KnownCode& known, std::int32_t unit, std::uint32_t c_function) {
  const std::uint64_t key = std::uint64_t{c_function} << 32 | static_cast<std::uint32_t>(unit);
  const auto cached = known.frames.find(key);
  if (cached != known.frames.end()) return cached->second;
  const bool has_columns = interpreter_.layout.instruction_index == 0;
  Position at = find_position(known.code.lines, known.code.header.first_line, unit, has_columns);
  if (at.line == 0) {  // of the interpreter's own doing, as when it leaves a generator
    at.line = at.end_line = static_cast<std::uint32_t>(std::max(known.code.header.first_line, 0));
  }
  const auto [found, is_new] = frames_.emplace(FrameKey{known.number, at, c_function},
                                               static_cast<std::uint32_t>(frames_.size() + 1));
  if (is_new) {
    added_.frames.push_back(
        NewFrame{record::FrameDefinition{found->second, known.number, at.line, at.end_line,
                                         at.column, at.end_column, 0},
                 c_function == 0 ? std::string() : c_functions_.names()[c_function - 1]});
  }
  known.frames.emplace(key, found->second);
  return found->second;
}

// 0: past the budget.
std::uint32_t StackNames::stack(std::uint32_t parent, std::uint32_t frame) {
  const std::uint64_t key = std::uint64_t{parent} << 32 | frame;
  const auto found = stacks_.find(key);
  if (found != stacks_.end()) return found->second;
  if (stacks_.size() >= most_stacks) return 0;
  const auto number = static_cast<std::uint32_t>(stacks_.size() + 1);
  stacks_.emplace(key, number);
  added_.stacks.push_back(record::StackDefinition{number, parent, frame, 0});
  return number;
}

// Those of the innermost `changed` frames that were read before this round.
void StackNames::compare(const StackWalk& walk, std::size_t changed) {
  const nvspan_layout& layout = interpreter_.layout;
  std::vector<std::pair<Address, std::size_t>> compared;
  ranges_.clear();
  for (std::size_t i = 0; i < changed; ++i) {
    const Address address = walk.frames()[i].code;
    const auto found = places_.find(address);
    if (found == places_.end() || codes_[found->second].compared == round_) continue;
    codes_[found->second].compared = round_;
    compared.emplace_back(address, found->second);
    add_compared_ranges(layout, address, codes_[found->second].code, ranges_);
  }
  if (compared.empty()) return;
  const std::size_t got = copier_.copy(ranges_.data(), ranges_.size());
  const std::string copy(copier_.bytes(), got);
  std::size_t at = 0;
  for (const auto& [address, place] : compared) {
    const std::size_t bytes = compared_bytes(layout, codes_[place].code);
    const bool read = at + bytes <= got;
    if (!read || !is_unchanged(layout, codes_[place].code, copy.data() + at)) forget(address);
    at += bytes;
  }
}

bool StackNames::name(PythonThread& thread, const StackWalk& walk) {
  bool past_budget = false;
  constexpr std::size_t kept_of_cut = 512;  // the innermost
  const std::vector<PythonFrame>& read = walk.frames();
  std::vector<NamedFrame>& named = thread.frames;
  std::size_t same = 0;
  std::size_t depth = walk.is_cut() ? std::min(read.size(), kept_of_cut) : read.size();
  if (walk.is_cut()) named.clear();
  if (walk.splice() == StackWalk::no_splice) {
    thread.spliced = 0;
    thread.cut = walk.is_cut();
  } else {
    ++thread.spliced;
    same = walk.splice() + 1;
    depth += same;
  }
  const std::size_t inner = depth - same;
  const auto frame_at = [&](std::size_t i) -> const PythonFrame& { return read[depth - 1 - i]; };
  const std::size_t limit = std::min(named.size(), depth);
  while (same < limit && frame_at(same) == named[same].frame) ++same;
  constexpr std::uint32_t all_compared = 64;
  if (interpreter_.deaths == nullptr) {
    if (round_ % all_compared == 0 && walk.splice() == StackWalk::no_splice) same = 0;
    compare(walk, std::min(inner, depth - same));
  }
  named.resize(same);
  for (std::size_t i = same; i < depth; ++i) {
    const PythonFrame& frame = frame_at(i);
    const std::size_t place = place_of(frame.code);
    if (place == no_place || frame.unit >= codes_[place].code.units) return false;
    KnownCode& known = codes_[place];
    std::uint32_t number = i == 0 ? 0 : named[i - 1].stack;
    if (!known.code.shim && !past_budget) {
      const std::uint32_t own =
          known.number == 0 ? 0 : stack(number, this->frame(known, frame.unit));
      if (own == 0) thread.cut = past_budget = true;
      if (own != 0) number = own;
    }
    named.push_back(NamedFrame{frame, number});
  }
  thread.stack = named.empty() ? 0 : named.back().stack;
  return true;
}

void StackNames::add_c_function(PythonThread& thread) {
  c_function_ = 0;
  const nvspan_layout& layout = interpreter_.layout;
  if (layout.calls == nullptr || thread.cut || thread.frames.empty()) return;
  const PythonFrame& frame = thread.frames.back().frame;
  const auto found = places_.find(frame.code);
  if (found == places_.end()) return;
  KnownCode& known = codes_[found->second];
  if (known.code.shim || known.number == 0) return;
  if (!known.has_calls) known.calls = read_calls(copier_, layout, frame.code, known.code);
  known.has_calls = true;
  const auto site = known.calls.find(frame.unit);
  if (site == known.calls.end()) return;
  c_function_ = c_functions_.find(frame, known.code.header.locals, site->second);
  if (c_function_ == 0) return;
  const std::size_t depth = thread.frames.size();
  const std::uint32_t parent = depth > 1 ? thread.frames[depth - 2].stack : 0;
  const std::uint32_t own = stack(parent, this->frame(known, frame.unit, c_function_));
  if (own != 0) thread.stack = own;
}

std::string StackNames::c_function() const {
  return c_function_ == 0 ? std::string() : c_functions_.names()[c_function_ - 1];
}

void StackNames::describe(const PythonFrame& frame, std::vector<SeenFrame>& frames) const {
  const auto found = places_.find(frame.code);
  if (found == places_.end() || codes_[found->second].code.shim) return;
  const Code& code = codes_[found->second].code;
  const bool has_columns = interpreter_.layout.instruction_index == 0;
  const Position at = find_position(code.lines, code.header.first_line, frame.unit, has_columns);
  frames.push_back(SeenFrame{frame.code, code.file.c_str(), code.name.c_str(),
                             code.header.first_line, at.line, ""});
}

}  // namespace nvspan::lines
