// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// An NVTX tool that does nothing: every core callback returns at once. What a benchmark measures
// under it is the cost on the annotating side alone. It has no extension entry point, so
// nvtxDomainIsEnabled answers 1 to every caller. Compiled with NULL_EXTENSION=1 it has one, and
// takes payloads, counters and batches in the same way.

#include <nvtx3/nvToolsExt.h>
#ifdef NULL_EXTENSION
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#endif

namespace {

int push_depth(const char*) { return 0; }
int push_depth_wide(const wchar_t*) { return 0; }
int push_attributes(const nvtxEventAttributes_t*) { return 0; }
int pop() { return 0; }
nvtxRangeId_t start_attributes(const nvtxEventAttributes_t*) { return 1; }
nvtxRangeId_t start_text(const char*) { return 1; }
nvtxRangeId_t start_wide(const wchar_t*) { return 1; }
void end(nvtxRangeId_t) {}
void mark_attributes(const nvtxEventAttributes_t*) {}
void mark_text(const char*) {}
void mark_wide(const wchar_t*) {}
void name_id(uint32_t, const char*) {}
void name_id_wide(uint32_t, const wchar_t*) {}

int handle_bytes[2];

nvtxDomainHandle_t create_domain(const char*) {
  return reinterpret_cast<nvtxDomainHandle_t>(&handle_bytes[0]);
}
nvtxDomainHandle_t create_domain_wide(const wchar_t*) { return create_domain(nullptr); }
void destroy_domain(nvtxDomainHandle_t) {}
nvtxStringHandle_t register_string(nvtxDomainHandle_t, const char*) {
  return reinterpret_cast<nvtxStringHandle_t>(&handle_bytes[1]);
}
nvtxStringHandle_t register_wide(nvtxDomainHandle_t, const wchar_t*) {
  return register_string(nullptr, nullptr);
}
void name_category(nvtxDomainHandle_t, uint32_t, const char*) {}
void name_category_wide(nvtxDomainHandle_t, uint32_t, const wchar_t*) {}
void domain_mark(nvtxDomainHandle_t, const nvtxEventAttributes_t*) {}
int domain_push(nvtxDomainHandle_t, const nvtxEventAttributes_t*) { return 0; }
int domain_pop(nvtxDomainHandle_t) { return 0; }
nvtxRangeId_t domain_start(nvtxDomainHandle_t, const nvtxEventAttributes_t*) { return 1; }
void domain_end(nvtxDomainHandle_t, nvtxRangeId_t) {}
void initialize(const void*) {}

template <typename Function>
void set(NvtxFunctionTable table, unsigned int size, unsigned int slot, Function function) {
  if (slot < size && table[slot] != nullptr) {
    *table[slot] = reinterpret_cast<NvtxFunctionPointer>(function);
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr) {
    return 0;
  }
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) != 0) {
    set(table, size, NVTX_CBID_CORE_MarkEx, mark_attributes);
    set(table, size, NVTX_CBID_CORE_MarkA, mark_text);
    set(table, size, NVTX_CBID_CORE_MarkW, mark_wide);
    set(table, size, NVTX_CBID_CORE_RangeStartEx, start_attributes);
    set(table, size, NVTX_CBID_CORE_RangeStartA, start_text);
    set(table, size, NVTX_CBID_CORE_RangeStartW, start_wide);
    set(table, size, NVTX_CBID_CORE_RangeEnd, end);
    set(table, size, NVTX_CBID_CORE_RangePushEx, push_attributes);
    set(table, size, NVTX_CBID_CORE_RangePushA, push_depth);
    set(table, size, NVTX_CBID_CORE_RangePushW, push_depth_wide);
    set(table, size, NVTX_CBID_CORE_RangePop, pop);
    set(table, size, NVTX_CBID_CORE_NameCategoryA, name_id);
    set(table, size, NVTX_CBID_CORE_NameCategoryW, name_id_wide);
    set(table, size, NVTX_CBID_CORE_NameOsThreadA, name_id);
    set(table, size, NVTX_CBID_CORE_NameOsThreadW, name_id_wide);
  }
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) != 0) {
    set(table, size, NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
    set(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
    set(table, size, NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
    set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
    set(table, size, NVTX_CBID_CORE2_DomainRangePop, domain_pop);
    set(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
    set(table, size, NVTX_CBID_CORE2_DomainRegisterStringW, register_wide);
    set(table, size, NVTX_CBID_CORE2_DomainCreateA, create_domain);
    set(table, size, NVTX_CBID_CORE2_DomainCreateW, create_domain_wide);
    set(table, size, NVTX_CBID_CORE2_DomainDestroy, destroy_domain);
    set(table, size, NVTX_CBID_CORE2_DomainNameCategoryA, name_category);
    set(table, size, NVTX_CBID_CORE2_DomainNameCategoryW, name_category_wide);
    set(table, size, NVTX_CBID_CORE2_Initialize, initialize);
  }
  return 1;
}

#ifdef NULL_EXTENSION

namespace {

uint64_t last_id = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START;

uint64_t register_schema(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t*) { return ++last_id; }
uint64_t register_scope(nvtxDomainHandle_t, const nvtxScopeAttr_t*) { return ++last_id; }
uint64_t register_counter(nvtxDomainHandle_t, const nvtxCounterAttr_t*) { return ++last_id; }
uint8_t is_enabled(nvtxDomainHandle_t) { return 1; }
int64_t timestamp() { return 1; }
void submit_events(nvtxDomainHandle_t, const nvtxEventBatch_t*) {}
void sample_int64(nvtxDomainHandle_t, uint64_t, int64_t) {}
void sample_float64(nvtxDomainHandle_t, uint64_t, double) {}
void sample(nvtxDomainHandle_t, uint64_t, const void*, size_t) {}
void sample_no_value(nvtxDomainHandle_t, uint64_t, uint8_t) {}
void submit_counters(nvtxDomainHandle_t, const nvtxCounterBatch_t*) {}

template <typename Function>
void set_slot(const nvtxExtModuleSegment_t& segment, size_t slot, Function function) {
  if (slot < segment.slotCount) segment.functionSlots[slot] = reinterpret_cast<intptr_t>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    nvtxExtModuleInfo_t* module) {
  const nvtxExtModuleSegment_t& segment = *module->segments;
  if (module->moduleId == NVTX_EXT_PAYLOAD_MODULEID) {
    set_slot(segment, NVTX3EXT_CBID_nvtxPayloadSchemaRegister, register_schema);
    set_slot(segment, NVTX3EXT_CBID_nvtxScopeRegister, register_scope);
    set_slot(segment, NVTX3EXT_CBID_nvtxDomainIsEnabled, is_enabled);
    set_slot(segment, NVTX3EXT_CBID_nvtxTimestampGet, timestamp);
    set_slot(segment, NVTX3EXT_CBID_nvtxEventBatchSubmit, submit_events);
  } else if (module->moduleId == NVTX_EXT_COUNTERS_MODULEID) {
    set_slot(segment, NVTX3EXT_CBID_nvtxCounterRegister, register_counter);
    set_slot(segment, NVTX3EXT_CBID_nvtxCounterSampleInt64, sample_int64);
    set_slot(segment, NVTX3EXT_CBID_nvtxCounterSampleFloat64, sample_float64);
    set_slot(segment, NVTX3EXT_CBID_nvtxCounterSample, sample);
    set_slot(segment, NVTX3EXT_CBID_nvtxCounterSampleNoValue, sample_no_value);
    set_slot(segment, NVTX3EXT_CBID_nvtxCounterBatchSubmit, submit_counters);
  }
  return 1;
}

#endif
