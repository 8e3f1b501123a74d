// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What the payload of a collective's range says of it.

#pragma once

#include "ranks/traces/trace.hpp"
#include "reader/scan/payloads.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace nvspan::ranks {

// The fields of a collective's payload: our own, and NCCL's.
class CollectiveFields final : public trace::PayloadVisitor {
 public:
  std::int64_t group = 0, sequence = no_sequence, bytes = -1, size = -1, root = -1, rank = -1;
  std::int64_t asynchronous = 0, number = 0, early = 0, queued = 0;
  std::int64_t delayed = -1, computed = no_time;

  bool value(std::string_view name, const trace::PayloadValue& value) override {
    if (value.kind != trace::PayloadValue::Kind::integer &&
        value.kind != trace::PayloadValue::Kind::count) {
      return true;
    }
    const std::pair<std::string_view, std::int64_t*> all[] = {
        {"group", &group},
        {"NCCL communicator ID", &group},
        {"comm", &group},
        {"seq", &sequence},
        {"sequence", &sequence},
        {"bytes", &bytes},
        {"Message size [bytes]", &bytes},
        {"size", &size},
        {"No. of ranks", &size},
        {"root", &root},
        {"Root", &root},
        {"peer", &root},
        {"Peer", &root},
        {"rank", &rank},
        {"async", &asynchronous},
        {"step", &number},
        {"early", &early},
        {"queued", &queued},
        {"delayed", &delayed},
        {"computed", &computed},
    };
    for (const auto& [known, into] : all) {
      if (name == known) *into = value.integer;
    }
    return true;
  }
  bool begin(std::string_view, bool) override { return true; }
  bool end(bool) override { return true; }
};

}  // namespace nvspan::ranks
