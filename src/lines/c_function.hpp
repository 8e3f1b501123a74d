// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lines/code_object.hpp"
#include "lines/copier.hpp"
#include "lines/interpreter.hpp"
#include "lines/python_thread.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nvspan::lines {

// Where a call in progress has its callable, and the C function that this was last.
struct CallSite {
  std::int32_t place = 0;    // of the frame's stack
  bool may_be_null = false;  // then it is in the next one
  Address callable = 0;
  Address self = 0;          // of a bound one
  Address text = 0;          // of its name; 0: it had none
  Address text_at = 0;       // where that address is
  std::size_t size = 0;      // of the text
  std::uint32_t number = 0;  // of CFunctions::names()
};

// The calls of bytecode by their instruction's number, with the depth of the stack at each. Code
// that only an exception leads to has none; nor has any where the depths of two ways differ, or an
// instruction is a debugger's or monitor's.
std::unordered_map<std::int32_t, CallSite> find_calls(const nvspan_calls& calls,
                                                      std::string_view bytecode,
                                                      std::int32_t first_depth);

std::unordered_map<std::int32_t, CallSite> read_calls(MemoryCopier& copier,
                                                      const nvspan_layout& layout, Address code,
                                                      const Code& known);

// Names the C function that a frame's call in progress is to: "sorted", "time.sleep",
// "numpy.ndarray.dot", or a type. It is read between two looks at the frame that find it at the
// same call, whose stack keeps the callable alive meanwhile.
class CFunctions {
 public:
  CFunctions(MemoryCopier& copier, const nvspan_layout& layout)
      : copier_(copier), layout_(layout) {}

  // `locals`: how many places of the frame are not of its stack. The number of a name; 0: the call
  // is not to a C function, is over, or cannot be read.
  std::uint32_t find(const PythonFrame& frame, std::int32_t locals, CallSite& site);

  // Names by their numbers, from 1 on.
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  enum class Seen : std::uint8_t { same, other, gone };

  Seen look(const PythonFrame& frame, Address place, CallSite& site);
  bool is_at(const PythonFrame& frame, const char* bytes) const noexcept;
  void identify(CallSite& site);
  std::string prefix_of_function(const CallSite& site);
  bool find_text_of_object(CallSite& site, Address type);
  std::string type_name(Address type);
  std::string text_at(Address address);
  std::uint32_t number_of(const std::string& name);

  MemoryCopier& copier_;
  const nvspan_layout& layout_;
  std::vector<char> object_;  // of the callable
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace nvspan::lines
