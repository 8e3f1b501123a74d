// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/summary/module_figures.hpp"

#include "ranks/summary/summarize.hpp"

namespace nvspan::ranks {

void add_modules(const reader::Recording& recording, const reader::Selection& selection,
                 const ModulePlaces& places, Summary& to) {
  Summary ranges;
  summarize(recording, selection, ranges);
  for (const auto& [key, figures] : ranges.rows()) {
    if (key.kind == kind_of_marks || key.name < 0) continue;
    const auto found = places.find(ranges.texts()[static_cast<std::size_t>(key.name)]);
    if (found == places.end()) continue;
    const bool on_gpu = key.kind == static_cast<std::uint8_t>(reader::RangeKind::device);
    const bool is_plain = key.kind == static_cast<std::uint8_t>(reader::RangeKind::push_pop);
    if (!on_gpu && !is_plain && !key.backward) continue;
    const ModulePlace& place = found->second;
    RangeKey own;
    own.domain = to.intern(place.model);
    own.name = to.intern(place.path);
    own.kind = static_cast<std::uint8_t>(
        kind_of_modules + (key.backward || place.repeated ? 1 : 0) + (on_gpu ? 2 : 0));
    own.group = key.group;
    to.row(own).merge(figures);
  }
}

}  // namespace nvspan::ranks
