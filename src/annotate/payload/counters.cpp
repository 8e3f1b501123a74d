// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/payload/counters.hpp"

#include <map>
#include <utility>

#include "annotate/payload/semantics.hpp"

#if NVSPAN_HAVE_NVTX
#include <nvtx3/nvToolsExtCounters.h>
#endif

namespace nvspan::annotate {

uint64_t Counter::register_with(const ToolTable& tool, uint64_t epoch) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (epoch_.load(std::memory_order_acquire) == epoch) return id_.load(std::memory_order_acquire);
  const uint64_t id = register_counter(tool, epoch);
  epoch_.store(0, std::memory_order_release);
  id_.store(id, std::memory_order_release);
  epoch_.store(epoch, std::memory_order_release);
  return id;
}

#if NVSPAN_HAVE_NVTX

namespace {

struct Scopes {
  struct Known {
    uint64_t epoch = 0;
    uint64_t id = 0;
  };
  std::mutex mutex;
  std::map<std::pair<const Domain*, std::pair<uint64_t, std::string>>, Known> known;
};

Scopes& scopes() noexcept {
  static Scopes* const table = new Scopes;  // immortal, as domains are
  return *table;
}

uint64_t scope_with(const ToolTable& tool, uint64_t epoch, const Domain& domain,
                    const std::string& path, uint64_t parent) noexcept {
  using Register = uint64_t (*)(nvtxDomainHandle_t, const nvtxScopeAttr_t*);
  auto call = tool.payload_slot<Register>(NVTX3EXT_CBID_nvtxScopeRegister);
  if (!call) return 0;
  Scopes& table = scopes();
  const std::lock_guard<std::mutex> lock(table.mutex);
  Scopes::Known& known = table.known[{&domain, {parent, path}}];
  if (known.epoch != epoch) {
    nvtxScopeAttr_t attributes{};
    attributes.structSize = sizeof attributes;
    attributes.path = path.c_str();
    attributes.parentScope = parent;
    attributes.scopeId = NVTX_SCOPE_NONE;
    known.id = call(domain.handle(), &attributes);
    known.epoch = epoch;
  }
  return known.id;
}

}  // namespace

uint64_t scope_id(Domain& domain, const std::string& path, uint64_t parent) noexcept {
  const ToolTable* tool = listening_tool();
  if (!tool || !domain.connected(*tool)) return 0;
  return scope_with(*tool, tool->epoch.load(std::memory_order_acquire), domain, path, parent);
}

uint64_t Counter::register_counter(const ToolTable& tool, uint64_t epoch) const noexcept {
  using Register = uint64_t (*)(nvtxDomainHandle_t, const nvtxCounterAttr_t*);
  if (tool.connect_counters) tool.connect_counters();
  auto call = tool.counter_slot<Register>(NVTX3EXT_CBID_nvtxCounterRegister);
  if (!call) return 0;
  nvtxCounterAttr_t attributes{};
  attributes.structSize = sizeof attributes;
  attributes.schemaId = description_.schema
                            ? description_.schema->id(domain_, domain_.handle(), tool, epoch)
                            : description_.type;
  if (attributes.schemaId == 0) return 0;
  attributes.name = description_.name.c_str();
  attributes.description = description_.description ? description_.description->c_str() : nullptr;
  attributes.scopeId =
      description_.scope_path
          ? scope_with(tool, epoch, domain_, *description_.scope_path, NVTX_SCOPE_NONE)
          : description_.scope;
  EntrySemantics semantics;
  attributes.semantics = semantics.fill(description_.meaning ? &*description_.meaning : nullptr,
                                        description_.time_domain, true);
  attributes.counterId = NVTX_COUNTER_ID_NONE;
  return call(domain_.handle(), &attributes);
}

template <class... Given>
void Counter::send(unsigned slot, Given... given) noexcept {
  uint64_t id = 0;
  const ToolTable* tool = ready(id);
  if (!tool) return;
  auto call = tool->counter_slot<void (*)(nvtxDomainHandle_t, uint64_t, Given...)>(slot);
  if (call) call(domain_.handle(), id, given...);
}

void Counter::sample(int64_t value) noexcept { send(NVTX3EXT_CBID_nvtxCounterSampleInt64, value); }

void Counter::sample(double value) noexcept { send(NVTX3EXT_CBID_nvtxCounterSampleFloat64, value); }

void Counter::sample(const void* value, size_t size) noexcept {
  send(NVTX3EXT_CBID_nvtxCounterSample, value, size);
}

void Counter::sample_no_value(uint8_t reason) noexcept {
  send(NVTX3EXT_CBID_nvtxCounterSampleNoValue, reason);
}

void Counter::submit(const void* samples, size_t size, const int64_t* timestamps,
                     size_t count) noexcept {
  uint64_t id = 0;
  const ToolTable* tool = ready(id);
  if (!tool) return;
  using Call = void (*)(nvtxDomainHandle_t, const nvtxCounterBatch_t*);
  auto call = tool->counter_slot<Call>(NVTX3EXT_CBID_nvtxCounterBatchSubmit);
  if (!call) return;
  nvtxCounterBatch_t batch{};
  batch.counterId = id;
  batch.counters = samples;
  batch.countersSize = size;
  batch.timestamps = timestamps;
  batch.timestampsSize = count * sizeof(int64_t);
  call(domain_.handle(), &batch);
}

int64_t tool_timestamp() noexcept {
  const ToolTable* tool = listening_tool();
  if (!tool) return 0;
  auto call = tool->payload_slot<int64_t (*)()>(NVTX3EXT_CBID_nvtxTimestampGet);
  return call ? call() : 0;
}

void submit_events(Domain& domain, const PayloadView& rows, uint64_t scope,
                   uint64_t flags) noexcept {
  const ToolTable* tool = listening_tool();
  if (!tool || !domain.connected(*tool) || rows.size == 0) return;
  using Submit = void (*)(nvtxDomainHandle_t, const nvtxEventBatch_t*);
  auto call = tool->payload_slot<Submit>(NVTX3EXT_CBID_nvtxEventBatchSubmit);
  if (!call) return;
  const uint64_t epoch = tool->epoch.load(std::memory_order_acquire);
  nvtxEventBatch_t batch{};
  batch.eventSchemaId = rows.schema->id(domain, domain.handle(), *tool, epoch);
  if (batch.eventSchemaId == 0) return;
  batch.size = rows.size;
  batch.events = rows.data;
  batch.scope = scope;
  batch.flags = flags;
  call(domain.handle(), &batch);
}

#else

uint64_t scope_id(Domain&, const std::string&, uint64_t) noexcept { return 0; }
uint64_t Counter::register_counter(const ToolTable&, uint64_t) const noexcept { return 0; }
void Counter::sample(int64_t) noexcept {}
void Counter::sample(double) noexcept {}
void Counter::sample(const void*, size_t) noexcept {}
void Counter::sample_no_value(uint8_t) noexcept {}
void Counter::submit(const void*, size_t, const int64_t*, size_t) noexcept {}
int64_t tool_timestamp() noexcept { return 0; }
void submit_events(Domain&, const PayloadView&, uint64_t, uint64_t) noexcept {}

#endif

}  // namespace nvspan::annotate
