// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/tool/local_tool.hpp"

#include <map>
#include <memory>

#include "annotate/tool/tool_table.hpp"
#include "core/os/library.hpp"

#if NVSPAN_HAVE_NVTX
#include <nvtx3/nvToolsExtCounters.h>
#endif

namespace nvspan::annotate {

#if NVSPAN_HAVE_NVTX

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

namespace {

LocalSlots*
    slots_being_filled;  // NVTX's export function takes no context; under the attachment's lock

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

void connect_extensions(const core::Library& library, LocalSlots& slots) noexcept {
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
  const core::Library library = core::Library::open(path, problem);
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
    problem = path + " failed to initialize";
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

// The libraries that have been connected, by path. Under the attachment's lock; immortal.
std::map<std::string, LocalTool*>& local_tools() {
  static auto* const tools = new std::map<std::string, LocalTool*>;
  return *tools;
}

}  // namespace

LocalTool* open_local_tool(const std::string& path, const std::string& config,
                           std::string& problem) {
  LocalTool*& tool = local_tools()[path];
  if (!tool) {
    tool = connect_library(path, config, problem);
  } else if (tool->open && tool->open(config.c_str()) == 0) {
    problem = path + " refused the configuration '" + config + "'";
    return nullptr;
  }
  return tool;
}

ToolTable* local_table(LocalTool& tool) noexcept { return &tool.table; }

void close_local_tool(LocalTool& tool) noexcept {
  if (tool.close) tool.close();
}

#else

LocalTool* open_local_tool(const std::string&, const std::string&, std::string& problem) {
  problem = "nvspan was built without NVTX (NVSPAN_NVTX=OFF)";
  return nullptr;
}
ToolTable* local_table(LocalTool&) noexcept { return nullptr; }
void close_local_tool(LocalTool&) noexcept {}

#endif

}  // namespace nvspan::annotate
