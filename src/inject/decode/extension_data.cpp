// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/decode/extension_data.hpp"

#include "trace/sinks/payload_text.hpp"

#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

#include <algorithm>

namespace nvspan::inject {
namespace {

constexpr std::size_t most_text = 64 * 1024;
constexpr std::size_t most_semantics = 16;  // of a chain that are looked at
constexpr std::size_t most_semantics_bytes = 1024;

// Absent when it is not readable.
std::string_view kept_bytes(Call& call, const void* data, std::size_t size) {
  char* copy = call.scratch.arena.bytes(size);
  return read_memory(data, copy, size) ? std::string_view(copy, size) : std::string_view();
}

// Absent where it is no counter's, or has none.
std::string_view unit_of(Call& call, const nvtxSemanticsHeader_t& header,
                         const nvtxSemanticsHeader_t* at) {
  nvtxSemanticsCounter_t counter = {};
  if (header.semanticId != NVTX_SEMANTIC_ID_COUNTERS_V1 || header.structSize < sizeof counter ||
      !read_memory(reinterpret_cast<const nvtxSemanticsCounter_t*>(at), &counter, sizeof counter)) {
    return {};
  }
  return kept_text(call, counter.unit);
}

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

std::string_view kept_text(Call& call, const char* text) {
  core::PoolString& out = call.scratch.text;
  switch (read_string(text, most_text, out)) {
    case StringStatus::absent:
      return {};
    case StringStatus::unreadable:
      return "<unreadable>";
    default:
      return call.scratch.arena.copy(out);
  }
}

std::string_view add_raw(Call& call, const char* key, const void* data, std::size_t size) {
  call.add(trace::Field::count("size", size));
  std::string_view copy;
  const char* error = "too large";
  if (size <= most_raw_bytes) {
    copy = kept_bytes(call, data, size);
    error = data == nullptr ? "null" : "unreadable";
  }
  call.add(trace::Field::bytes(key, copy));
  if (copy.data() == nullptr) call.add(trace::Field::string("error", error));
  return copy;
}

trace::Field semantics_field(Call& call, const nvtxSemanticsHeader_t* first) {
  constexpr std::size_t members = 4;
  trace::Field* list = nullptr;
  std::size_t count = 0;
  for (const auto* at = first; at != nullptr && count < most_semantics; ++count) {
    nvtxSemanticsHeader_t header = {};
    if (!read_memory(at, &header, sizeof header)) break;
    std::string_view raw;
    if (header.structSize <= most_semantics_bytes) raw = kept_bytes(call, at, header.structSize);
    trace::Field* fields = call.scratch.arena.array<trace::Field>(members);
    fields[0] = trace::Field::count("id", header.semanticId);
    fields[1] = trace::Field::count("version", header.version);
    fields[2] = trace::Field::bytes("hex", raw);
    if (list == nullptr) list = call.scratch.arena.array<trace::Field>(most_semantics);
    fields[3] = trace::Field::string("unit", unit_of(call, header, at));
    const bool has_unit = fields[3].text.data() != nullptr;
    list[count] = trace::Field::object(nullptr, fields, has_unit ? members : members - 1);
    at = header.next;
  }
  return trace::Field::list("semantics", list, count);
}

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
  decoder.decode({domain.handle, call.session.names(), visitor}, pieces.data(), pieces.size());
}

}  // namespace nvspan::inject
