// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/callbacks/callbacks.hpp"
#include "inject/callbacks/event_calls.hpp"
#include "inject/decode/deferred_events.hpp"
#include "inject/decode/extension_data.hpp"

namespace nvspan::inject {
namespace {

using trace::EventKind;

auto from_payloads(const nvtxPayloadData_t* pieces, std::size_t count) {
  return [pieces, count](Call& call, const DomainView& domain, trace::Event& event) {
    read_payloads(call, domain, pieces, count, event);
  };
}
// Of what opens or marks: there the payload has the name.
auto named_by_payloads(const nvtxPayloadData_t* pieces, std::size_t count) {
  return [pieces, count](Call& call, const DomainView& domain, trace::Event& event) {
    read_payloads(call, domain, pieces, count, event);
    take_attributes(call, domain, event);
  };
}

void NVTX_API mark_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* pieces,
                           std::size_t count) noexcept {
  mark(domain, named_by_payloads(pieces, count));
}
int NVTX_API push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* pieces,
                          std::size_t count) noexcept {
  return push(domain, named_by_payloads(pieces, count));
}
int NVTX_API pop_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* pieces,
                         std::size_t count) noexcept {
  return pop(domain, from_payloads(pieces, count));
}
nvtxRangeId_t NVTX_API start_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* pieces,
                                     std::size_t count) noexcept {
  return start(domain, named_by_payloads(pieces, count));
}
void NVTX_API end_payload(nvtxDomainHandle_t domain, nvtxRangeId_t id,
                          const nvtxPayloadData_t* pieces, std::size_t count) noexcept {
  end(domain, id, from_payloads(pieces, count));
}

std::uint8_t NVTX_API domain_is_enabled(nvtxDomainHandle_t handle) noexcept {
  return guarded(std::uint8_t{0}, [&](Call& call) {
    return std::uint8_t{call.registry.domain(handle_bits(handle)).shown};
  });
}

trace::Field entry_field(Call& call, const nvtxPayloadSchemaEntry_t& entry) {
  constexpr std::size_t members = 7;
  trace::Field* fields = call.scratch.arena.array<trace::Field>(members);
  fields[0] = trace::Field::count("flags", entry.flags);
  fields[1] = trace::Field::count("type", entry.type);
  fields[2] = trace::Field::string("name", kept_text(call, entry.name));
  fields[3] = trace::Field::string("description", kept_text(call, entry.description));
  fields[4] = trace::Field::count("array_or_union_detail", entry.arrayOrUnionDetail);
  fields[5] = trace::Field::count("offset", entry.offset);
  fields[6] = semantics_field(call, entry.semantics);
  return trace::Field::object(nullptr, fields, members);
}

// `read.fieldMask` says which fields a program gave: of the others the value is zero.
template <typename Attributes>
auto given_fields(const Attributes& read) {
  return [&read](std::uint64_t fields, auto value) {
    return (read.fieldMask & fields) == fields ? value : decltype(value){};
  };
}

std::uint64_t NVTX_API register_schema(nvtxDomainHandle_t handle,
                                       const nvtxPayloadSchemaAttr_t* attributes) noexcept {
  return registered(EventKind::schema_register, handle, [&](Call& call, const DomainView& domain) {
    nvtxPayloadSchemaAttr_t read = {};
    read_struct(call, attributes, read);
    const auto given = given_fields(read);
    trace::PayloadSchema kept;
    kept.id = given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID, read.schemaId);
    if (kept.id == 0) kept.id = call.registry.next_id(NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
    kept.name = kept_text(call, given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME, read.name));
    kept.type = given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE, read.type);
    kept.flags = given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS, read.flags);
    kept.size = given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE, read.payloadStaticSize);
    kept.pack = given(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT, read.packAlign);
    if (kept.size != 0) call.registry.set_schema_size(domain.handle, kept.id, kept.size);

    call.add(trace::Field::count("id", kept.id));
    call.add(trace::Field::string("name", kept.name));
    call.add(trace::Field::count("type", kept.type));
    call.add(trace::Field::count("flags", kept.flags));
    call.add(trace::Field::count("static_size", kept.size));
    call.add(trace::Field::count("pack_align", kept.pack));
    constexpr std::uint64_t counted =
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
    std::size_t count = given(counted, read.numEntries);
    const nvtxPayloadSchemaEntry_t* entries = read_array(call, read.entries, count);
    trace::Field* list = call.scratch.arena.array<trace::Field>(count);
    for (std::size_t i = 0; i < count; ++i) list[i] = entry_field(call, entries[i]);
    call.add(trace::Field::list("entries", list, count));
    call.add(trace::Field::bytes(
        "hex", {reinterpret_cast<const char*>(entries), count * sizeof(nvtxPayloadSchemaEntry_t)}));
    keep_schema(call, domain, kept, entries, list, count);
    return kept.id;
  });
}

std::uint64_t NVTX_API register_enum(nvtxDomainHandle_t handle,
                                     const nvtxPayloadEnumAttr_t* attributes) noexcept {
  return registered(EventKind::enum_register, handle, [&](Call& call, const DomainView& domain) {
    nvtxPayloadEnumAttr_t read = {};
    read_struct(call, attributes, read);
    const auto given = given_fields(read);
    trace::PayloadEnum kept;
    kept.id = given(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID, read.schemaId);
    if (kept.id == 0) kept.id = call.registry.next_id(NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
    kept.size = given(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE, read.sizeOfEnum);

    call.add(trace::Field::count("id", kept.id));
    const auto* name = given(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME, read.name);
    call.add(trace::Field::string("name", kept_text(call, name)));
    call.add(trace::Field::count("size", kept.size));
    constexpr std::uint64_t counted =
        NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES;
    std::size_t count = given(counted, read.numEntries);
    const nvtxPayloadEnum_t* entries = read_array(call, read.entries, count);
    trace::Field* list = call.scratch.arena.array<trace::Field>(count);
    auto* values = call.scratch.arena.array<trace::PayloadEnumValue>(count);
    for (std::size_t i = 0; i < count; ++i) {
      constexpr std::size_t members = 3;
      trace::Field* fields = call.scratch.arena.array<trace::Field>(members);
      values[i] = trace::PayloadEnumValue{kept_text(call, entries[i].name), entries[i].value,
                                          entries[i].isFlag != 0};
      fields[0] = trace::Field::string("name", values[i].name);
      fields[1] = trace::Field::count("value", entries[i].value);
      fields[2] = trace::Field::flag("is_flag", entries[i].isFlag != 0);
      list[i] = trace::Field::object(nullptr, fields, members);
    }
    call.add(trace::Field::list("entries", list, count));
    kept.values = values;
    kept.count = count;
    call.session.schemas().add(domain.handle, kept);
    return kept.id;
  });
}

std::uint64_t NVTX_API register_scope(nvtxDomainHandle_t handle,
                                      const nvtxScopeAttr_t* attributes) noexcept {
  return registered(EventKind::scope_register, handle, [&](Call& call, const DomainView& domain) {
    const nvtxScopeAttr_t read = read_sized(call, attributes, &nvtxScopeAttr_t::structSize);
    const std::uint64_t id =
        read.scopeId != 0 ? read.scopeId : call.registry.next_id(NVTX_SCOPE_ID_DYNAMIC_START);
    const std::string_view path = kept_text(call, read.path);
    call.session.schemas().add_scope(domain.handle, id,
                                     trace::PayloadScope{read.parentScope, path});
    call.add(trace::Field::count("id", id));
    call.add(trace::Field::string("name", path));
    call.add(trace::Field::count("parent", read.parentScope));
    return id;
  });
}

}  // namespace

void install_payload(std::intptr_t* slots, std::size_t count) {
  set_slot(slots, count, NVTX3EXT_CBID_nvtxPayloadSchemaRegister, register_schema);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxPayloadEnumRegister, register_enum);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMarkPayload, mark_payload);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxRangePushPayload, push_payload);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxRangePopPayload, pop_payload);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxRangeStartPayload, start_payload);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxRangeEndPayload, end_payload);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxDomainIsEnabled, domain_is_enabled);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxScopeRegister, register_scope);
}

}  // namespace nvspan::inject
