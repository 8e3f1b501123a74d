// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/cause/operations.hpp"

namespace nvspan::ranks {
namespace {

struct Known {
  std::string_view begins;
  Kind kind;
};
// The first that fits.
constexpr Known known[] = {
    {"allreduce", Kind::all},     {"allgather", Kind::all},
    {"alltoall", Kind::all},      {"reducescatter", Kind::all},
    {"barrier", Kind::all},       {"ddpgradients", Kind::all},
    {"broadcast", Kind::from_root}, {"bcast", Kind::from_root},
    {"scatter", Kind::from_root}, {"reduce", Kind::to_root},
    {"gather", Kind::to_root},    {"send", Kind::send},
    {"isend", Kind::send},        {"recv", Kind::receive},
    {"irecv", Kind::receive},
};

bool begins_with(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

}  // namespace

std::string operation_name(std::string_view range) {
  const std::size_t colon = range.rfind(':');
  if (colon != std::string_view::npos) range.remove_prefix(colon + 1);
  std::string name;
  for (const char letter : range) {
    if (letter == '_' || letter == '.' || letter == ' ') continue;
    name += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  for (const std::string_view prefix : {"nccl", "mpi", "c10d"}) {
    if (begins_with(name, prefix)) name.erase(0, prefix.size());
  }
  return name;
}

Kind operation_kind(std::string_view operation) {
  for (const Known& each : known) {
    if (begins_with(operation, each.begins)) return each.kind;
  }
  return Kind::none;
}

}  // namespace nvspan::ranks
