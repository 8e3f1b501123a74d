// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/tool.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "annotate/check.hpp"
#include "annotate/check_stack.hpp"
#include "annotate/cuda_names.hpp"
#include "annotate/emit.hpp"
#include "annotate/environment_tool.hpp"
#include "annotate/thread_names.hpp"
#include "core/library.hpp"

#if NVSPAN_HAVE_NVTX
#include <nvtx3/nvToolsExtCounters.h>
#endif

namespace nvspan {

namespace detail {
const ToolTable undecided_tool{};
std::atomic<const ToolTable*> current_tool{&undecided_tool};
std::atomic<const ToolTable*> attached_tool{nullptr};
}  // namespace detail

namespace {

// The process has one attachment at a time, and NVTX callbacks carry no context: the state is
// process-wide by nature. It is immortal, so that threads outliving the module find it intact.
struct Attachment {
  std::mutex mutex;
  std::atomic<uint64_t> last_epoch{0};
  ToolTable environment;
  ToolTable* real = nullptr;    // what is attached, without our tables over it; under the mutex
  uint64_t toolless_epoch = 0;  // of tables that lie over none; under the mutex
  std::atomic<ToolListener> listener{nullptr};
  std::atomic<bool> decided{false};
  std::atomic<bool> replays_ranges{false};
  std::atomic<bool> enabled{true};
  std::atomic<int> pauses{0};

  bool on() const noexcept { return enabled.load() && pauses.load() == 0; }
};

Attachment& attachment() noexcept {
  static Attachment* const state = new Attachment;
  return *state;
}

// Makes what listens follow from what is decided, attached and enabled. Under Attachment::mutex.
void update_current(Attachment& state) noexcept {
  const ToolTable* tool =
      state.decided.load() ? detail::attached_tool.load() : &detail::undecided_tool;
  detail::current_tool.store(state.on() ? tool : nullptr, std::memory_order_release);
}

// Tables of ours have the epoch of the tool that they lie over, or of its absence: handles stay
// good, and what is open is closed.
void lay_tables(Attachment& state) noexcept {
  ToolTable* tool = state.real;
  const uint64_t epoch = tool ? tool->epoch.load() : state.toolless_epoch;
  const auto lay = [&](ToolTable* over) {
    if (!over) return;
    over->epoch.store(epoch, std::memory_order_release);
    tool = over;
  };
  if (emitting()) lay(emit::table_over(tool));
  if (checking()) lay(check::table_over(tool));
  detail::attached_tool.store(tool, std::memory_order_release);
  update_current(state);
}

// The library that filled the table, or that the environment names: a tool may fill its table
// later. Empty: there is none.
std::string library_behind(const ToolTable* tool) {
  if (!tool) return {};
#if NVSPAN_HAVE_NVTX
  for (unsigned id = 1; id < NVTX_CBID_CORE2_SIZE; ++id) {
    if (auto function = tool->core2_slot<void (*)()>(id)) return library_of(function);
  }
#endif
  const char* named = std::getenv("NVTX_INJECTION64_PATH");
  return named ? named : "";
}

void publish(Attachment& state, ToolTable* tool) noexcept {
  const uint64_t epoch = ++state.last_epoch;
  state.replays_ranges.store(is_nsight_compute(library_behind(tool)));
  if (tool)
    tool->epoch.store(epoch, std::memory_order_release);
  else
    state.toolless_epoch = epoch;
  if (checking() && state.decided.load()) check::clear_entries(false);  // of another epoch
  state.real = tool;
  state.decided.store(true);
  lay_tables(state);
  if (!tool) return;
  send_thread_names(*tool);
  send_cuda_names(*tool);
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

bool tool_decided() noexcept { return attachment().decided.load(std::memory_order_acquire); }

void set_tool_listener(ToolListener listener) noexcept { attachment().listener.store(listener); }

bool is_nsight_compute(std::string_view library) noexcept {
  const size_t folder = library.find_last_of("/\\");
  const std::string_view name = library.substr(folder == library.npos ? 0 : folder + 1);
  if (name.find("cuda-injection") != name.npos) return true;
  const bool within = library.find("nsight-compute") != library.npos;
  return within && name.find("ToolsInjection") == name.npos;
}

bool tool_replays_ranges() noexcept {
  return attachment().replays_ranges.load(std::memory_order_relaxed);
}

std::string tool_library() { return library_behind(real_tool()); }

const ToolTable* real_tool() noexcept {
  Attachment& state = attachment();
  std::lock_guard<std::mutex> lock(state.mutex);
  return state.real;
}

void republish_tool() noexcept {
  Attachment& state = attachment();
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (tool_decided()) lay_tables(state);
  }
  notify(state);
}

void notify_tool_listener() noexcept { notify(attachment()); }

void set_annotations_enabled(bool enabled) noexcept {
  Attachment& state = attachment();
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (state.enabled.exchange(enabled) == enabled) return;
    update_current(state);
  }
  notify(state);
}

void pause_annotations(int change) noexcept {
  Attachment& state = attachment();
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    const bool before = state.on();
    state.pauses.fetch_add(change);
    if (state.on() == before) return;
    update_current(state);
  }
  notify(state);
}

bool annotations_enabled() noexcept { return attachment().on() && !disabled_by_environment(); }

const ToolTable* detail::decide_tool() noexcept {
  Attachment& state = attachment();
  bool decided_here = false;
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (!tool_decided()) {
      const bool found = !disabled_by_environment() && find_environment_tool(state.environment);
      publish(state, found ? &state.environment : nullptr);
      decided_here = true;
    }
  }
  if (decided_here) notify(state);
  // Not the undecided one: another thread may have switched annotations off and on meanwhile.
  const ToolTable* tool = current_tool.load(std::memory_order_acquire);
  return tool == &undecided_tool ? nullptr : tool;
}

#if NVSPAN_HAVE_NVTX

namespace {

// What an injection library sees of us: NVTX's export tables over slots of our own.
struct LocalSlots {
  NvtxFunctionPointer functions[NVTX_CB_MODULE_SIZE][NVTX_CBID_CORE_SIZE + NVTX_CBID_CORE2_SIZE] =
      {};
  NvtxFunctionPointer* tables[NVTX_CB_MODULE_SIZE][NVTX_CBID_CORE_SIZE + NVTX_CBID_CORE2_SIZE] = {};
  intptr_t payload[64] = {};
  intptr_t counters[64] = {};
};

// A library that has been connected once. It keeps its slots for good, so that a thread that reads
// them while the library is detached, or attached again, finds them whole.
struct LocalTool {
  ToolTable table;
  LocalSlots slots;
  int (*open)(const char*) = nullptr;
  void (*close)() = nullptr;
};

LocalSlots* slots_being_filled;  // NVTX's export function takes no context; under Attachment::mutex

unsigned module_size(NvtxCallbackModule module) noexcept {
  switch (module) {
    case NVTX_CB_MODULE_CORE:
      return NVTX_CBID_CORE_SIZE;
    case NVTX_CB_MODULE_CORE2:
      return NVTX_CBID_CORE2_SIZE;
    case NVTX_CB_MODULE_CUDA:
      return NVTX_CBID_CUDA_SIZE;
    default:
      return 0;
  }
}

int NVTX_API get_module_function_table(NvtxCallbackModule module, NvtxFunctionTable* out_table,
                                       unsigned int* out_size) {
  const unsigned size = module_size(module);
  if (size == 0) return 0;
  if (out_table) *out_table = slots_being_filled->tables[module];
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

void link_tables(LocalSlots& slots) noexcept {
  for (unsigned module = 0; module < NVTX_CB_MODULE_SIZE; ++module) {
    const unsigned size = module_size(static_cast<NvtxCallbackModule>(module));
    for (unsigned i = 1; i < size; ++i) slots.tables[module][i] = &slots.functions[module][i];
  }
}

// Has the library fill the slots of one extension; they stay empty if it refuses.
void connect_extension(NvtxExtInitializeInjectionFunc_t initialize, uint16_t module,
                       uint16_t compatibility, intptr_t (&slots)[64]) noexcept {
  constexpr size_t slot_count = sizeof(slots) / sizeof(slots[0]) - 1;
  nvtxExtModuleSegment_t segment = {0, slot_count, slots};
  nvtxExtModuleInfo_t info = {};
  info.nvtxVer = NVTX_VERSION;
  info.structSize = sizeof(info);
  info.moduleId = module;
  info.compatId = compatibility;
  info.segmentsCount = 1;
  info.segments = &segment;
  info.getExportFunction = nullptr;
  info.extInfo = nullptr;
  if (initialize(&info) != 0) return;
  for (intptr_t& slot : slots) slot = 0;
}

void connect_extensions(const Library& library, LocalSlots& slots) noexcept {
  auto initialize =
      library.symbol<NvtxExtInitializeInjectionFunc_t>("InitializeInjectionNvtxExtension");
  if (!initialize) return;
  connect_extension(initialize, NVTX_EXT_PAYLOAD_MODULEID, NVTX_EXT_PAYLOAD_COMPATID,
                    slots.payload);
  connect_extension(initialize, NVTX_EXT_COUNTERS_MODULEID, NVTX_EXT_COUNTERS_COMPATID,
                    slots.counters);
}

// Loads and connects the library at `path`. Null with `problem` set if that fails.
LocalTool* connect_library(const std::string& path, const std::string& config,
                           std::string& problem) {
  const Library library = Library::open(path, problem);
  if (!library) return nullptr;
  auto initialize = library.symbol<NvtxInitializeInjectionNvtxFunc_t>("InitializeInjectionNvtx2");
  if (!initialize) {
    problem = path + " has no InitializeInjectionNvtx2";
    return nullptr;
  }
  auto tool = std::make_unique<LocalTool>();
  tool->open = library.symbol<int (*)(const char*)>("nvspan_inject_open");
  tool->close = library.symbol<void (*)()>("nvspan_inject_close");
  if (tool->open && tool->open(config.c_str()) == 0) {
    problem = path + " refused the configuration '" + config + "'";
    return nullptr;
  }
  link_tables(tool->slots);
  slots_being_filled = &tool->slots;
  if (initialize(get_export_table) == 0) {
    if (tool->close) tool->close();
    (void)tool.release();  // leaked: the library may have kept the addresses of the slots
    problem = path + " failed to initialise";
    return nullptr;
  }
  connect_extensions(library, tool->slots);
  tool->table.core = tool->slots.tables[NVTX_CB_MODULE_CORE];
  tool->table.core2 = tool->slots.tables[NVTX_CB_MODULE_CORE2];
  tool->table.cuda = tool->slots.tables[NVTX_CB_MODULE_CUDA];
  tool->table.payload = tool->slots.payload;
  tool->table.counters = tool->slots.counters;
  return tool.release();
}

// The libraries that have been connected, by path. Under Attachment::mutex; immortal.
std::map<std::string, LocalTool*>& local_tools() {
  static auto* const tools = new std::map<std::string, LocalTool*>;
  return *tools;
}

LocalTool* attached_library;  // under Attachment::mutex

}  // namespace

std::string attach_tool(const std::string& path, const std::string& config) {
  if (disabled_by_environment()) return "annotations are switched off by NVTX_DISABLE";
  if (!tool_decided()) detail::decide_tool();
  Attachment& state = attachment();
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (state.real != nullptr) return "an NVTX tool is attached already";
    LocalTool*& tool = local_tools()[path];
    if (!tool) {
      std::string problem;
      tool = connect_library(path, config, problem);
      if (!tool) return problem;
    } else if (tool->open && tool->open(config.c_str()) == 0) {
      return path + " refused the configuration '" + config + "'";
    }
    attached_library = tool;
    publish(state, &tool->table);
  }
  notify(state);
  return {};
}

void detach_tool() noexcept {
  Attachment& state = attachment();
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (!attached_library) return;
    publish(state, nullptr);
    if (attached_library->close) attached_library->close();
    attached_library = nullptr;
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
