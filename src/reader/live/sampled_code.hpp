// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/format.hpp"
#include "record/file/sample_format.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

// What samples cite, from the definitions of a file that is being written. Number 0 is nothing, and
// so are numbers without a definition.
class SampledCode {
 public:
  void add(const record::CodeDefinition& read) { put(codes_, read); }
  void add(const record::FrameDefinition& read) { put(frames_, read); }
  void add(const record::StackDefinition& read) { put(stacks_, read); }
  void add(const record::SampledThreadDefinition& read) { put(threads_, read); }

  std::size_t codes() const noexcept { return codes_.size(); }
  std::size_t stacks() const noexcept { return stacks_.size(); }
  std::size_t threads() const noexcept { return threads_.size(); }

  // The number of the code's file; no_string: not known.
  std::uint32_t file(std::uint32_t code) const noexcept {
    return found(codes_, code, no_code).file;
  }
  std::uint32_t function(std::uint32_t code) const noexcept {
    return found(codes_, code, no_code).function;
  }
  // The innermost frame of a stack.
  record::FrameDefinition frame(std::uint32_t stack) const noexcept {
    return found(frames_, found(stacks_, stack, {}).frame, no_frame);
  }
  // The stack without that frame: a smaller number, so that no stack is its own.
  std::uint32_t caller(std::uint32_t stack) const noexcept {
    const std::uint32_t parent = found(stacks_, stack, {}).parent;
    return parent < stack ? parent : 0;
  }
  std::uint32_t tid(std::uint32_t thread) const noexcept { return found(threads_, thread, {}).tid; }

 private:
  static constexpr record::CodeDefinition no_code = {0, record::no_string, record::no_string, 0};
  static constexpr record::FrameDefinition no_frame = {
      0, 0, 0, 0, record::no_column, record::no_column, 0};

  template <typename T>
  static void put(std::vector<T>& list, const T& read) {
    if (read.id >= list.size()) list.resize(std::size_t{read.id} + 1);
    list[read.id] = read;
  }
  template <typename T>
  static T found(const std::vector<T>& list, std::uint32_t number, const T& none) noexcept {
    return number != 0 && number < list.size() && list[number].id == number ? list[number] : none;
  }

  std::vector<record::CodeDefinition> codes_;
  std::vector<record::FrameDefinition> frames_;
  std::vector<record::StackDefinition> stacks_;
  std::vector<record::SampledThreadDefinition> threads_;
};

}  // namespace nvspan::reader
