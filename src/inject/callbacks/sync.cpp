// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/callbacks/callbacks.hpp"
#include "inject/decode/attributes.hpp"

namespace nvspan::inject {
namespace {

nvtx_nvtxSyncUser_t NVTX_API sync_create(nvtxDomainHandle_t handle,
                                         const nvtx_nvtxSyncUserAttributes_t* given) noexcept {
  return guarded(nvtx_nvtxSyncUser_t{}, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    const auto read = read_given(call, static_cast<const nvtxSyncUserAttributes_t*>(given));
    trace::Event event = call.event(trace::EventKind::sync_create, domain);
    read_message(call, domain, read.messageType, read.message, event);
    const std::uint64_t handle =
        call.registry.create_object(HandleType::sync, domain.handle, event.message);
    if (domain.shown) {
      call.add(trace::Field::count("handle", handle));
      call.add(trace::Field::string("name", event.message));
      add_malformed_field(call);
      event.message = std::string_view();
      call.emit(event);
    }
    return handle_from<nvtx_nvtxSyncUser_t>(handle);
  });
}

template <trace::EventKind kind>
void NVTX_API sync_event(nvtx_nvtxSyncUser_t handle) noexcept {
  guarded([&](Call& call) {
    const std::uint64_t bits = handle_bits(handle);
    const NamedObject object = call.registry.object(bits);
    const DomainView domain = call.registry.domain(object.domain);
    if (kind == trace::EventKind::sync_destroy) call.registry.destroy_object(bits);
    if (!domain.shown) return;
    call.add(trace::Field::count("handle", bits));
    call.add(trace::Field::string("name", object.name));
    call.emit(kind, domain);
  });
}

}  // namespace

void install_sync(NvtxFunctionTable table, unsigned size) {
  set_entry(table, size, NVTX_CBID_SYNC_DomainSyncUserCreate, sync_create);
  set_entry(table, size, NVTX_CBID_SYNC_DomainSyncUserDestroy,
            sync_event<trace::EventKind::sync_destroy>);
  set_entry(table, size, NVTX_CBID_SYNC_DomainSyncUserAcquireStart,
            sync_event<trace::EventKind::sync_acquire_start>);
  set_entry(table, size, NVTX_CBID_SYNC_DomainSyncUserAcquireFailed,
            sync_event<trace::EventKind::sync_acquire_failed>);
  set_entry(table, size, NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess,
            sync_event<trace::EventKind::sync_acquire_success>);
  set_entry(table, size, NVTX_CBID_SYNC_DomainSyncUserReleasing,
            sync_event<trace::EventKind::sync_releasing>);
}

}  // namespace nvspan::inject
