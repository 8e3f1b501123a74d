// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/traces/trace.hpp"

namespace nvspan::ranks {
namespace {

struct Known {
  std::string_view begins;
  CollectiveKind kind;
};
// The first that fits.
constexpr Known known[] = {
    {"allreduce", CollectiveKind::all},       {"allgather", CollectiveKind::all},
    {"alltoall", CollectiveKind::all},        {"reducescatter", CollectiveKind::all},
    {"barrier", CollectiveKind::all},         {"ddpgradients", CollectiveKind::all},
    {"broadcast", CollectiveKind::from_root}, {"bcast", CollectiveKind::from_root},
    {"scatter", CollectiveKind::from_root},   {"reduce", CollectiveKind::to_root},
    {"gather", CollectiveKind::to_root},      {"send", CollectiveKind::send},
    {"isend", CollectiveKind::send},          {"recv", CollectiveKind::receive},
    {"irecv", CollectiveKind::receive},
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

CollectiveKind operation_kind(std::string_view operation) {
  for (const Known& each : known) {
    if (begins_with(operation, each.begins)) return each.kind;
  }
  return CollectiveKind::none;
}

}  // namespace nvspan::ranks
