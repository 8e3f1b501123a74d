// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What CUDA's driver calls as it starts, where CUDA_INJECTION64_PATH names this library. Where
// NVSPAN_DRIVER_CALLS is set too (to the places of CUPTI, with ':' between them), each call of the
// driver's interface becomes a mark of the domain "nvspan.cuda_driver", in the thread and at the
// time of the call, with its name and, as payload, its stream. Before it stands the mark "event",
// with the event as payload, if the call has one.

#include "inject/callbacks/event_calls.hpp"
#include "inject/driver/cupti.hpp"
#include "inject/driver/known_calls.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace nvspan::inject {
namespace {

constexpr const char* domain_name = "nvspan.cuda_driver";

std::atomic<std::uint64_t> domain{0};
std::atomic<std::uint64_t> event_message{0};
// A callback of ours calls the driver itself, which calls back.
__thread bool inside __attribute__((tls_model("initial-exec")));

std::uint64_t register_name(std::string_view name) noexcept {
  return guarded(std::uint64_t{0}, [&](Call& call) {
    return call.registry.register_string(domain.load(std::memory_order_relaxed), name);
  });
}

void mark_registered(std::uint64_t message, std::uint64_t payload,
                     std::uint32_t category = 0) noexcept {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = sizeof attributes;
  attributes.category = category;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  attributes.payload.ullValue = payload;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = handle_from<nvtxStringHandle_t>(message);
  const nvtxEventAttributes_t* const given = &attributes;
  mark_event(handle_from<nvtxDomainHandle_t>(domain.load(std::memory_order_relaxed)), given,
             [given](Call& call, const DomainView& view, trace::Event& event) {
               read_attributes(call, view, given, event);
             });
}

void mark_text(std::string_view name, std::uint64_t payload, std::uint32_t category = 0) noexcept {
  const std::uint64_t message = register_name(name);
  if (message != 0) mark_registered(message, payload, category);
}

// Of one id of a call: its name, and where its stream is.
struct KnownCall {
  std::atomic<std::uint64_t> message{0};  // stored last; 0: not known yet
  std::atomic<CallTraits> traits{};
};
static_assert(std::atomic<CallTraits>::is_always_lock_free);
KnownCall known_calls[4096];
std::atomic<bool> memory_changed{false};

// The memory of the current context's device, as marks: its category is the device.
void mark_memory() noexcept {
  using GetInfo = int (*)(std::size_t*, std::size_t*);
  using GetDevice = int (*)(int*);
  using ExchangeMode = int (*)(int*);
  static void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* const library = driver != nullptr ? driver : RTLD_DEFAULT;
  static const auto get_info = reinterpret_cast<GetInfo>(::dlsym(library, "cuMemGetInfo_v2"));
  static const auto get_device = reinterpret_cast<GetDevice>(::dlsym(library, "cuCtxGetDevice"));
  static const auto exchange =
      reinterpret_cast<ExchangeMode>(::dlsym(library, "cuThreadExchangeStreamCaptureMode"));
  if (get_info == nullptr || get_device == nullptr || exchange == nullptr) return;
  std::size_t available = 0;
  std::size_t total = 0;
  int device = 0;
  int mode = 2;  // relaxed: a capture that goes on is not disturbed
  if (exchange(&mode) != 0) return;
  const bool is_known = get_info(&available, &total) == 0 && get_device(&device) == 0;
  exchange(&mode);
  if (!is_known) return;
  mark_text("memory total", total, static_cast<std::uint32_t>(device));
  mark_text("memory used", total - available, static_cast<std::uint32_t>(device));
}

void called(const CuptiCall& call, std::uint32_t id) noexcept {
  if (call.site != CuptiSite::enter || id >= sizeof known_calls / sizeof *known_calls) return;
  KnownCall& known = known_calls[id];
  std::uint64_t message = known.message.load(std::memory_order_acquire);
  if (message == 0) {
    if (call.function_name == nullptr) return;
    known.traits.store(traits_of(call.function_name), std::memory_order_relaxed);
    message = register_name(call.function_name);
    if (message == 0) return;
    known.message.store(message, std::memory_order_release);
  }
  const CallTraits traits = known.traits.load(std::memory_order_relaxed);
  if (traits.changes_memory) {
    memory_changed.store(true, std::memory_order_relaxed);
  } else if (traits.launches && memory_changed.load(std::memory_order_relaxed) &&
             memory_changed.exchange(false, std::memory_order_relaxed)) {
    mark_memory();
  }
  const std::uint64_t event = event_of(traits, call.parameters);
  if (event != 0) mark_registered(event_message.load(std::memory_order_relaxed), event);
  mark_registered(message, stream_of(traits, call.parameters));
}

void callback(void*, CuptiDomain kind, std::uint32_t id, const void* data) {
  if (inside || data == nullptr) return;
  inside = true;
  if (kind == CuptiDomain::driver_api) {
    called(*static_cast<const CuptiCall*>(data), id);
  } else if (kind == CuptiDomain::resource) {
    if (id == cupti_context_created) mark_text("context created", 0);
    if (id == cupti_module_loaded) mark_text("module loaded", 0);
  }
  inside = false;
}

void begin(const char* paths) noexcept {
  static std::atomic<bool> begun{false};
  if (begun.exchange(true)) return;
  domain.store(guarded(std::uint64_t{0},
                       [](Call& call) { return call.registry.create_domain(domain_name); }),
               std::memory_order_relaxed);
  if (domain.load(std::memory_order_relaxed) == 0) return;
  event_message.store(register_name("event"), std::memory_order_relaxed);
  if (const char* problem = subscribe_to_cupti(paths, callback)) {
    mark_text("not checked", 0);
    mark_text(problem, 0);
    return;
  }
  mark_text("subscribed", 0);
}

}  // namespace
}  // namespace nvspan::inject

// The driver goes on whatever this returns.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* paths = std::getenv("NVSPAN_DRIVER_CALLS");
  if (paths != nullptr && nvspan::inject::session().open_from_environment()) {
    nvspan::inject::begin(paths);
  }
  return 1;
}
