// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/work_format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace nvspan::inject {

// Sites of work as recordings have them, by what CUPTI calls it and by the shape of kernels; each
// name is demangled once. For one thread at a time.
class WorkSites {
 public:
  struct Site {
    const std::string* text = nullptr;
    const record::LaunchShape* shape = nullptr;  // null: not of a kernel, or not kept
    std::uint64_t file = 0;                      // that `site` is of; 0: none
    std::uint32_t site = record::no_site;
  };
  // Stays where it is until forget_if_many().
  Site& find(std::string_view mangled);
  Site& find(std::string_view mangled, const record::LaunchShape& shape);
  // A program that compiles kernels all the time has ever new names.
  void forget_if_many();

 private:
  struct Name {
    std::string text;
    Site site;
  };
  // A program whose grids have ever new sizes has as many shapes. Beyond these a kernel's is not
  // kept: each takes 80 bytes of the file.
  static constexpr std::size_t most_shapes = 65'536;
  static constexpr std::size_t most_names = 100'000;

  struct Shaped {
    const Name* name;
    record::LaunchShape shape;
    bool operator==(const Shaped& other) const noexcept;
  };
  struct ShapedHash {
    std::size_t operator()(const Shaped& key) const noexcept;
  };

  Name& name_of(std::string_view mangled);

  std::unordered_map<std::string, Name> names_;
  std::unordered_map<Shaped, Site, ShapedHash> shaped_;
  std::string key_;
};

}  // namespace nvspan::inject
