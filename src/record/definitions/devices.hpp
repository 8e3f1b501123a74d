// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "core/memory/pool_map.hpp"
#include "record/definitions/definition_chunk.hpp"
#include "record/definitions/names.hpp"
#include "trace/event/event.hpp"
#include "trace/payload/domain_key.hpp"

#include <cstdint>

namespace nvspan::record {

// What tells ranges of a device from those of the CPU: the schema by which the program describes
// them, and the names of devices and streams.
class DeviceDefinitions {
 public:
  DeviceDefinitions(core::PagePool& pool, DefinitionChunk& chunk, NameDefinitions& names)
      : chunk_(chunk), names_(names), schemas_(pool) {}

  void forget() noexcept { schemas_.clear(); }

  // Of a schema that was registered.
  void schema(const trace::Event& event);
  // Of nvtxNameCuStream and its like, and of resources that stand for a device or a stream.
  void name(const trace::Event& event);
  // SiteDefinition::device of an event.
  std::uint8_t device_of(const trace::Event& event) const;

 private:
  DefinitionChunk& chunk_;
  NameDefinitions& names_;
  core::PoolMap<trace::DomainKey, trace::PayloadType, trace::DomainKeyHash> schemas_;
};

}  // namespace nvspan::record
