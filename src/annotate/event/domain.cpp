// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/event/domain.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "annotate/event/event.hpp"
#include "annotate/event/switchboard.hpp"
#include "annotate/tool/attachment.hpp"
#include "core/os/library.hpp"

namespace nvspan::annotate {

namespace {

std::atomic<size_t>& process_message_limit() noexcept {
  static std::atomic<size_t> limit{[] {
    const char* value = std::getenv("NVSPAN_MESSAGE_LIMIT");
    char* end = nullptr;
    const unsigned long long parsed = value ? std::strtoull(value, &end, 10) : 0;
    return value && *value && *end == '\0' ? static_cast<size_t>(parsed) : default_message_limit;
  }()};
  return limit;
}

#if NVSPAN_HAVE_NVTX

// Also the nsys that ships within Nsight Compute, whose folder does not name it.
bool is_nsys(const std::string& library) {
  return library.find("libToolsInjection", library.rfind('/') + 1) != std::string::npos ||
         library.find("nsight-systems") != std::string::npos;
}

nvtxDomainHandle_t create_domain(const ToolTable& tool, const std::string& name) noexcept {
  auto call = tool.core2_slot<nvtxDomainCreateA_impl_fntype>(NVTX_CBID_CORE2_DomainCreateA);
  if (!call) return nullptr;
  // An empty name makes the importer of nsys 2023.4 give up on the whole report.
  const bool as_space =
      name.empty() && is_nsys(core::library_of(reinterpret_cast<void (*)()>(call)));
  return call(as_space ? " " : name.c_str());
}

// A refusal counts only from a tool that implements the question.
bool tool_wants(const ToolTable& tool, nvtxDomainHandle_t handle) noexcept {
  using IsEnabled = uint8_t (*)(nvtxDomainHandle_t);
  auto call = tool.payload_slot<IsEnabled>(NVTX3EXT_CBID_nvtxDomainIsEnabled);
  return !call || call(handle) != 0;
}

nvtxStringHandle_t register_string(const ToolTable& tool, nvtxDomainHandle_t domain,
                                   const char* text) noexcept {
  auto call =
      tool.core2_slot<nvtxDomainRegisterStringA_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringA);
  return call ? call(domain, text) : nullptr;
}

void name_category(const ToolTable& tool, nvtxDomainHandle_t domain, uint32_t id,
                   const char* name) noexcept {
  auto call =
      tool.core2_slot<nvtxDomainNameCategoryA_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryA);
  if (call) call(domain, id, name);
}

#else

nvtxDomainHandle_t create_domain(const ToolTable&, const std::string&) noexcept { return nullptr; }
bool tool_wants(const ToolTable&, nvtxDomainHandle_t) noexcept { return false; }
nvtxStringHandle_t register_string(const ToolTable&, nvtxDomainHandle_t, const char*) noexcept {
  return nullptr;
}
void name_category(const ToolTable&, nvtxDomainHandle_t, uint32_t, const char*) noexcept {}

#endif

}  // namespace

Domain::Domain(std::string name, bool is_default)
    : name_(std::move(name)), is_default_(is_default) {
  const DomainSetting setting =
      DomainSwitches::of_environment().setting(is_default ? std::string_view("NVTX") : name_);
  enabled_ = setting.enabled;
  on_.store(enabled_);
  level_.store(setting.level);
  level_given_ = setting.level_given;
  switch_given_ = setting.enabled_given;
}

void Domain::update_on() {
  const bool on = enabled_ && pauses_ == 0;
  if (on_.exchange(on) && !on) active_epoch_.store(0, std::memory_order_release);
}

void Domain::set_enabled(bool enabled) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    enabled_ = enabled;
    update_on();
  }
  notify_tool_listener();
}

void Domain::set_default_enabled(bool enabled) {
  if (!switch_given_) set_enabled(enabled);
}

void Domain::pause(int change) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    pauses_ += change;
    update_on();
  }
  notify_tool_listener();
}

bool Domain::set_default_level(uint32_t level) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (level_given_) return level_.load() == level;
  level_given_ = true;
  level_.store(level);
  return true;
}

Domain& Domain::get(const std::string* name) {
  struct Registry {
    std::mutex mutex;
    std::map<std::string, std::unique_ptr<Domain>> named;
    std::unique_ptr<Domain> unnamed;
  };
  static Registry* const registry = new Registry;  // immortal: events outlive the module
  std::lock_guard<std::mutex> lock(registry->mutex);
  std::unique_ptr<Domain>& entry = name ? registry->named[*name] : registry->unnamed;
  if (!entry) entry.reset(new Domain(name ? *name : std::string(), name == nullptr));
  return *entry;
}

bool Domain::connect(const ToolTable& tool, uint64_t epoch) noexcept {
  if (refused_epoch_.load(std::memory_order_acquire) == epoch) return false;
  std::lock_guard<std::mutex> lock(mutex_);
  if (active_epoch_.load(std::memory_order_acquire) == epoch) return true;
  if (!enabled()) return false;
  if (handle_epoch_.load(std::memory_order_acquire) == epoch) {
    active_epoch_.store(epoch, std::memory_order_release);
    return true;
  }
  const nvtxDomainHandle_t handle = is_default_ ? nullptr : create_domain(tool, name_);
  handle_.store(handle, std::memory_order_relaxed);
  if (!tool_wants(tool, handle)) {
    refused_epoch_.store(epoch, std::memory_order_release);
    return false;
  }
  for (const auto& category : category_ids_) {
    name_category(tool, handle, category.second, category.first.c_str());
  }
  handle_epoch_.store(epoch, std::memory_order_release);
  active_epoch_.store(epoch, std::memory_order_release);
  return true;
}

nvtxStringHandle_t Domain::registered(const ToolTable& tool, uint64_t epoch,
                                      std::string_view text) {
  const auto found = messages_.find(text);
  if (found == messages_.end()) {
    const size_t limit = message_limit_ ? message_limit_ : process_message_limit().load();
    if (messages_.size() - requested_messages_ >= limit ||
        message_bytes_ + text.size() > most_registered_bytes) {
      ++overflowed_;
      if (!overflow_noticed_) {
        overflow_noticed_ = true;
        overflow_notice_.store(true, std::memory_order_release);
      }
      return nullptr;
    }
  }
  Message& message = found == messages_.end() ? add_message(text) : *found->second;
  if (message.epoch != epoch) {
    message.handle = register_string(tool, handle(), message.text.c_str());
    message.epoch = epoch;
  }
  return message.handle;
}

Domain::Message& Domain::add_message(std::string_view text) {
  auto message = std::make_unique<Message>();
  message->text.assign(text);
  const std::string_view key = message->text;
  Message& added = *messages_.emplace(key, std::move(message)).first->second;
  message_bytes_ += text.size();
  return added;
}

void Domain::request_message(std::string_view text) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (requested_messages_ >= most_requested_messages || messages_.count(text)) return;
  add_message(text);
  ++requested_messages_;
}

void Domain::resolve_message(ReadyEvent& event, const ToolTable& tool, uint64_t epoch) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (event.ready_epoch.load(std::memory_order_acquire) == epoch) return;
  int32_t type = NVTX_MESSAGE_UNKNOWN;
  const void* value = nullptr;
  if (event.text) {
    if (!tool_forgets_strings()) {
      value = registered(tool, epoch, std::string_view(event.text, event.text_size));
    }
    type = value ? NVTX_MESSAGE_TYPE_REGISTERED : NVTX_MESSAGE_TYPE_ASCII;
    if (!value) value = event.text;
  }
  event.ready_epoch.store(0, std::memory_order_release);
  event.message_type.store(type, std::memory_order_release);
  event.message.store(value, std::memory_order_release);
  event.ready_epoch.store(epoch, std::memory_order_release);
}

nvtxStringHandle_t Domain::message_handle(const ToolTable& tool, uint64_t epoch,
                                          std::string_view text) {
  std::lock_guard<std::mutex> lock(mutex_);
  return registered(tool, epoch, text);
}

uint32_t Domain::category_id(const std::string& name, CategoryIds ids) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = category_ids_.find(name);
  if (found != category_ids_.end()) return found->second;
  uint32_t& next = ids == CategoryIds::named ? next_named_ : next_requested_;
  while (user_categories_.count(next) || named_categories_.count(next)) ++next;
  const uint32_t id = next;
  category_ids_.emplace(name, id);
  named_categories_.insert(id);
  const ToolTable* tool = closing_tool();
  if (tool && has_handle(tool->epoch.load(std::memory_order_acquire))) {
    name_category(*tool, handle(), id, name.c_str());
  }
  return id;
}

bool Domain::name_category_id(uint32_t id, const std::string& name) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = category_ids_.find(name);
  if (found != category_ids_.end()) return found->second == id;
  if (named_categories_.count(id)) return false;
  category_ids_.emplace(name, id);
  named_categories_.insert(id);
  const ToolTable* tool = closing_tool();
  if (tool && has_handle(tool->epoch.load(std::memory_order_acquire))) {
    name_category(*tool, handle(), id, name.c_str());
  }
  return true;
}

void Domain::use_category_id(uint32_t id) {
  if (id == 0) return;
  std::lock_guard<std::mutex> lock(mutex_);
  constexpr size_t most_remembered = 65536;  // bounds a program that makes ids up as it goes
  if (user_categories_.size() < most_remembered) user_categories_.insert(id);
}

std::vector<std::pair<std::string, uint32_t>> Domain::categories() const {
  std::vector<std::pair<std::string, uint32_t>> result;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    result.assign(category_ids_.begin(), category_ids_.end());
  }
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  return result;
}

void Domain::set_message_limit(size_t limit) {
  std::lock_guard<std::mutex> lock(mutex_);
  message_limit_ = limit;
}

void Domain::set_default_message_limit(size_t limit) noexcept {
  process_message_limit().store(limit);
}

MessageStats Domain::message_stats() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {messages_.size(), message_limit_ ? message_limit_ : process_message_limit().load(),
          overflowed_};
}

bool Domain::take_overflow_notice() noexcept {
  return overflow_notice_.load(std::memory_order_relaxed) &&
         overflow_notice_.exchange(false, std::memory_order_acq_rel);
}

}  // namespace nvspan::annotate
