// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/callbacks/callbacks.hpp"
#include "inject/decode/attributes.hpp"
#include "inject/decode/deferred_events.hpp"
#include "inject/decode/extension_data.hpp"

namespace nvspan::inject {
namespace {

using trace::EventKind;

// The clock of every event's "ts", so that deferred events fit in.
std::int64_t NVTX_API get_timestamp() noexcept {
  return static_cast<std::int64_t>(core::monotonic_ns());
}

std::uint64_t NVTX_API register_time_domain(nvtxDomainHandle_t handle,
                                            const nvtxTimeDomainAttr_t* attributes) noexcept {
  return registered(EventKind::time_domain_register, handle, [&](Call& call, const DomainView&) {
    nvtxTimeDomainAttr_t read = {};
    read_struct(call, attributes, read);
    const std::uint64_t id = read.timeDomainId != 0
                                 ? read.timeDomainId
                                 : call.registry.next_id(NVTX_TIME_DOMAIN_ID_DYNAMIC_START);
    call.session.time_domains().keep(id, read.timestampTypeId);
    call.add(trace::Field::count("id", id));
    call.add(trace::Field::count("scope", read.scopeId));
    call.add(trace::Field::count("timestamp_type", read.timestampTypeId));
    call.add(trace::Field::count("flags", read.timerFlags));
    call.add(trace::Field::number("resolution", read.timerResolution));
    call.add(trace::Field::count("start", read.timerStart));
    return id;
  });
}

// The program's clock is never called: its context, and even its code, may be gone by then.
void NVTX_API timer_source(nvtxDomainHandle_t handle, std::uint64_t time_domain,
                           std::uint64_t flags, std::int64_t (*provider)()) noexcept {
  describe(EventKind::timer_source, handle, [&](Call& call) {
    call.add(trace::Field::count("time_domain", time_domain));
    call.add(trace::Field::count("flags", flags));
    call.add(trace::Field::count("provider", handle_bits(provider)));
  });
}

void NVTX_API timer_source_with_data(nvtxDomainHandle_t handle, std::uint64_t time_domain,
                                     std::uint64_t flags, std::int64_t (*provider)(void*),
                                     void* data) noexcept {
  describe(EventKind::timer_source, handle, [&](Call& call) {
    call.add(trace::Field::count("time_domain", time_domain));
    call.add(trace::Field::count("flags", flags));
    call.add(trace::Field::count("provider", handle_bits(provider)));
    call.add(trace::Field::count("data", handle_bits(data)));
  });
}

void NVTX_API time_sync_point(nvtxDomainHandle_t handle, std::uint64_t first, std::uint64_t second,
                              std::int64_t at_first, std::int64_t at_second) noexcept {
  describe(EventKind::time_sync_point, handle, [&](Call& call) {
    call.add(trace::Field::count("time_domain_1", first));
    call.add(trace::Field::count("time_domain_2", second));
    call.add(trace::Field::number("timestamp_1", at_first));
    call.add(trace::Field::number("timestamp_2", at_second));
  });
}

void NVTX_API time_sync_table(nvtxDomainHandle_t handle, std::uint64_t source,
                              std::uint64_t destination, const nvtxSyncPoint_t* points,
                              std::size_t count) noexcept {
  describe(EventKind::time_sync_table, handle, [&](Call& call) {
    call.add(trace::Field::count("time_domain_src", source));
    call.add(trace::Field::count("time_domain_dst", destination));
    std::size_t read = count;
    const nvtxSyncPoint_t* copies = read_array(call, points, read);
    trace::Field* list = call.scratch.arena.array<trace::Field>(read);
    for (std::size_t i = 0; i < read; ++i) {
      trace::Field* pair = call.scratch.arena.array<trace::Field>(2);
      pair[0] = trace::Field::number(nullptr, copies[i].src);
      pair[1] = trace::Field::number(nullptr, copies[i].dst);
      list[i] = trace::Field::list(nullptr, pair, 2);
    }
    call.add(trace::Field::list("points", list, read));
  });
}

void NVTX_API time_conversion(nvtxDomainHandle_t handle, std::uint64_t source,
                              std::uint64_t destination, double slope, std::int64_t at_source,
                              std::int64_t at_destination) noexcept {
  describe(EventKind::time_conversion, handle, [&](Call& call) {
    call.add(trace::Field::count("time_domain_src", source));
    call.add(trace::Field::count("time_domain_dst", destination));
    call.add(trace::Field::decimal("slope", slope));
    call.add(trace::Field::number("timestamp_src", at_source));
    call.add(trace::Field::number("timestamp_dst", at_destination));
  });
}

void NVTX_API submit_event(nvtxDomainHandle_t handle, const nvtxPayloadData_t* pieces,
                           std::size_t count) noexcept {
  describe(EventKind::event_submit, handle,
           [&](Call& call, const DomainView& domain, trace::Event& event) {
             trace::Event payloads;
             read_payloads(call, domain, pieces, count, payloads);
             constexpr std::size_t members = 3;
             trace::Field* list = call.scratch.arena.array<trace::Field>(payloads.blob_count);
             for (std::size_t i = 0; i < payloads.blob_count; ++i) {
               const trace::PayloadBlob& blob = payloads.blobs[i];
               trace::Field* fields = call.scratch.arena.array<trace::Field>(members);
               fields[0] = trace::Field::count("schema", blob.schema_id);
               fields[1] = trace::Field::bytes("hex", blob.data);
               if (blob.error != nullptr) fields[2] = trace::Field::string("error", blob.error);
               list[i] = trace::Field::object(nullptr, fields,
                                              blob.error != nullptr ? members : members - 1);
               record_deferred(call, domain, blob.schema_id, blob.data);
             }
             call.add(trace::Field::list("payload_data", list, payloads.blob_count));
             add_malformed_field(call);
             event.blobs = payloads.blobs;
             event.blob_count = payloads.blob_count;
           });
}

void NVTX_API submit_batch(nvtxDomainHandle_t handle, const nvtxEventBatch_t* batch) noexcept {
  describe(
      EventKind::event_batch, handle,
      [&](Call& call, const DomainView& domain, trace::Event& event) {
        nvtxEventBatch_t read = {};
        if (!read_struct(call, batch, read)) return;
        call.add(trace::Field::count("schema", read.eventSchemaId));
        call.add(trace::Field::count("scope", read.scope));
        call.add(trace::Field::count("flags", read.flags));
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
        call.add(trace::Field::count("flex_offset", read.flexDataOffset));
        constexpr std::size_t most_flex_bytes = 1024 * 1024;
        const bool copied = read.flexDataSize <= most_flex_bytes;
        char* copy = call.scratch.arena.bytes(copied ? read.flexDataSize : 0);
        const bool readable = copied && read_memory(read.flexData, copy, read.flexDataSize);
        call.add(trace::Field::bytes(
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

}  // namespace nvspan::inject
