// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lines/c_function.hpp"
#include "lines/code_object.hpp"
#include "lines/line_table.hpp"
#include "lines/stack_walk.hpp"
#include "record/file/sample_format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace nvspan::lines {

// What a recording has to know before it can cite a stack; the numbers go on from one to the next.
struct NewCode {
  std::uint32_t id;
  std::int32_t first_line;
  std::string file;
  std::string function;
};
struct NewFrame {
  record::FrameDefinition definition;
  std::string c_function;  // empty: none
};
struct NewNames {
  std::vector<NewCode> codes;
  std::vector<NewFrame> frames;
  std::vector<record::StackDefinition> stacks;

  void clear() noexcept {
    codes.clear();
    frames.clear();
    stacks.clear();
  }
};

// Gives stacks numbers. The names of code objects are kept by address, which is right as long as
// the object lives: `deaths` tell of those that do not, or memory is compared.
class StackNames {
 public:
  static constexpr std::size_t most_stacks = 1 << 20;
  static constexpr std::size_t most_codes = 1 << 17;

  StackNames(MemoryCopier& copier, const Interpreter& interpreter);

  // Before a thread is looked at: what was freed has no name any more.
  void forget_freed(PythonThread& thread);
  // Names the stack that was walked, as the thread's. False: a code object could not be read.
  bool name(PythonThread& thread, const StackWalk& walk);
  // Adds the C function that the innermost frame is in to the stack that was named.
  void add_c_function(PythonThread& thread);
  // Whether one of the thread's code objects was freed since forget_freed(); then its names are in
  // doubt.
  bool is_doubtful(const PythonThread& thread) const noexcept;

  // A frame that was named just now, in words.
  void describe(const PythonFrame& frame, std::vector<SeenFrame>& frames) const;
  // What add_c_function() found last; empty: none.
  std::string c_function() const;

  // What is not yet in the recording.
  NewNames& added() noexcept { return added_; }

 private:
  struct KnownCode {
    Code code;
    std::uint32_t number;    // in the recording; 0: past the budget
    std::uint32_t compared;  // in which round
    std::unordered_map<std::uint64_t, std::uint32_t> frames;  // by C function and instruction
    bool has_calls = false;                                   // those are read
    std::unordered_map<std::int32_t, CallSite> calls;         // by instruction
  };
  struct FrameKey {
    std::uint32_t code;
    Position position;
    std::uint32_t c_function;
    bool operator==(const FrameKey& other) const noexcept {
      return code == other.code && position == other.position && c_function == other.c_function;
    }
  };
  struct FrameHash {
    std::size_t operator()(const FrameKey& key) const noexcept;
  };
  static constexpr std::size_t no_place = ~std::size_t{0};

  std::size_t place_of(Address address);
  std::size_t resolve(Address address);
  void forget(Address address);
  void compare(const StackWalk& walk, std::size_t changed);
  std::uint32_t number_of(const Code& code);
  std::uint32_t frame(KnownCode& known, std::int32_t unit, std::uint32_t c_function = 0);
  std::uint32_t stack(std::uint32_t parent, std::uint32_t frame);

  MemoryCopier& copier_;
  const Interpreter& interpreter_;
  CFunctions c_functions_;
  std::uint32_t c_function_ = 0;
  std::uint64_t deaths_seen_ = 0;
  std::uint32_t round_ = 0;
  std::vector<KnownCode> codes_;
  std::vector<std::size_t> free_places_;
  std::unordered_map<Address, std::size_t> places_;
  // What the recording has: codes by what they are, frames, and stacks by parent and frame.
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::unordered_map<FrameKey, std::uint32_t, FrameHash> frames_;
  std::unordered_map<std::uint64_t, std::uint32_t> stacks_;
  NewNames added_;
  std::vector<iovec> ranges_;
};

}  // namespace nvspan::lines
