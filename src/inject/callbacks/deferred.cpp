// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/callbacks/callbacks.hpp"
#include "inject/decode/attributes.hpp"
#include "inject/decode/deferred_events.hpp"
#include "inject/decode/extension_data.hpp"

namespace nvspan {
namespace {

// The clock of every event's "ts", so that deferred events fit in.
std::int64_t NVTX_API get_timestamp() noexcept { return static_cast<std::int64_t>(now()); }

// Runs body(call, domain) and emits an event of `kind` with the fields that it added.
template <typename Body>
void describe(EventKind kind, nvtxDomainHandle_t handle, Body&& body) noexcept {
  guarded([&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    if (!domain.shown) return;
    Event event = call.event(kind, domain);
    body(call, domain, event);
    call.emit(event);
  });
}

std::uint64_t NVTX_API register_time_domain(nvtxDomainHandle_t handle,
                                            const nvtxTimeDomainAttr_t* attributes) noexcept {
  return guarded(std::uint64_t{0}, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    nvtxTimeDomainAttr_t read = {};
    if (!read_memory(attributes, &read, sizeof read)) {
      call.add(Field::string("error", attributes == nullptr ? "null" : "unreadable"));
    }
    const std::uint64_t id = read.timeDomainId != 0
                                 ? read.timeDomainId
                                 : call.registry.next_id(NVTX_TIME_DOMAIN_ID_DYNAMIC_START);
    call.session.time_domains().keep(id, read.timestampTypeId);
    if (!domain.shown) return id;
    call.add(Field::count("id", id));
    call.add(Field::count("scope", read.scopeId));
    call.add(Field::count("timestamp_type", read.timestampTypeId));
    call.add(Field::count("flags", read.timerFlags));
    call.add(Field::number("resolution", read.timerResolution));
    call.add(Field::count("start", read.timerStart));
    Event event = call.event(EventKind::time_domain_register, domain);
    call.emit(event);
    return id;
  });
}

// The program's clock is never called: its context, and even its code, may be gone by then.
void NVTX_API timer_source(nvtxDomainHandle_t handle, std::uint64_t time_domain,
                           std::uint64_t flags, std::int64_t (*provider)()) noexcept {
  describe(EventKind::timer_source, handle, [&](Call& call, const DomainView&, Event&) {
    call.add(Field::count("time_domain", time_domain));
    call.add(Field::count("flags", flags));
    call.add(Field::count("provider", handle_bits(provider)));
  });
}

void NVTX_API timer_source_with_data(nvtxDomainHandle_t handle, std::uint64_t time_domain,
                                     std::uint64_t flags, std::int64_t (*provider)(void*),
                                     void* data) noexcept {
  describe(EventKind::timer_source, handle, [&](Call& call, const DomainView&, Event&) {
    call.add(Field::count("time_domain", time_domain));
    call.add(Field::count("flags", flags));
    call.add(Field::count("provider", handle_bits(provider)));
    call.add(Field::count("data", handle_bits(data)));
  });
}

void NVTX_API time_sync_point(nvtxDomainHandle_t handle, std::uint64_t first, std::uint64_t second,
                              std::int64_t at_first, std::int64_t at_second) noexcept {
  describe(EventKind::time_sync_point, handle, [&](Call& call, const DomainView&, Event&) {
    call.add(Field::count("time_domain_1", first));
    call.add(Field::count("time_domain_2", second));
    call.add(Field::number("timestamp_1", at_first));
    call.add(Field::number("timestamp_2", at_second));
  });
}

void NVTX_API time_sync_table(nvtxDomainHandle_t handle, std::uint64_t source,
                              std::uint64_t destination, const nvtxSyncPoint_t* points,
                              std::size_t count) noexcept {
  describe(EventKind::time_sync_table, handle, [&](Call& call, const DomainView&, Event&) {
    call.add(Field::count("time_domain_src", source));
    call.add(Field::count("time_domain_dst", destination));
    std::size_t read = count;
    const nvtxSyncPoint_t* copies = read_array(call, points, read);
    Field* list = call.scratch.arena.array<Field>(read);
    for (std::size_t i = 0; i < read; ++i) {
      Field* pair = call.scratch.arena.array<Field>(2);
      pair[0] = Field::number(nullptr, copies[i].src);
      pair[1] = Field::number(nullptr, copies[i].dst);
      list[i] = Field::list(nullptr, pair, 2);
    }
    call.add(Field::list("points", list, read));
  });
}

void NVTX_API time_conversion(nvtxDomainHandle_t handle, std::uint64_t source,
                              std::uint64_t destination, double slope, std::int64_t at_source,
                              std::int64_t at_destination) noexcept {
  describe(EventKind::time_conversion, handle, [&](Call& call, const DomainView&, Event&) {
    call.add(Field::count("time_domain_src", source));
    call.add(Field::count("time_domain_dst", destination));
    call.add(Field::decimal("slope", slope));
    call.add(Field::number("timestamp_src", at_source));
    call.add(Field::number("timestamp_dst", at_destination));
  });
}

void NVTX_API submit_event(nvtxDomainHandle_t handle, const nvtxPayloadData_t* pieces,
                           std::size_t count) noexcept {
  describe(
      EventKind::event_submit, handle, [&](Call& call, const DomainView& domain, Event& event) {
        Event payloads;
        read_payloads(call, domain, pieces, count, payloads);
        constexpr std::size_t members = 3;
        Field* list = call.scratch.arena.array<Field>(payloads.blob_count);
        for (std::size_t i = 0; i < payloads.blob_count; ++i) {
          const PayloadBlob& blob = payloads.blobs[i];
          Field* fields = call.scratch.arena.array<Field>(members);
          fields[0] = Field::count("schema", blob.schema_id);
          fields[1] = Field::bytes("hex", blob.data);
          if (blob.error != nullptr) fields[2] = Field::string("error", blob.error);
          list[i] = Field::object(nullptr, fields, blob.error != nullptr ? members : members - 1);
          record_deferred(call, domain, blob.schema_id, blob.data);
        }
        call.add(Field::list("payload_data", list, payloads.blob_count));
        add_malformed_field(call);
        event.blobs = payloads.blobs;
        event.blob_count = payloads.blob_count;
      });
}

void NVTX_API submit_batch(nvtxDomainHandle_t handle, const nvtxEventBatch_t* batch) noexcept {
  describe(EventKind::event_batch, handle, [&](Call& call, const DomainView& domain, Event& event) {
    nvtxEventBatch_t read = {};
    if (!read_memory(batch, &read, sizeof read)) {
      call.add(Field::string("error", batch == nullptr ? "null" : "unreadable"));
      return;
    }
    call.add(Field::count("schema", read.eventSchemaId));
    call.add(Field::count("scope", read.scope));
    call.add(Field::count("flags", read.flags));
    const std::string_view events = add_raw(call, "hex", read.events, read.size);
    event.rows = events;
    event.row_schema = read.eventSchemaId;
    if (record_deferred_batch(call, domain, read.eventSchemaId, events)) {
      call.scratch.fields.pop_back();  // the recording has all of it in its place
    } else if (events.data() == nullptr && read.size > most_raw_bytes &&
               record_large_batch(call, domain, read)) {
      call.scratch.fields.pop_back();  // nor is there an error
      call.scratch.fields.pop_back();
    }
    if (read.flexData == nullptr) return;
    call.add(Field::count("flex_offset", read.flexDataOffset));
    constexpr std::size_t most_flex_bytes = 1024 * 1024;
    const bool copied = read.flexDataSize <= most_flex_bytes;
    char* copy = call.scratch.arena.bytes(copied ? read.flexDataSize : 0);
    const bool readable = copied && read_memory(read.flexData, copy, read.flexDataSize);
    call.add(Field::bytes(
        "flex_hex", readable ? std::string_view(copy, read.flexDataSize) : std::string_view()));
  });
}

}  // namespace

void install_deferred(std::intptr_t* slots, std::size_t count) {
  set_slot(slots, count, NVTX3EXT_CBID_nvtxTimestampGet, get_timestamp);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxTimeDomainRegister, register_time_domain);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxTimerSource, timer_source);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxTimerSourceWithData, timer_source_with_data);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxTimeSyncPoint, time_sync_point);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxTimeSyncPointTable, time_sync_table);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxTimestampConversionFactor, time_conversion);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxEventSubmit, submit_event);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxEventBatchSubmit, submit_batch);
}

}  // namespace nvspan
