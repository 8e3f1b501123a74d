// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/chunks/chunk_pool.hpp"
#include "record/chunks/recording_file.hpp"
#include "record/definitions/call_lines.hpp"
#include "record/definitions/definition_chunk.hpp"
#include "record/definitions/devices.hpp"
#include "record/definitions/names.hpp"
#include "record/definitions/payloads.hpp"
#include "trace/event/event.hpp"

namespace nvspan::record {

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
