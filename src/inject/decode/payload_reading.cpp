// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/decode/payload_reading.hpp"

#include "inject/decode/extension_data.hpp"
#include "trace/sinks/payload_text.hpp"

#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

#include <algorithm>

namespace nvspan::inject {
namespace {

// Copies the first struct of that id in the chain. False: there is none.
template <typename Struct>
bool find_semantics(const nvtxSemanticsHeader_t* first, std::uint16_t id, Struct& out) {
  const auto* at = first;
  for (std::uint64_t i = 0; at != nullptr && i < most_semantics; ++i) {
    nvtxSemanticsHeader_t header = {};
    if (!read_memory(at, &header, sizeof header)) return false;
    if (header.semanticId == id && header.structSize >= sizeof out) {
      return read_memory(reinterpret_cast<const Struct*>(at), &out, sizeof out);
    }
    at = header.next;
  }
  return false;
}

class Attributes final : public trace::PayloadVisitor {
 public:
  Attributes(Call& call, const DomainView& domain, trace::Event& event)
      : call_(call), domain_(domain), event_(event) {}

  bool value(std::string_view, const trace::PayloadValue& value) override {
    if (depth_ != 0 || value.entry == nullptr) return true;
    if ((value.flags & nvtx::entry_flag::purpose_mask) == nvtx::entry_flag::message) {
      take_message(value);
    } else if (value.type == nvtx::entry_type::category) {
      event_.category = static_cast<std::uint32_t>(value.count);
      event_.category_name = call_.registry.category_name(domain_.handle, event_.category);
    } else if (value.type == nvtx::entry_type::color) {
      event_.color = static_cast<std::uint32_t>(value.count);
      event_.has_color = true;
    }
    return true;
  }
  bool begin(std::string_view, bool) override {
    ++depth_;
    return true;
  }
  bool end(bool) override {
    --depth_;
    return true;
  }
  bool takes_hidden() const override { return true; }

 private:
  void take_message(const trace::PayloadValue& value) {
    if (value.type == nvtx::entry_type::registered_string) {
      event_.message = value.label;
      event_.message_type = trace::MessageType::registered;
    } else if (value.kind == trace::PayloadValue::Kind::text) {
      event_.message = call_.scratch.arena.copy(value.text);
      event_.message_type = trace::MessageType::ascii;
    } else if (trace::string_unit(value.entry->type) == 1) {
      event_.message = kept_text(call_, handle_from<const char*>(value.count));
      event_.message_type = trace::MessageType::ascii;
    }
  }

  Call& call_;
  const DomainView& domain_;
  trace::Event& event_;
  unsigned depth_ = 0;
};

}  // namespace

std::uint64_t time_domain_of(const nvtxSemanticsHeader_t* semantics) {
  nvtxSemanticsTime_t time = {};
  return find_semantics(semantics, NVTX_SEMANTIC_ID_TIME_V1, time) ? time.timeDomainId : 0;
}

trace::CounterUnit counter_unit_of(Call& call, const nvtxSemanticsHeader_t* semantics) {
  trace::CounterUnit unit;
  nvtxSemanticsCounter_t read = {};
  if (!find_semantics(semantics, NVTX_SEMANTIC_ID_COUNTERS_V1, read)) return unit;
  unit.unit = kept_text(call, read.unit);
  unit.flags = read.flags;
  unit.scale_numerator = read.unitScaleNumerator;
  unit.scale_denominator = read.unitScaleDenominator;
  unit.limit_type = read.limitType;
  unit.min_bits = read.min.u64;
  unit.max_bits = read.max.u64;
  return unit;
}

void keep_schema(Call& call, const DomainView& domain, const trace::PayloadSchema& schema,
                 const nvtxPayloadSchemaEntry_t* entries, const trace::Field* fields,
                 std::size_t count) {
  trace::PayloadEntry* decoded = call.scratch.arena.array<trace::PayloadEntry>(count);
  for (std::size_t i = 0; i < count; ++i) {
    decoded[i] = trace::PayloadEntry();
    decoded[i].flags = entries[i].flags;
    decoded[i].type = entries[i].type;
    decoded[i].detail = entries[i].arrayOrUnionDetail;
    decoded[i].offset = entries[i].offset;
    decoded[i].name = fields[i].children[2].text;
    decoded[i].time_domain = time_domain_of(entries[i].semantics);
    decoded[i].unit = counter_unit_of(call, entries[i].semantics);
  }
  trace::PayloadSchema given = schema;
  given.entries = decoded;
  given.count = count;
  call.session.schemas().add(domain.handle, given);
}

void take_attributes(Call& call, const DomainView& domain, trace::Event& event) {
  bool any = false;
  for (std::size_t i = 0; i < event.blob_count; ++i) {
    const trace::PayloadSchema* known =
        call.session.schemas().schema(domain.handle, event.blobs[i].schema_id);
    any = any || (known != nullptr && known->has_attributes);
  }
  if (!any) return;
  trace::PayloadDecoder& decoder = call.session.decoder();
  const core::PoolVector<trace::PayloadPiece>& pieces = trace::pieces_of(event, decoder);
  Attributes visitor(call, domain, event);
  decoder.decode(domain.handle, pieces.data(), pieces.size(), call.session.names(), visitor);
}

}  // namespace nvspan::inject
