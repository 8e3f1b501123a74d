// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/chunks/chunk_pool.hpp"
#include "record/chunks/recording_file.hpp"
#include "record/definitions/definition_chunk.hpp"
#include "record/definitions/devices.hpp"
#include "record/definitions/names.hpp"
#include "record/definitions/payloads.hpp"
#include "trace/event/event.hpp"
#include "trace/event/sink.hpp"
#include "trace/sinks/jsonl_sink.hpp"

#include <cstddef>

namespace nvspan::record {

// Calls that are not ranges, marks or samples: each is a line of JSON. One that finds no space is
// counted.
class CallLines {
 public:
  CallLines(core::PagePool& pool, RecordingFile& file, DefinitionChunk& chunk, NameBudget& budget)
      : file_(file), line_(file, chunk, budget), sink_(line_, pool) {}

  void add(const trace::Event& event) {
    line_.set_within_budget(false);
    sink_.write(event);
  }
  // A call that only names something. False: it is past the budget for names, and was counted.
  bool add_name(const trace::Event& event);

 private:
  // Takes the line that the sink makes.
  class Line final : public trace::Output {
   public:
    Line(RecordingFile& file, DefinitionChunk& chunk, NameBudget& budget)
        : file_(file), chunk_(chunk), budget_(budget) {}
    bool write(const char* data, std::size_t size) noexcept override;
    bool is_terminal() const noexcept override { return false; }
    void set_within_budget(bool within) noexcept {
      within_budget_ = within;
      was_refused_ = false;
    }
    bool was_refused() const noexcept { return was_refused_; }

   private:
    RecordingFile& file_;
    DefinitionChunk& chunk_;
    NameBudget& budget_;
    bool within_budget_ = false;
    bool was_refused_ = false;
  };

  RecordingFile& file_;
  Line line_;
  trace::JsonlSink sink_;
};

// All definitions of a recording, and the calls that define them.
struct DefinitionWriter {
  DefinitionWriter(core::PagePool& pool, RecordingFile& file, ChunkPool& chunks,
                   const trace::SchemaTable& schemas, const trace::PayloadNames& payload_names)
      : chunk(file, chunks),
        names(pool, file, chunk),
        payloads(pool, chunk, names, schemas, payload_names),
        devices(pool, chunk, names),
        calls(pool, file, chunk, names.budget()) {}

  void forget() noexcept;
  // A call that is not a range, mark or sample.
  void write(const trace::Event& event);

  DefinitionChunk chunk;
  NameDefinitions names;
  PayloadDefinitions payloads;
  DeviceDefinitions devices;
  CallLines calls;
};

}  // namespace nvspan::record
