// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/definitions/definition_chunk.hpp"
#include "record/definitions/names.hpp"
#include "trace/event/event.hpp"
#include "trace/payload/payload_schema.hpp"

#include <cstdint>

namespace nvspan::record {

// Definitions of device ranges: the schema by which the program describes them, which tells them
// from ranges of the CPU, and the names of devices and streams.
class DeviceDefinitions {
 public:
  DeviceDefinitions(core::PagePool& pool, DefinitionChunk& chunk, NameDefinitions& names)
      : chunk_(chunk), names_(names), schemas_(pool) {}

  void forget() noexcept { schemas_.clear(); }

  // A schema was registered.
  void schema(const trace::Event& event);
  // nvtxNameCuStream and similar calls, and resources that stand for a device or a stream.
  void name(const trace::Event& event);
  // The event's SiteDefinition::device.
  std::uint8_t device_of(const trace::Event& event) const;

 private:
  DefinitionChunk& chunk_;
  NameDefinitions& names_;
  core::PoolMap<trace::DomainKey, trace::PayloadType, trace::DomainKeyHash> schemas_;
};

}  // namespace nvspan::record
