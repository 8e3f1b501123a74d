// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/callbacks/callbacks.hpp"
#include "inject/decode/attributes.hpp"
#include "inject/decode/extension_data.hpp"

namespace nvspan::inject {
namespace {

// As in nvToolsExtMemCudaRt.h, which cannot be included without CUDA's own headers.
struct MarkInitializedBatch {
  std::uint16_t extCompatID;
  std::uint16_t structSize;
  std::uint32_t regionType;
  std::size_t regionDescCount;
  std::size_t regionDescElementSize;
  const void* regionDescElements;
};

// The bytes of an array whose element size the program states.
void add_elements(Call& call, const void* elements, std::size_t count, std::size_t element_size) {
  call.add(trace::Field::count("count", count));
  call.add(trace::Field::count("element_size", element_size));
  const bool overflows = element_size != 0 && count > static_cast<std::size_t>(-1) / element_size;
  add_raw(call, "hex", elements, overflows ? static_cast<std::size_t>(-1) : count * element_size);
}

template <typename Handle>
Handle create(Call& call, trace::EventKind kind, HandleType type, const DomainView& domain,
              std::string_view name) {
  const std::uint64_t handle = call.registry.create_object(type, domain.handle, name);
  if (domain.shown) {
    call.add(trace::Field::count("handle", handle));
    call.add(trace::Field::string("name", name));
    add_malformed_field(call);
    trace::Event event = call.event(kind, domain);
    call.emit(event);
  }
  return handle_from<Handle>(handle);
}

nvtxMemHeapHandle_t NVTX_API heap_register(nvtxDomainHandle_t handle,
                                           const nvtxMemHeapDesc_t* given) noexcept {
  return guarded(nvtxMemHeapHandle_t{}, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    const nvtxMemHeapDesc_t read = read_sized(call, given, &nvtxMemHeapDesc_t::structSize);
    trace::Event named;
    read_message(call, domain, static_cast<std::int32_t>(read.messageType), read.message, named);
    call.add(trace::Field::count("usage", read.usage));
    call.add(trace::Field::count("type", read.type));
    call.add(trace::Field::count("category", read.category));
    add_raw(call, "hex", read.typeSpecificDesc, read.typeSpecificDescSize);
    return create<nvtxMemHeapHandle_t>(call, trace::EventKind::mem_heap_register, HandleType::heap,
                                       domain, named.message);
  });
}

template <trace::EventKind kind, typename Handle>
void NVTX_API object_event(nvtxDomainHandle_t domain, Handle object) noexcept {
  describe(kind, domain, [&](Call& call) {
    const std::uint64_t bits = handle_bits(object);
    call.add(trace::Field::count("handle", bits));
    call.add(trace::Field::string("name", call.registry.object(bits).name));
    const bool gone = kind == trace::EventKind::mem_heap_unregister ||
                      kind == trace::EventKind::mem_permissions_destroy;
    if (gone) call.registry.destroy_object(bits);
  });
}

void NVTX_API regions_register(nvtxDomainHandle_t domain,
                               const nvtxMemRegionsRegisterBatch_t* given) noexcept {
  guarded([&](Call& call) {
    const DomainView view = call.registry.domain(handle_bits(domain));
    const auto read = read_sized(call, given, &nvtxMemRegionsRegisterBatch_t::structSize);
    call.add(trace::Field::count("region_type", read.regionType));
    call.add(trace::Field::count("heap", handle_bits(read.heap)));
    add_elements(call, read.regionDescElements, read.regionCount, read.regionDescElementSize);
    // Handed out through the program's own array: refused like any count that makes no sense.
    const std::size_t count = read.regionCount <= most_entries ? read.regionCount : 0;
    const bool wanted = read.regionHandleElementsOut != nullptr;
    trace::Field* list = call.scratch.arena.array<trace::Field>(count);
    for (std::size_t i = 0; wanted && i < count; ++i) {
      const std::uint64_t region = call.registry.create_object(HandleType::region, view.handle, {});
      read.regionHandleElementsOut[i] = handle_from<nvtxMemRegionHandle_t>(region);
      list[i] = trace::Field::count(nullptr, region);
    }
    if (wanted) call.add(trace::Field::list("handles", list, count));
    if (!view.shown) return;
    trace::Event event = call.event(trace::EventKind::mem_regions_register, view);
    call.emit(event);
  });
}

void NVTX_API regions_resize(nvtxDomainHandle_t domain,
                             const nvtxMemRegionsResizeBatch_t* given) noexcept {
  describe(trace::EventKind::mem_regions_resize, domain, [&](Call& call) {
    const auto read = read_sized(call, given, &nvtxMemRegionsResizeBatch_t::structSize);
    call.add(trace::Field::count("region_type", read.regionType));
    add_elements(call, read.regionDescElements, read.regionDescCount, read.regionDescElementSize);
  });
}

void NVTX_API regions_unregister(nvtxDomainHandle_t domain,
                                 const nvtxMemRegionsUnregisterBatch_t* given) noexcept {
  describe(trace::EventKind::mem_regions_unregister, domain, [&](Call& call) {
    const auto read = read_sized(call, given, &nvtxMemRegionsUnregisterBatch_t::structSize);
    call.add(trace::Field::count("ref_type", read.refType));
    add_elements(call, read.refElements, read.refCount, read.refElementSize);
  });
}

void NVTX_API regions_name(nvtxDomainHandle_t handle,
                           const nvtxMemRegionsNameBatch_t* given) noexcept {
  guarded([&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    if (!domain.shown) return;
    const auto read = read_sized(call, given, &nvtxMemRegionsNameBatch_t::structSize);
    const bool known_layout = read.regionElementSize == sizeof(nvtxMemRegionNameDesc_t);
    std::size_t count = known_layout ? read.regionCount : 0;
    const nvtxMemRegionNameDesc_t* regions = read_array(call, read.regionElements, count);
    constexpr std::size_t members = 3;
    trace::Field* list = call.scratch.arena.array<trace::Field>(count);
    for (std::size_t i = 0; i < count; ++i) {
      trace::Event named;
      read_message(call, domain, static_cast<std::int32_t>(regions[i].nameType), regions[i].name,
                   named);
      trace::Field* fields = call.scratch.arena.array<trace::Field>(members);
      fields[0] = trace::Field::count("region", handle_bits(regions[i].region.pointer));
      fields[1] = trace::Field::string("name", named.message);
      fields[2] = trace::Field::count("category", regions[i].category);
      list[i] = trace::Field::object(nullptr, fields, members);
    }
    call.add(trace::Field::list("regions", list, count));
    if (!known_layout) {
      add_elements(call, read.regionElements, read.regionCount, read.regionElementSize);
    }
    add_malformed_field(call);
    trace::Event event = call.event(trace::EventKind::mem_regions_name, domain);
    call.emit(event);
  });
}

void NVTX_API permissions_assign(nvtxDomainHandle_t domain,
                                 const nvtxMemPermissionsAssignBatch_t* given) noexcept {
  describe(trace::EventKind::mem_permissions_assign, domain, [&](Call& call) {
    const auto read = read_sized(call, given, &nvtxMemPermissionsAssignBatch_t::structSize);
    call.add(trace::Field::count("handle", handle_bits(read.permissions)));
    add_elements(call, read.regionElements, read.regionCount, read.regionElementSize);
  });
}

nvtxMemPermissionsHandle_t NVTX_API permissions_create(nvtxDomainHandle_t handle,
                                                       std::int32_t flags) noexcept {
  return guarded(nvtxMemPermissionsHandle_t{}, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    call.add(trace::Field::number("flags", flags));
    return create<nvtxMemPermissionsHandle_t>(call, trace::EventKind::mem_permissions_create,
                                              HandleType::permissions, domain, {});
  });
}

void NVTX_API permissions_bind(nvtxDomainHandle_t domain, nvtxMemPermissionsHandle_t permissions,
                               std::uint32_t scope, std::uint32_t flags) noexcept {
  describe(trace::EventKind::mem_permissions_bind, domain, [&](Call& call) {
    call.add(trace::Field::count("handle", handle_bits(permissions)));
    call.add(trace::Field::count("scope", scope));
    call.add(trace::Field::count("flags", flags));
  });
}

void NVTX_API permissions_unbind(nvtxDomainHandle_t domain, std::uint32_t scope) noexcept {
  describe(trace::EventKind::mem_permissions_unbind, domain,
           [&](Call& call) { call.add(trace::Field::count("scope", scope)); });
}

nvtxMemPermissionsHandle_t NVTX_API cuda_process_permissions(nvtxDomainHandle_t handle) noexcept {
  return guarded(nvtxMemPermissionsHandle_t{}, [&](Call& call) {
    return create<nvtxMemPermissionsHandle_t>(call, trace::EventKind::mem_cuda_process_permissions,
                                              HandleType::permissions,
                                              call.registry.domain(handle_bits(handle)), {});
  });
}

nvtxMemPermissionsHandle_t NVTX_API cuda_device_permissions(nvtxDomainHandle_t handle,
                                                            int device) noexcept {
  return guarded(nvtxMemPermissionsHandle_t{}, [&](Call& call) {
    call.add(trace::Field::number("device", device));
    return create<nvtxMemPermissionsHandle_t>(call, trace::EventKind::mem_cuda_device_permissions,
                                              HandleType::permissions,
                                              call.registry.domain(handle_bits(handle)), {});
  });
}

void NVTX_API cuda_peer_access(nvtxDomainHandle_t domain, nvtxMemPermissionsHandle_t permissions,
                               int peer, std::uint32_t flags) noexcept {
  describe(trace::EventKind::mem_cuda_peer_access, domain, [&](Call& call) {
    call.add(trace::Field::count("handle", handle_bits(permissions)));
    call.add(trace::Field::number("device", peer));
    call.add(trace::Field::count("flags", flags));
  });
}

void NVTX_API cuda_mark_initialized(nvtxDomainHandle_t domain, void* stream,
                                    std::uint8_t per_thread_stream,
                                    const MarkInitializedBatch* given) noexcept {
  describe(trace::EventKind::mem_cuda_mark_initialized, domain, [&](Call& call) {
    const auto read = read_sized(call, given, &MarkInitializedBatch::structSize);
    call.add(trace::Field::count("stream", handle_bits(stream)));
    call.add(trace::Field::flag("per_thread_stream", per_thread_stream != 0));
    call.add(trace::Field::count("region_type", read.regionType));
    add_elements(call, read.regionDescElements, read.regionDescCount, read.regionDescElementSize);
  });
}

}  // namespace

void install_memory(std::intptr_t* slots, std::size_t count) {
  using Heap = nvtxMemHeapHandle_t;
  using Permissions = nvtxMemPermissionsHandle_t;
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemHeapRegister, heap_register);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemHeapUnregister,
           object_event<trace::EventKind::mem_heap_unregister, Heap>);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemHeapReset,
           object_event<trace::EventKind::mem_heap_reset, Heap>);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemRegionsRegister, regions_register);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemRegionsResize, regions_resize);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemRegionsUnregister, regions_unregister);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemRegionsName, regions_name);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemPermissionsAssign, permissions_assign);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemPermissionsCreate, permissions_create);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemPermissionsDestroy,
           object_event<trace::EventKind::mem_permissions_destroy, Permissions>);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemPermissionsReset,
           object_event<trace::EventKind::mem_permissions_reset, Permissions>);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemPermissionsBind, permissions_bind);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemPermissionsUnbind, permissions_unbind);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemCudaGetProcessWidePermissions,
           cuda_process_permissions);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemCudaGetDeviceWidePermissions,
           cuda_device_permissions);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemCudaSetPeerAccess, cuda_peer_access);
  set_slot(slots, count, NVTX3EXT_CBID_nvtxMemCudaMarkInitialized, cuda_mark_initialized);
}

}  // namespace nvspan::inject
