// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/callbacks/callbacks.hpp"
#include "inject/callbacks/event_calls.hpp"

namespace nvspan::inject {
namespace {

constexpr nvtxDomainHandle_t default_domain = nullptr;

auto from_attributes(const nvtxEventAttributes_t* attributes) {
  return [attributes](Call& call, const DomainView& domain, trace::Event& event) {
    read_attributes(call, domain, attributes, event);
  };
}

auto from_text(const char* message) {
  return [message](Call& call, const DomainView&, trace::Event& event) {
    event.message_type = trace::MessageType::ascii;
    event.message = to_text(call, message);
  };
}

auto from_text(const wchar_t* message) {
  return [message](Call& call, const DomainView&, trace::Event& event) {
    event.message_type = trace::MessageType::unicode;
    event.message = to_text(call, message);
  };
}

void NVTX_API mark_ex(const nvtxEventAttributes_t* attributes) noexcept {
  mark_event(default_domain, attributes, from_attributes(attributes));
}
template <typename Char>
void NVTX_API mark_text(const Char* message) noexcept {
  mark_event(default_domain, message, from_text(message));
}
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* attributes) noexcept {
  return start_event(default_domain, attributes, from_attributes(attributes));
}
template <typename Char>
nvtxRangeId_t NVTX_API start_text(const Char* message) noexcept {
  return start_event(default_domain, message, from_text(message));
}
void NVTX_API end_id(nvtxRangeId_t id) noexcept { end_event(default_domain, id); }
int NVTX_API push_ex(const nvtxEventAttributes_t* attributes) noexcept {
  return push_event(default_domain, attributes, from_attributes(attributes));
}
template <typename Char>
int NVTX_API push_text(const Char* message) noexcept {
  return push_event(default_domain, message, from_text(message));
}
int NVTX_API pop_default() noexcept { return pop_event(default_domain); }

void NVTX_API domain_mark(nvtxDomainHandle_t domain,
                          const nvtxEventAttributes_t* attributes) noexcept {
  mark_event(domain, attributes, from_attributes(attributes));
}
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain,
                                    const nvtxEventAttributes_t* attributes) noexcept {
  return start_event(domain, attributes, from_attributes(attributes));
}
void NVTX_API domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) noexcept {
  end_event(domain, id);
}
int NVTX_API domain_push(nvtxDomainHandle_t domain,
                         const nvtxEventAttributes_t* attributes) noexcept {
  return push_event(domain, attributes, from_attributes(attributes));
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) noexcept { return pop_event(domain); }

template <typename Char>
void name_category_in(nvtxDomainHandle_t handle, std::uint32_t category,
                      const Char* name) noexcept {
  guarded([&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    const std::string_view text = to_text(call, name);
    call.registry.name_category(domain.handle, category, text);
    if (!domain.shown) return;
    call.add(trace::Field::count("category", category));
    call.add(trace::Field::string("name", text));
    call.emit(trace::EventKind::name_category, domain);
  });
}
template <typename Char>
void NVTX_API name_category(std::uint32_t category, const Char* name) noexcept {
  name_category_in(default_domain, category, name);
}
template <typename Char>
void NVTX_API domain_name_category(nvtxDomainHandle_t domain, std::uint32_t category,
                                   const Char* name) noexcept {
  name_category_in(domain, category, name);
}

template <typename Char>
void NVTX_API name_os_thread(std::uint32_t thread, const Char* name) noexcept {
  guarded([&](Call& call) {
    const std::string_view text = to_text(call, name);
    call.registry.name_thread(thread, text);
    trace::Event event = call.event(trace::EventKind::name_thread);
    call.add(trace::Field::count("thread", thread));
    call.add(trace::Field::string("name", text));
    call.emit(event);
  });
}

template <typename Char>
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t handle, const Char* text) noexcept {
  return guarded(nvtxStringHandle_t{}, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    const std::uint64_t handle = call.registry.register_string(domain.handle, to_text(call, text));
    call.session.capture().named(handle, call.registry.string(handle)->text);
    if (domain.shown) {
      call.add(trace::Field::string("message", call.registry.string(handle)->text));
      call.emit(trace::EventKind::register_string, domain);
    }
    return handle_from<nvtxStringHandle_t>(handle);
  });
}

template <typename Char>
nvtxDomainHandle_t NVTX_API domain_create(const Char* name) noexcept {
  return guarded(nvtxDomainHandle_t{}, [&](Call& call) {
    const std::uint64_t handle = call.registry.create_domain(to_text(call, name));
    const DomainView domain = call.registry.domain(handle);
    call.session.capture().named(handle, domain.name);
    if (domain.shown) call.emit(trace::EventKind::domain_create, domain);
    return handle_from<nvtxDomainHandle_t>(handle);
  });
}

void NVTX_API domain_destroy(nvtxDomainHandle_t handle) noexcept {
  guarded([&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    call.registry.destroy_domain(domain.handle);
    if (domain.shown) call.emit(trace::EventKind::domain_destroy, domain);
  });
}

// A resource that is a thread names that thread.
void name_thread_of(Call& call, const nvtxResourceAttributes_t& resource, std::string_view name) {
  if (resource.identifierType == static_cast<int>(NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE)) {
    call.registry.name_thread(static_cast<std::uint32_t>(resource.identifier.ullValue), name);
  }
  if (resource.identifierType == static_cast<int>(NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX) &&
      resource.identifier.ullValue == static_cast<std::uint64_t>(::pthread_self())) {
    call.registry.name_thread(call.thread.tid, name);
  }
}

nvtxResourceHandle_t NVTX_API resource_create(nvtxDomainHandle_t handle,
                                              nvtxResourceAttributes_t* attributes) noexcept {
  return guarded(nvtxResourceHandle_t{}, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    const nvtxResourceAttributes_t read = read_given(call, attributes);
    trace::Event event = call.event(trace::EventKind::resource_create, domain);
    read_message(call, domain, read.messageType, read.message, event);
    const std::uint64_t resource =
        call.registry.create_object(HandleType::resource, domain.handle, event.message);
    name_thread_of(call, read, event.message);
    if (domain.shown) {
      call.add(trace::Field::count("resource", resource));
      call.add(trace::Field::string("name", event.message));
      call.add(trace::Field::count("type", static_cast<std::uint32_t>(read.identifierType)));
      call.add(trace::Field::count("identifier", read.identifier.ullValue));
      add_malformed_field(call);
      event.message = std::string_view();
      call.emit(event);
    }
    return handle_from<nvtxResourceHandle_t>(resource);
  });
}

void NVTX_API resource_destroy(nvtxResourceHandle_t handle) noexcept {
  guarded([&](Call& call) {
    const std::uint64_t bits = handle_bits(handle);
    const NamedObject object = call.registry.object(bits);
    const DomainView domain = call.registry.domain(object.domain);
    call.registry.destroy_object(bits);
    if (!domain.shown) return;
    call.add(trace::Field::count("resource", bits));
    call.add(trace::Field::string("name", object.name));
    call.emit(trace::EventKind::resource_destroy, domain);
  });
}

void NVTX_API initialize(const void*) noexcept {}

}  // namespace

void install_core(NvtxFunctionTable table, unsigned size) {
  set_entry(table, size, NVTX_CBID_CORE_MarkEx, mark_ex);
  set_entry(table, size, NVTX_CBID_CORE_MarkA, mark_text<char>);
  set_entry(table, size, NVTX_CBID_CORE_MarkW, mark_text<wchar_t>);
  set_entry(table, size, NVTX_CBID_CORE_RangeStartEx, start_ex);
  set_entry(table, size, NVTX_CBID_CORE_RangeStartA, start_text<char>);
  set_entry(table, size, NVTX_CBID_CORE_RangeStartW, start_text<wchar_t>);
  set_entry(table, size, NVTX_CBID_CORE_RangeEnd, end_id);
  set_entry(table, size, NVTX_CBID_CORE_RangePushEx, push_ex);
  set_entry(table, size, NVTX_CBID_CORE_RangePushA, push_text<char>);
  set_entry(table, size, NVTX_CBID_CORE_RangePushW, push_text<wchar_t>);
  set_entry(table, size, NVTX_CBID_CORE_RangePop, pop_default);
  set_entry(table, size, NVTX_CBID_CORE_NameCategoryA, name_category<char>);
  set_entry(table, size, NVTX_CBID_CORE_NameCategoryW, name_category<wchar_t>);
  set_entry(table, size, NVTX_CBID_CORE_NameOsThreadA, name_os_thread<char>);
  set_entry(table, size, NVTX_CBID_CORE_NameOsThreadW, name_os_thread<wchar_t>);
}

void install_core2(NvtxFunctionTable table, unsigned size) {
  set_entry(table, size, NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
  set_entry(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  set_entry(table, size, NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  set_entry(table, size, NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  set_entry(table, size, NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  set_entry(table, size, NVTX_CBID_CORE2_DomainResourceCreate, resource_create);
  set_entry(table, size, NVTX_CBID_CORE2_DomainResourceDestroy, resource_destroy);
  set_entry(table, size, NVTX_CBID_CORE2_DomainNameCategoryA, domain_name_category<char>);
  set_entry(table, size, NVTX_CBID_CORE2_DomainNameCategoryW, domain_name_category<wchar_t>);
  set_entry(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, register_string<char>);
  set_entry(table, size, NVTX_CBID_CORE2_DomainRegisterStringW, register_string<wchar_t>);
  set_entry(table, size, NVTX_CBID_CORE2_DomainCreateA, domain_create<char>);
  set_entry(table, size, NVTX_CBID_CORE2_DomainCreateW, domain_create<wchar_t>);
  set_entry(table, size, NVTX_CBID_CORE2_DomainDestroy, domain_destroy);
  set_entry(table, size, NVTX_CBID_CORE2_Initialize, initialize);
}

}  // namespace nvspan::inject
