// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/definitions/definition_chunk.hpp"
#include "record/definitions/names.hpp"
#include "record/file/format.hpp"
#include "trace/event/event.hpp"
#include "trace/payload/payload_decoder.hpp"
#include "trace/payload/payload_schema.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::record {

// The definitions that decode payloads: schemas, enumerations and scopes, and the strings and
// categories that numbers in a payload stand for. Bytes of a schema without such numbers are not
// read.
class PayloadDefinitions {
 public:
  PayloadDefinitions(core::PagePool& pool, DefinitionChunk& chunk, NameDefinitions& names,
                     const trace::SchemaTable& schemas, const trace::PayloadNames& payload_names)
      : pool_(pool),
        chunk_(chunk),
        names_(names),
        schemas_(schemas),
        payload_names_(payload_names),
        decoder_(schemas, pool),
        counters_(pool),
        described_(pool),
        cited_(pool) {}

  void forget() noexcept;

  // Every definition that the event's extended payload needs.
  void describe(const trace::Event& event);
  // The counter's number. no_site: there is no space for it.
  std::uint32_t counter(std::uint64_t domain, std::string_view domain_name, std::uint64_t id,
                        std::string_view name);
  // Any payload may cite a scope, and there are few of them.
  void scope(const trace::Event& event, std::uint64_t id);

 private:
  using NumberMap = core::PoolMap<trace::DomainKey, std::uint64_t, trace::DomainKeyHash>;
  class CitedNames;

  void cite(const trace::Event& event);
  void define_type(std::uint64_t domain, std::string_view domain_name, std::uint64_t id,
                   unsigned depth);
  void write_schema(std::uint32_t domain, const trace::PayloadSchema& schema);
  void write_enum(std::uint32_t domain, const trace::PayloadEnum& known);
  MeaningDefinition meaning_of(const trace::CounterUnit& unit);
  void describe_counter(std::uint64_t domain, std::string_view domain_name, std::uint64_t id,
                        std::uint32_t number);

  core::PagePool& pool_;
  DefinitionChunk& chunk_;
  NameDefinitions& names_;
  const trace::SchemaTable& schemas_;
  const trace::PayloadNames& payload_names_;
  trace::PayloadDecoder decoder_;
  core::PoolMap<trace::DomainKey, std::uint32_t, trace::DomainKeyHash> counters_;
  NumberMap described_;  // versions of the schemas and enumerations in the file
  NumberMap cited_;      // strings and categories in it
};

}  // namespace nvspan::record
