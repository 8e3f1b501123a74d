// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/tool.hpp"

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "annotate/environment_tool.hpp"
#include "core/library.hpp"

namespace nvspan {

namespace detail {
const ToolTable undecided_tool{};
std::atomic<const ToolTable*> current_tool{&undecided_tool};
}  // namespace detail

namespace {

// The process has one attachment at a time, and NVTX callbacks carry no context: the state is
// process-wide by nature. It is immortal, so that threads outliving the module find it intact.
struct Attachment {
  std::mutex mutex;
  std::atomic<uint64_t> last_epoch{0};
  ToolTable environment;
  ToolTable local;
  void (*close_local)() = nullptr;
  std::atomic<ToolListener> listener{nullptr};
};

Attachment& attachment() noexcept {
  static Attachment* const state = new Attachment;
  return *state;
}

void publish(Attachment& state, ToolTable* tool) noexcept {
  if (tool) tool->epoch.store(++state.last_epoch, std::memory_order_release);
  detail::current_tool.store(tool, std::memory_order_release);
}

void notify(Attachment& state) noexcept {
  if (ToolListener listener = state.listener.load()) listener(tool_possible());
}

}  // namespace

bool disabled_by_environment() noexcept {
  static const bool disabled = [] {
    const char* value = std::getenv("NVTX_DISABLE");
    return value && *value && std::strcmp(value, "0") != 0 && std::strcmp(value, "false") != 0;
  }();
  return disabled;
}

void set_tool_listener(ToolListener listener) noexcept { attachment().listener.store(listener); }

const ToolTable* detail::decide_tool() noexcept {
  Attachment& state = attachment();
  bool changed = false;
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (!tool_decided()) {
      const bool found = !disabled_by_environment() && find_environment_tool(state.environment);
      publish(state, found ? &state.environment : nullptr);
      changed = !found;
    }
  }
  if (changed) notify(state);
  return current_tool.load(std::memory_order_acquire);
}

#if NVSPAN_HAVE_NVTX

namespace {

// What an injection library sees of us: NVTX's export tables over slots of our own.
struct LocalSlots {
  NvtxFunctionPointer functions[NVTX_CB_MODULE_SIZE][NVTX_CBID_CORE_SIZE + NVTX_CBID_CORE2_SIZE] = {};
  NvtxFunctionPointer* tables[NVTX_CB_MODULE_SIZE][NVTX_CBID_CORE_SIZE + NVTX_CBID_CORE2_SIZE] = {};
  intptr_t payload[64] = {};
};

LocalSlots& local_slots() noexcept {
  static LocalSlots* const slots = new LocalSlots;
  return *slots;
}

unsigned module_size(NvtxCallbackModule module) noexcept {
  switch (module) {
    case NVTX_CB_MODULE_CORE:
      return NVTX_CBID_CORE_SIZE;
    case NVTX_CB_MODULE_CORE2:
      return NVTX_CBID_CORE2_SIZE;
    default:
      return 0;
  }
}

int NVTX_API get_module_function_table(NvtxCallbackModule module, NvtxFunctionTable* out_table,
                                       unsigned int* out_size) {
  const unsigned size = module_size(module);
  if (size == 0) return 0;
  if (out_table) *out_table = local_slots().tables[module];
  if (out_size) *out_size = size;
  return 1;
}

void NVTX_API set_injection_version(uint32_t) {}

const void* NVTX_API get_export_table(uint32_t id) {
  static const NvtxExportTableCallbacks callbacks = {sizeof(NvtxExportTableCallbacks),
                                                     get_module_function_table};
  static const NvtxExportTableVersionInfo version = {sizeof(NvtxExportTableVersionInfo),
                                                     NVTX_VERSION, 0, set_injection_version};
  switch (id) {
    case NVTX_ETID_CALLBACKS:
      return &callbacks;
    case NVTX_ETID_VERSIONINFO:
      return &version;
    default:
      return nullptr;
  }
}

void clear_slots(LocalSlots& slots) noexcept {
  for (unsigned module = 0; module < NVTX_CB_MODULE_SIZE; ++module) {
    const unsigned size = module_size(static_cast<NvtxCallbackModule>(module));
    for (unsigned i = 0; i < size; ++i) {
      slots.functions[module][i] = nullptr;
      slots.tables[module][i] = i ? &slots.functions[module][i] : nullptr;
    }
  }
  for (intptr_t& slot : slots.payload) slot = 0;
}

void connect_extension(const Library& library, LocalSlots& slots) noexcept {
  auto initialize =
      library.symbol<NvtxExtInitializeInjectionFunc_t>("InitializeInjectionNvtxExtension");
  if (!initialize) return;
  constexpr size_t slot_count = sizeof(slots.payload) / sizeof(slots.payload[0]) - 1;
  nvtxExtModuleSegment_t segment = {0, slot_count, slots.payload};
  nvtxExtModuleInfo_t info = {};
  info.nvtxVer = NVTX_VERSION;
  info.structSize = sizeof(info);
  info.moduleId = NVTX_EXT_PAYLOAD_MODULEID;
  info.compatId = NVTX_EXT_PAYLOAD_COMPATID;
  info.segmentsCount = 1;
  info.segments = &segment;
  info.getExportFunction = nullptr;
  info.extInfo = nullptr;
  if (initialize(&info) == 0) {
    for (intptr_t& slot : slots.payload) slot = 0;
  }
}

}  // namespace

std::string attach_tool(const std::string& path, const std::string& config) {
  Attachment& state = attachment();
  {
    std::unique_lock<std::mutex> lock(state.mutex);
    if (disabled_by_environment()) return "annotations are switched off by NVTX_DISABLE";
    if (!tool_decided()) {
      lock.unlock();
      detail::decide_tool();
      lock.lock();
    }
    if (detail::current_tool.load() != nullptr) return "an NVTX tool is attached already";
    std::string error;
    const Library library = Library::open(path, error);
    if (!library) return error;
    auto initialize =
        library.symbol<NvtxInitializeInjectionNvtxFunc_t>("InitializeInjectionNvtx2");
    if (!initialize) return path + " has no InitializeInjectionNvtx2";
    if (auto open = library.symbol<int (*)(const char*)>("nvspan_inject_open")) {
      if (open(config.c_str()) == 0) return path + " refused the configuration '" + config + "'";
    }
    LocalSlots& slots = local_slots();
    clear_slots(slots);
    if (initialize(get_export_table) == 0) return path + " failed to initialise";
    connect_extension(library, slots);
    state.local.core = slots.tables[NVTX_CB_MODULE_CORE];
    state.local.core2 = slots.tables[NVTX_CB_MODULE_CORE2];
    state.local.payload = slots.payload;
    state.close_local = library.symbol<void (*)()>("nvspan_inject_close");
    publish(state, &state.local);
  }
  notify(state);
  return {};
}

void detach_tool() noexcept {
  Attachment& state = attachment();
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (detail::current_tool.load() != &state.local) return;
    publish(state, nullptr);
    if (state.close_local) state.close_local();
  }
  notify(state);
}

#else

std::string attach_tool(const std::string&, const std::string&) {
  return "nvspan was built without NVTX (NVSPAN_NVTX=OFF)";
}

void detach_tool() noexcept {}

#endif

}  // namespace nvspan
