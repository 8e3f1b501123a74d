// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "lines/c_function.hpp"

#include <string>
#include <vector>

namespace nvspan::lines {
namespace {

using Calls = std::unordered_map<std::int32_t, CallSite>;

constexpr int unreached = -1;
constexpr int deepest_stack = 1 << 12;
constexpr std::size_t most_bytecode = 1 << 15;
constexpr int most_passes = 4;  // a jump back may lead to what nothing before led to

// The depth of the stack before each instruction, from the first one on.
class Depths {
 public:
  Depths(const nvspan_calls& calls, std::string_view bytecode, int first)
      : calls_(calls), bytecode_(bytecode), depths_(bytecode.size() / 2, unreached) {
    reach(0, first);
  }

  // False: two ways to an instruction differ, or one is not known.
  bool find() {
    for (int pass = 0; pass < most_passes && changed_ && good_; ++pass) {
      changed_ = false;
      each([this](std::size_t unit, int opcode, int argument, std::size_t next) {
        if (depths_[unit] != unreached) follow(depths_[unit], opcode, argument, next);
      });
    }
    return good_ && !changed_;
  }

  Calls take() {
    Calls found;
    each([&](std::size_t unit, int opcode, int argument, std::size_t) {
      if (calls_.callable[opcode] == 0 || depths_[unit] == unreached) return;
      int below = calls_.callable[opcode];
      if (calls_.has_arguments[opcode] != 0) below += argument;
      if (calls_.has_flag[opcode] != 0) below += argument & 1;
      if (below > depths_[unit]) return;
      CallSite site;
      site.place = depths_[unit] - below;
      site.may_be_null = calls_.may_be_null[opcode] != 0;
      found.emplace(static_cast<std::int32_t>(unit), site);
    });
    return found;
  }

 private:
  template <typename Use>
  void each(Use use) {
    unsigned prefix = 0;
    for (std::size_t unit = 0; unit < depths_.size() && good_;) {
      const auto opcode = calls_.base[byte(2 * unit)];
      if (opcode == nvspan_no_opcode) {
        good_ = false;
        return;
      }
      const unsigned argument = prefix << 8 | byte(2 * unit + 1);
      const std::size_t next = unit + 1 + calls_.caches[opcode];
      prefix = opcode == calls_.extended_argument ? argument : 0;
      if (prefix >> 23 != 0) good_ = false;
      use(unit, opcode, static_cast<int>(argument), next);
      unit = next;
    }
  }

  std::uint8_t byte(std::size_t at) const { return static_cast<std::uint8_t>(bytecode_[at]); }

  void follow(int depth, int opcode, int argument, std::size_t next) {
    const int jumps = calls_.jumps[opcode];
    const int way = jumps & ~nvspan_jumps_ends;
    const auto distance = static_cast<std::size_t>(argument);
    const auto after = [&](int jump) {
      return depth + calls_.stack_effect(opcode, argument, jump);
    };
    if (way == nvspan_jumps_forward) reach(next + distance, after(1));
    if (way == nvspan_jumps_backward) reach(next - distance, after(1));
    if (way == nvspan_jumps_to) reach(distance, after(1));
    if ((jumps & nvspan_jumps_ends) == 0) reach(next, after(0));
  }

  void reach(std::size_t unit, int depth) {
    if (unit >= depths_.size() || depth < 0 || depth > deepest_stack ||
        (depths_[unit] != unreached && depths_[unit] != depth)) {
      good_ = false;
      return;
    }
    changed_ = changed_ || depths_[unit] == unreached;
    depths_[unit] = depth;
  }

  const nvspan_calls& calls_;
  std::string_view bytecode_;
  std::vector<int> depths_;
  bool changed_ = false;
  bool good_ = true;
};

}  // namespace

Calls find_calls(const nvspan_calls& calls, std::string_view bytecode, std::int32_t first_depth) {
  if (bytecode.empty()) return {};
  Depths depths(calls, bytecode, first_depth);
  return depths.find() ? depths.take() : Calls();
}

Calls read_calls(MemoryCopier& copier, const nvspan_layout& layout, Address code,
                 const Code& known) {
  constexpr std::int32_t generators = 0x20 | 0x80 | 0x200;  // CO_GENERATOR and the two coroutines'
  if (layout.calls == nullptr || known.units <= 0 ||
      known.units > static_cast<std::int64_t>(most_bytecode)) {
    return {};
  }
  const Address from = layout.instruction_index != 0
                           ? moved(known.header.instructions, layout.bytes_data)
                           : moved(code, layout.code_instructions);
  std::string bytecode(2 * static_cast<std::size_t>(known.units), '\0');
  if (!copier.read(from, bytecode.data(), bytecode.size())) return {};
  const bool is_generator = (known.header.flags & generators) != 0;
  return find_calls(*layout.calls, bytecode, is_generator ? layout.calls->generator_depth : 0);
}

}  // namespace nvspan::lines
