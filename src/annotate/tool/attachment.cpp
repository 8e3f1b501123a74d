// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/tool/attachment.hpp"

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "annotate/tool/environment_tool.hpp"
#include "annotate/tool/local_tool.hpp"
#include "annotate/tool/tool_layer.hpp"
#include "core/os/library.hpp"

namespace nvspan::annotate {

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
  LocalTool* local = nullptr;   // whose table that is; null: the environment's; under the mutex
  uint64_t toolless_epoch = 0;  // of tables that lie over none; under the mutex
  std::atomic<ToolListener> listener{nullptr};
  std::atomic<bool> decided{false};
  std::atomic<bool> is_compute{false};  // whether the tool is Nsight Compute
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
void publish_layers(Attachment& state) noexcept {
  ToolTable* tool = state.real;
  const uint64_t epoch = tool ? tool->epoch.load() : state.toolless_epoch;
  for (const ToolLayer& layer : tool_layers.layers) {
    ToolTable* const over = layer.enabled() ? layer.table_over(tool) : nullptr;
    if (!over) continue;
    over->epoch.store(epoch, std::memory_order_release);
    tool = over;
  }
  detail::attached_tool.store(tool, std::memory_order_release);
  update_current(state);
}

// The library that filled the table, or that the environment names: a tool may fill its table
// later. Empty: there is none.
std::string library_behind(const ToolTable* tool) {
  if (!tool) return {};
#if NVSPAN_HAVE_NVTX
  for (unsigned id = 1; id < NVTX_CBID_CORE2_SIZE; ++id) {
    if (auto function = tool->core2_slot<void (*)()>(id)) return core::library_of(function);
  }
#endif
  const char* named = std::getenv("NVTX_INJECTION64_PATH");
  return named ? named : "";
}

void publish(Attachment& state, ToolTable* tool) noexcept {
  const uint64_t epoch = ++state.last_epoch;
  state.is_compute.store(tool != nullptr && is_nsight_compute(library_behind(tool)));
  if (tool)
    tool->epoch.store(epoch, std::memory_order_release);
  else
    state.toolless_epoch = epoch;
  state.real = tool;
  const bool decided_before = state.decided.exchange(true);
  publish_layers(state);
  for (const ToolLayer& layer : tool_layers.layers) {
    if (layer.epoch_changed && decided_before && layer.enabled()) layer.epoch_changed();
  }
  if (!tool) return;
  for (const OnAttach on_attach : tool_layers.on_attach) on_attach(*tool);
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
  return attachment().is_compute.load(std::memory_order_relaxed);
}

bool tool_forgets_strings() noexcept {
  return attachment().is_compute.load(std::memory_order_relaxed);
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
    if (tool_decided()) publish_layers(state);
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

std::string attach_tool(const std::string& path, const std::string& config) {
  if (disabled_by_environment()) return "annotations are switched off by NVTX_DISABLE";
  if (!tool_decided()) detail::decide_tool();
  Attachment& state = attachment();
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (state.real != nullptr) return "an NVTX tool is already attached";
    std::string problem;
    LocalTool* tool = open_local_tool(path, config, problem);
    if (!tool) return problem;
    state.local = tool;
    publish(state, local_table(*tool));
  }
  notify(state);
  return {};
}

void detach_tool() noexcept {
  Attachment& state = attachment();
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (!state.local) return;
    publish(state, nullptr);
    close_local_tool(*state.local);
    state.local = nullptr;
  }
  notify(state);
}

}  // namespace nvspan::annotate
