// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/modules/module_places.hpp"

#include <algorithm>
#include <cstddef>

namespace nvspan::ranks {

ModulePlace ModulePlaces::called(ModulePlace caller, std::string_view path, std::string_view kind) {
  for (ModulePlace around = caller; around != no_place; around = places_[around].parent) {
    if (this->path(around) == path) return around;
  }
  if (caller == no_place) return child(no_place, path, kind, path, part_mark);
  const std::string prefix =
      places_[caller].parent == no_place ? std::string() : this->path(caller) + '.';
  if (path.substr(0, prefix.size()) != prefix) return child(caller, path, kind, path, call_mark);
  ModulePlace at = caller;
  for (std::size_t from = prefix.size(); from <= path.size();) {
    const std::size_t dot = std::min(path.find('.', from), path.size());
    const std::string_view whole = path.substr(0, dot);
    const auto known = classes_.find(whole);
    const std::string_view own = dot == path.size()        ? kind
                                 : known != classes_.end() ? known->second
                                                           : std::string_view();
    at = child(at, path.substr(from, dot - from), own, whole, part_mark);
    from = dot + 1;
  }
  return at;
}

bool ModulePlaces::is_within(ModulePlace place, ModulePlace around) const {
  while (place != no_place && place != around) place = places_[place].parent;
  return place == around;
}

ModulePlace ModulePlaces::model(ModulePlace place) const {
  while (places_[place].parent != no_place) place = places_[place].parent;
  return place;
}

std::string ModulePlaces::way(ModulePlace place) const {
  const Place& at = places_[place];
  return at.parent == no_place ? std::string() : way(at.parent) + at.mark + text(at.name);
}

ModulePlace ModulePlaces::child(ModulePlace parent, std::string_view name, std::string_view kind,
                                std::string_view path, char mark) {
  std::string whole(name);
  if (!kind.empty()) (whole += class_mark) += kind;
  const std::int32_t id = texts_.add(whole);
  const core::PathKey key{parent,
                          static_cast<std::uint64_t>(id) << 8 | static_cast<unsigned>(mark)};
  const auto [found, is_new] = numbers_.emplace(key, static_cast<ModulePlace>(places_.size()));
  if (is_new) places_.push_back(Place{parent, id, texts_.add(path), mark});
  return found->second;
}

}  // namespace nvspan::ranks
