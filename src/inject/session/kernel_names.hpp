// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace nvspan::inject {

// Names of work as recordings have them, by what CUPTI calls it; each is demangled once. For one
// thread at a time.
class KernelNames {
 public:
  struct Name {
    std::string text;
    std::uint64_t file = 0;  // that `site` is of; 0: none
    std::uint32_t site = record::no_site;
  };
  // Stays where it is until forget_if_many().
  Name& find(std::string_view mangled);
  // A program that compiles kernels all the time has ever new names.
  void forget_if_many() {
    constexpr std::size_t most = 100'000;
    if (names_.size() > most) names_.clear();
  }

 private:
  std::unordered_map<std::string, Name> names_;
  std::string key_;
};

}  // namespace nvspan::inject
