// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ranks/summary/summary.hpp"
#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"

#include <map>
#include <string>
#include <string_view>

namespace nvspan::ranks {

// Adds what the selected part of a recording comes to: rows of each rank, and the table
// "processes". A process without a rank is a group of its own.
void summarize(const reader::Recording& recording, const reader::Selection& selection, Summary& to);

// The group of a process: its rank, or a number that no other process has.
std::int64_t group_of(const reader::ReadProcess& process);
// A number for a process, the same wherever its file lies.
std::int64_t identity_of(const reader::ReadProcess& process);

// What the ranges of a name are of a model.
struct ModulePlace {
  std::string model;
  std::string path;       // of the module; of the model itself its name
  bool repeated = false;  // a forward pass again, within the backward pass
};
using ModulePlaces = std::map<std::string, ModulePlace, std::less<>>;

// Adds the ranges of these names: rows of the kinds `kind_of_modules` (forward pass on the CPU),
// one more (backward pass on the CPU), two and three more (both on the GPU), with the model as
// domain and the module's path as name.
void add_modules(const reader::Recording& recording, const reader::Selection& selection,
                 const ModulePlaces& places, Summary& to);

}  // namespace nvspan::ranks
