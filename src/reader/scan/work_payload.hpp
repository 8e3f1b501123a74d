// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/chunks/entries.hpp"
#include "reader/file/recording.hpp"
#include "record/file/work_format.hpp"

#include <cstdint>

namespace nvspan::reader {

// Work of a GPU as the payload of a device range, so that whoever reads device ranges reads it,
// too. Like every payload it lies in the file.
inline EntryPayload work_payload(const Entry& entry) {
  const std::size_t words = record::work_words + (entry.payload.present ? 1 : 0);
  return EntryPayload{true, words * sizeof(std::uint64_t), entry.value, true};
}

struct WorkFields {
  record::LaunchWord launch;
  record::WorkPlace place;
  std::uint64_t bytes = 0;                            // of a copy or set
  std::uint64_t launched = 0;                         // ticks; 0: its call is not known
  std::uint32_t tid = 0;                              // of that call
  const record::GraphNodeDefinition* node = nullptr;  // null: it is not known to be of a graph
};

// Of a payload that is_work.
inline WorkFields read_work(const ReadProcess& process, const EntryPayload& payload) {
  WorkFields work;
  work.launch = record::read_launch_word(payload.bytes[0]);
  work.place = record::read_place_word(payload.bytes[1]);
  if (payload.bits > record::work_words * sizeof(std::uint64_t)) {
    work.bytes = payload.bytes[record::work_words];
    if ((payload.bytes[1] & record::has_node_word) != 0) {
      const record::NodeWord of = record::read_node_word(work.bytes);
      work.bytes = of.bytes;
      const auto found = process.graph_nodes.find(of.node);
      if (found != process.graph_nodes.end()) work.node = &found->second;
    }
  }
  if (process.launches == nullptr) return work;
  const Launches::Call* const call = process.launches->find(work.launch.correlation);
  if (call == nullptr) return work;
  work.launched = call->ticks;
  work.tid = call->tid;
  return work;
}

}  // namespace nvspan::reader
