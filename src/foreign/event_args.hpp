// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a trace says of an event beside its name and time, as the fields of a payload: integers,
// real numbers and texts. Lists and objects are texts, as they stand in the file.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nvspan::foreign {

enum class ArgType : char { integer = 'l', small = 'i', real = 'd', text = 't' };  // small: 32 bits

struct ArgField {
  std::string name;
  ArgType type;
};

// The fields of one event after the other. Events with the same names and types of fields have one
// form, which has a number; the data of an event has the numbers of 64 bits first, then those of
// 32, then the texts.
class EventArgs {
 public:
  static constexpr std::uint32_t no_form = 0xFFFFFFFF;
  static constexpr std::size_t most_fields = 64;
  static constexpr std::size_t most_text = 16384;  // bytes, of a field
  static constexpr std::size_t most_forms = 4096;

  void begin() {
    key_.clear();
    numbers_.clear();
    small_.clear();
    texts_.clear();
    fields_ = 0;
  }
  // False: it has no place, as there are too many.
  bool add(std::string_view name, std::int64_t value);
  bool add(std::string_view name, double value);
  // A text that is too long is cut: false.
  bool add(std::string_view name, std::string_view value);
  // Of all that was added; no_form: of nothing, or of one form too many.
  std::uint32_t form();
  bool is_empty() const noexcept { return fields_ == 0; }

  // What a form has, in the order of the data.
  const std::vector<ArgField>& fields(std::uint32_t form) const { return forms_[form]; }
  // The data, in words of 8 bytes, and its bytes.
  std::size_t words() const noexcept { return (bytes() + 7) / 8; }
  std::size_t bytes() const noexcept {
    return numbers_.size() * 8 + small_.size() * 4 + texts_.size();
  }
  void copy(std::uint64_t* to) const;

 private:
  bool begin_field(std::string_view name, ArgType type);

  std::string key_;  // the names and types
  std::vector<std::uint64_t> numbers_;
  std::vector<std::int32_t> small_;
  std::string texts_;  // each with a zero behind it
  std::size_t fields_ = 0;
  std::unordered_map<std::string, std::uint32_t> numbers_of_forms_;
  std::vector<std::vector<ArgField>> forms_;
};

}  // namespace nvspan::foreign
