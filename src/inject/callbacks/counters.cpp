// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/callbacks/callbacks.hpp"
#include "inject/decode/attributes.hpp"
#include "inject/decode/deferred_events.hpp"
#include "inject/decode/extension_data.hpp"

namespace nvspan::inject {
namespace {

using trace::EventKind;

std::uint64_t NVTX_API register_counter(nvtxDomainHandle_t handle,
                                        const nvtxCounterAttr_t* attributes) noexcept {
  return registered(EventKind::counter_register, handle, [&](Call& call, const DomainView& domain) {
    const nvtxCounterAttr_t read = read_sized(call, attributes, &nvtxCounterAttr_t::structSize);
    const std::uint64_t id = read.counterId != NVTX_COUNTER_ID_NONE
                                 ? read.counterId
                                 : call.registry.next_id(NVTX_COUNTER_ID_DYNAMIC_START);
    const std::string_view name = kept_text(call, read.name);
    call.registry.name_counter(domain.handle, id, name);
    trace::PayloadCounter kept;
    kept.schema = read.schemaId;
    kept.scope = read.scopeId;
    kept.time_domain = time_domain_of(read.semantics);
    kept.description = kept_text(call, read.description);
    kept.unit = counter_unit_of(call, read.semantics);
    call.session.schemas().add_counter(domain.handle, id, kept);
    call.add(trace::Field::count("id", id));
    call.add(trace::Field::string("name", name));
    call.add(trace::Field::string("description", kept.description));
    call.add(trace::Field::count("schema", read.schemaId));
    call.add(trace::Field::count("scope", read.scopeId));
    call.add(semantics_field(call, read.semantics));
    return id;
  });
}

template <typename Body>
void sample(EventKind kind, nvtxDomainHandle_t handle, std::uint64_t counter,
            Body&& add_value) noexcept {
  guarded([&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    if (!domain.shown) return;
    call.add(trace::Field::count("counter", counter));
    call.add(trace::Field::string("name", call.registry.counter_name(domain.handle, counter)));
    trace::Event event = call.event(kind, domain);
    if (const trace::PayloadCounter* known =
            call.session.schemas().counter(domain.handle, counter)) {
      event.row_schema = known->schema;
    }
    add_value(call, event);
    if (event.row_schema == 0) event.rows = {};
    call.emit(event);
  });
}

void NVTX_API sample_int64(nvtxDomainHandle_t domain, std::uint64_t counter,
                           std::int64_t value) noexcept {
  sample(EventKind::counter_sample, domain, counter,
         [&](Call& call, trace::Event&) { call.add(trace::Field::number("value", value)); });
}

void NVTX_API sample_float64(nvtxDomainHandle_t domain, std::uint64_t counter,
                             double value) noexcept {
  sample(EventKind::counter_sample, domain, counter,
         [&](Call& call, trace::Event&) { call.add(trace::Field::decimal("value", value)); });
}

void NVTX_API sample_bytes(nvtxDomainHandle_t domain, std::uint64_t counter, const void* value,
                           std::size_t size) noexcept {
  sample(EventKind::counter_sample, domain, counter,
         [&](Call& call, trace::Event& event) { event.rows = add_raw(call, "hex", value, size); });
}

void NVTX_API sample_no_value(nvtxDomainHandle_t domain, std::uint64_t counter,
                              std::uint8_t reason) noexcept {
  sample(EventKind::counter_sample, domain, counter,
         [&](Call& call, trace::Event&) { call.add(trace::Field::count("no_value", reason)); });
}

void NVTX_API submit_counters(nvtxDomainHandle_t domain, const nvtxCounterBatch_t* batch) noexcept {
  nvtxCounterBatch_t read = {};
  const int saved = errno;
  const bool readable = read_memory(batch, &read, sizeof read);
  errno = saved;
  sample(EventKind::counter_batch, domain, read.counterId, [&](Call& call, trace::Event& event) {
    if (!readable) {
      call.add(trace::Field::string("error", batch == nullptr ? "null" : "unreadable"));
      return;
    }
    call.add(trace::Field::count("flags", read.flags));
    const bool is_large = read.countersSize > most_raw_bytes ||
                          read.timestampsSize > most_entries * sizeof(std::int64_t);
    if (is_large && call.session.records() &&
        record_large_counters(call, call.registry.domain(handle_bits(domain)), read)) {
      call.add(trace::Field::count("size", read.countersSize));
      return;
    }
    const std::string_view samples = add_raw(call, "hex", read.counters, read.countersSize);
    event.rows = samples;
    std::size_t count = read.timestampsSize / sizeof(std::int64_t);
    const std::int64_t* timestamps = nullptr;
    if (read.timestamps != nullptr) {
      timestamps = read_array(call, read.timestamps, count);
      trace::Field* list = call.scratch.arena.array<trace::Field>(count);
      for (std::size_t i = 0; i < count; ++i)
        list[i] = trace::Field::number(nullptr, timestamps[i]);
      call.add(trace::Field::list("timestamps", list, count));
    }
    record_counter_batch(call, call.registry.domain(handle_bits(domain)),
                         {read.counterId, read.flags, samples, timestamps, count});
  });
}

}  // namespace

void install_counters(std::intptr_t* slots, std::size_t count) {
  set_slot(slots, count, NVTX3EXT_CBID_nvtxCounterRegister, register_counter);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxCounterSampleInt64, sample_int64);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxCounterSampleFloat64, sample_float64);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxCounterSample, sample_bytes);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxCounterSampleNoValue, sample_no_value);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxCounterBatchSubmit, submit_counters);
}

}  // namespace nvspan::inject
