// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The entry points: what NVTX finds by name in this library, and what nvspan itself uses to trace
// inside a running process. Every shared object of a process that uses NVTX calls the first two
// for itself, and several may do so at once.

#include "inject/callbacks/callbacks.hpp"
#include "inject/decode/call.hpp"
#include "inject/decode/nvtx_types.hpp"
#include "inject/session/gpu_activity.hpp"
#include "inject/session/line_samples.hpp"
#include "inject/session/session.hpp"
#include "record/live/live_blocks.hpp"

#include <dlfcn.h>
#include <errno.h>

namespace nvspan::inject {
namespace {

// The high byte of an extension's compatId: its structs only grow within one.
constexpr unsigned known_compatibility = 0x01;

void install_all(const NvtxExportTableCallbacks& callbacks) {
  const auto install = [&](NvtxCallbackModule module, void (*fill)(NvtxFunctionTable, unsigned)) {
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0) return;
    if (table != nullptr) fill(table, size);
  };
  install(NVTX_CB_MODULE_CORE, install_core);
  install(NVTX_CB_MODULE_CORE2, install_core2);
  install(NVTX_CB_MODULE_CUDA, install_cuda);
  install(NVTX_CB_MODULE_CUDART, install_cudart);
  install(NVTX_CB_MODULE_OPENCL, install_opencl);
  install(NVTX_CB_MODULE_SYNC, install_sync);
}

// The file that holds `address`. It takes the loader's lock, so no lock of ours may be held.
std::string_view object_of(const void* address) noexcept {
  Dl_info info = {};
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

int connect(NvtxGetExportTableFunc_t get_table) noexcept {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks ||
      callbacks->GetModuleFunctionTable == nullptr) {
    return 0;
  }
  std::uint32_t version = 0;
  const auto* information =
      static_cast<const NvtxExportTableVersionInfo*>(get_table(NVTX_ETID_VERSIONINFO));
  if (information != nullptr && information->struct_size >= sizeof *information) {
    version = information->version;
    if (information->SetInjectionNvtxVersion != nullptr) {
      information->SetInjectionNvtxVersion(NVTX_VERSION);
    }
  }
  const std::string_view object = object_of(reinterpret_cast<const void*>(get_table));
  if (session().remember_connection(callbacks)) {
    guarded([&](Call& call) {
      trace::Event event = call.event(trace::EventKind::init);
      call.add(trace::Field::count("nvtx_version", version));
      call.add(trace::Field::string("object", object));
      call.emit(event);
    });
  }
  install_all(*callbacks);
  return 1;
}

int connect_extension(nvtxExtModuleInfo_t& module) noexcept {
  if (module.structSize < sizeof module || module.segmentsCount == 0 ||
      module.segments == nullptr || module.segments->functionSlots == nullptr) {
    return 0;
  }
  // What is not known is left alone: its functions do nothing, and count as connected.
  if (module.compatId >> 8 != known_compatibility) return 1;
  std::intptr_t* slots = module.segments->functionSlots;
  const std::size_t count = module.segments->slotCount;
  switch (module.moduleId) {
    case NVTX_EXT_PAYLOAD_MODULEID:
      install_payload(slots, count);
      install_deferred(slots, count);
      return 1;
    case NVTX_EXT_COUNTERS_MODULEID:
      install_counters(slots, count);
      return 1;
    default:
      return 1;
  }
}

__attribute__((destructor)) void report_at_exit() { session().at_process_exit(); }

}  // namespace
}  // namespace nvspan::inject

#define NVSPAN_EXPORT extern "C" __attribute__((visibility("default")))

// Non-zero: connected. Zero: nothing can be traced, and NVTX turns itself off.
NVSPAN_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const int saved = errno;
  int connected = 0;
  if (get_table != nullptr && nvspan::inject::session().open_from_environment()) {
    connected = nvspan::inject::connect(get_table);
    nvspan::inject::start_gpu_activity_if_used();
  }
  errno = saved;
  return connected;
}

NVSPAN_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  const int saved = errno;
  int connected = 0;
  if (module != nullptr && nvspan::inject::session().open_from_environment()) {
    connected = nvspan::inject::connect_extension(*module);
  }
  errno = saved;
  return connected;
}

// Starts tracing in this process, as `config` says ("format=jsonl;file=/tmp/trace.jsonl"). Zero:
// it could not (a line on standard error says why), or tracing is on already.
NVSPAN_EXPORT int nvspan_inject_open(const char* config) {
  if (!nvspan::inject::session().open_in_process(config)) return 0;
  nvspan::inject::start_gpu_activity_if_used();
  return 1;
}

// The driver calls it when the program begins to use CUDA, in the library that
// CUDA_INJECTION64_PATH names. A process inherits that variable also where nothing is recorded.
NVSPAN_EXPORT int InitializeInjection() {
  const int saved = errno;
  using nvspan::inject::environment;
  const bool wanted = !environment("NVSPAN_TRACE").empty() || !environment("NVSPAN_RECORD").empty();
  if (wanted) nvspan::inject::session().open_from_environment();
  nvspan::inject::start_gpu_activity();
  errno = saved;
  return 1;
}

// Ends what nvspan_inject_open started, once the callbacks that are under way are done. Callbacks
// that stay installed do nothing.
NVSPAN_EXPORT void nvspan_inject_close() { nvspan::inject::session().close_in_process(); }

// Whom to ask for the calling thread's name, in the first event of each: it writes at most `room`
// bytes of UTF-8 and returns how many. Other threads may be inside callbacks.
NVSPAN_EXPORT void nvspan_inject_take_thread_namer(nvspan::inject::ThreadNamer namer) {
  nvspan::inject::session().take_thread_namer(namer);
}

// Device ranges as nvspan's own annotations report them while they are open, for readers of the
// recording's file.
//
// `domain` null: the default domain. `of`: number, rank and ranks of NCCL's operation. What
// nvspan_inject_device_state() takes; 0: it is not kept.
NVSPAN_EXPORT std::uint64_t nvspan_inject_open_device(const char* domain, const char* name,
                                                      int device, std::uint64_t stream,
                                                      std::uint32_t tid, const std::uint32_t* of) {
  using nvspan::inject::Call;
  return nvspan::inject::guarded(std::uint64_t{0}, [&](Call& call) {
    nvspan::record::DeviceOpening range;
    if (domain != nullptr) range.domain = domain;
    if (name != nullptr) range.name = name;
    range.device = static_cast<std::uint64_t>(device);
    range.stream = stream;
    range.tid = tid;
    range.number = of[0];
    range.rank = of[1];
    range.ranks = of[2];
    return call.session.capture().open_device(range);
  });
}

// `state` is of record::LiveDeviceState.
NVSPAN_EXPORT void nvspan_inject_device_state(std::uint64_t range, unsigned state) {
  using nvspan::inject::Call;
  nvspan::inject::guarded([&](Call& call) {
    call.session.capture().device_state(range, static_cast<nvspan::record::LiveDeviceState>(state));
  });
}

// Another tool of this process is about to use CUPTI, or no longer does: inject/session/
// gpu_activity.hpp. Work of GPUs in between is not in the recording. 0: that tool still has CUPTI.
NVSPAN_EXPORT void nvspan_inject_release_gpu() { nvspan::inject::release_gpu_activity(); }
NVSPAN_EXPORT int nvspan_inject_take_gpu(int is_last) {
  return nvspan::inject::retake_gpu_activity(is_last != 0) ? 1 : 0;
}

// The graphs that are launched in between are recorded by the node. 0: no work of GPUs is recorded,
// and nothing is to be ended.
NVSPAN_EXPORT int nvspan_inject_begin_graph_sample() {
  return nvspan::inject::begin_graph_sample() ? 1 : 0;
}
NVSPAN_EXPORT void nvspan_inject_end_graph_sample() { nvspan::inject::end_graph_sample(); }

// Samples of Python's stacks: inject/session/line_samples.hpp. Text: why it cannot.
NVSPAN_EXPORT const char* nvspan_inject_check_sampler(const nvspan::lines::Interpreter* interpreter,
                                                      nvspan::inject::FrameTaker take,
                                                      void* context) {
  return nvspan::inject::check_sampler(*interpreter, take, context);
}
NVSPAN_EXPORT const char* nvspan_inject_start_sampler(const nvspan::lines::Interpreter* interpreter,
                                                      std::int64_t period) {
  return nvspan::inject::start_sampler(*interpreter, period);
}
NVSPAN_EXPORT void nvspan_inject_pause_sampler() { nvspan::inject::pause_sampler(); }
NVSPAN_EXPORT void nvspan_inject_resume_sampler(int in_child) {
  nvspan::inject::resume_sampler(in_child != 0);
}
NVSPAN_EXPORT void nvspan_inject_stop_sampler() { nvspan::inject::stop_sampler(); }
