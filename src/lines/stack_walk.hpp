// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lines/copier.hpp"
#include "lines/python_thread.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nvspan::lines {

// Reads a thread's stack while the thread runs. One copy takes, in this order: where the stack is
// now, the frames that are likely its top, where it is now (again), the frames below. A frame that
// returned meanwhile keeps its bytes until the next call overwrites them, so the stack of the first
// moment can be told though the thread ran on. None is left out because the thread moved: that
// would hide what is short.
class StackWalk {
 public:
  static constexpr std::size_t deepest = 2048;

  StackWalk(MemoryCopier& copier, const nvspan_layout& layout) : copier_(copier), layout_(layout) {}

  enum class Result : std::uint8_t {
    whole,
    empty,  // it runs no Python
    torn,
  };
  Result walk(PythonThread& thread);

  // The last stack, the innermost frame first, and what it goes on with: the frame with this number
  // in the thread's own, or nothing.
  const std::vector<PythonFrame>& frames() const noexcept { return frames_; }
  static constexpr std::size_t no_splice = ~std::size_t{0};
  std::size_t splice() const noexcept { return splice_; }
  bool is_cut() const noexcept { return cut_; }
  std::uint64_t ticks() const noexcept { return ticks_; }  // when it was copied

 private:
  struct Piece {
    Address begin;
    Address end;
    std::size_t at;  // in the copy
  };
  struct Plan {
    std::size_t state;  // bytes of the thread's state
    std::size_t cframes;
    std::size_t state_again;
    std::size_t cframes_again;
  };
  struct Tops {
    Address first = 0;
    Address again = 0;
  };
  enum class Copied : std::uint8_t { good, again, slow, fault };

  std::size_t add(Address address, std::size_t bytes);
  void add_piece(Address address, std::size_t bytes);
  Plan plan(const PythonThread& thread);
  Copied copy(PythonThread& thread, const Plan& plan, int attempt, bool even_slow);
  bool find_tops(PythonThread& thread, const Plan& plan, int attempt, Tops& tops);
  const char* find(Address frame) const;
  bool parse(Address at, const char* bytes, PythonFrame& frame, bool& shim) const;
  bool follow(PythonThread& thread, Address from, int most_holes);
  bool go_on(PythonThread& thread, Address at, Address& next, Address& must);
  void expect(PythonThread& thread);
  void remember_resumed(PythonThread& thread) const;
  bool is_hot(Address at) const noexcept { return at >= hot_begin_ && at < hot_end_; }

  MemoryCopier& copier_;
  const nvspan_layout& layout_;
  std::vector<iovec> ranges_;
  std::size_t bytes_ = 0;
  std::vector<Piece> pieces_;
  std::vector<char> copy_;
  std::vector<std::pair<Address, std::string>> missing_;  // frames that were read by themselves
  Address hot_begin_ = 0;
  Address hot_end_ = 0;

  std::vector<PythonFrame> frames_;
  std::vector<Address> outside_;  // frames that are not on the hot part of the data stack
  std::size_t splice_ = no_splice;
  bool cut_ = false;
  int holes_ = 0;
  bool stitched_ = false;
  Address bottom_ = 0;
  std::uint64_t ticks_ = 0;
};

}  // namespace nvspan::lines
