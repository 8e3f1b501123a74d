// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Where modules are called: a tree of models, their modules, and the modules that those call.

#pragma once

#include "core/memory/path_table.hpp"
#include "core/text/text_table.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nvspan::ranks {

using ModulePlace = std::uint32_t;
constexpr ModulePlace no_place = 0xFFFFFFFF;

// The class of each path that a recording knows one of, and no other.
using ModuleClasses = std::unordered_map<std::string_view, std::string_view>;

class ModulePlaces {
 public:
  explicit ModulePlaces(const ModuleClasses& classes) : classes_(classes) {}

  // The place of a module of that path and class (empty: not known) that the one at `caller` calls;
  // no_place: it is a model. Modules of two classes have two places. One that is called again
  // within itself has the place of the outer call.
  ModulePlace called(ModulePlace caller, std::string_view path, std::string_view kind);

  std::size_t size() const noexcept { return places_.size(); }
  bool is_within(ModulePlace place, ModulePlace around) const;
  // Its name, and its class after `class_mark` where that is known.
  const std::string& name(ModulePlace place) const { return text(places_[place].name); }
  ModulePlace model(ModulePlace place) const;
  // The way from the model: names, each after `part_mark`, or after `call_mark` where a module
  // calls one of another part of the model. Of the model itself it is empty.
  std::string way(ModulePlace place) const;

  static constexpr char part_mark = '\x1F', call_mark = '\x1E', class_mark = '\x1D';

 private:
  struct Place {
    ModulePlace parent;
    std::int32_t name, path;
    char mark;
  };

  const std::string& path(ModulePlace place) const { return text(places_[place].path); }
  const std::string& text(std::int32_t id) const { return texts_[static_cast<std::size_t>(id)]; }
  ModulePlace child(ModulePlace parent, std::string_view name, std::string_view kind,
                    std::string_view path, char mark);

  const ModuleClasses& classes_;
  core::TextTable texts_;
  std::vector<Place> places_;
  std::unordered_map<core::PathKey, ModulePlace, core::PathHash> numbers_;
};

}  // namespace nvspan::ranks
