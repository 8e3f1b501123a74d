// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/registry.hpp"

#include "record/file/live_format.hpp"

#include <cstring>

namespace nvspan::inject {
namespace {

constexpr std::uint64_t handle_tag = 0x4E56;  // no address of a user's process starts like this
constexpr unsigned tag_shift = 48;
constexpr unsigned type_shift = 44;

constexpr std::uint64_t first_handle(HandleType type) {
  return handle_tag << tag_shift | static_cast<std::uint64_t>(type) << type_shift;
}
static_assert(first_handle(HandleType::domain) == record::live_domain_handles &&
              first_handle(HandleType::string) == record::live_string_handles);

constexpr std::size_t remembered_domains = 4096;
constexpr std::string_view unknown_domain = "<unknown domain>";
constexpr std::string_view default_domain_name = "NVTX";

}  // namespace

Registry::Registry(core::PagePool& pool)
    : pool_(pool),
      texts_(pool),
      shown_names_(pool),
      domains_(pool),
      destroyed_(pool),
      strings_(pool),
      string_handles_(pool),
      categories_(pool),
      thread_names_(pool),
      objects_(pool),
      schema_sizes_(pool),
      counter_names_(pool) {}

std::string_view Registry::intern(std::string_view text) {
  if (text.data() == nullptr) return text;
  const auto found = texts_.find(text);
  if (found != texts_.end()) return *found;
  auto* copy = static_cast<char*>(pool_.allocate(text.size() + 1));
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return *texts_.insert(std::string_view(copy, text.size())).first;
}

std::uint64_t Registry::make_handle(HandleType type) { return first_handle(type) | serial_++; }

bool Registry::is_shown(std::string_view name) const {
  if (all_shown_) return true;
  for (const std::string_view& shown : shown_names_) {
    if (shown == name) return true;
  }
  return false;
}

void Registry::show_all_domains() {
  all_shown_ = true;
  default_shown_ = true;
  for (auto& entry : domains_) entry.second.shown = true;
}

void Registry::show_only(const core::PoolVector<core::PoolString>& names) {
  all_shown_ = false;
  shown_names_.clear();
  for (const core::PoolString& name : names) shown_names_.push_back(intern(std::string_view(name)));
  default_shown_ = is_shown(default_domain_name);
  for (auto& entry : domains_) entry.second.shown = is_shown(entry.second.name);
}

std::uint64_t Registry::create_domain(std::string_view name) {
  const std::string_view kept = intern(name.data() == nullptr ? std::string_view("") : name);
  const std::uint64_t handle = make_handle(HandleType::domain);
  domains_[handle] = Domain{kept, is_shown(kept)};
  return handle;
}

void Registry::destroy_domain(std::uint64_t handle) {
  if (domains_.count(handle) == 0) return;
  if (destroyed_.size() < remembered_domains) {
    destroyed_.push_back(handle);
    return;
  }
  domains_.erase(destroyed_[next_destroyed_]);
  destroyed_[next_destroyed_] = handle;
  next_destroyed_ = (next_destroyed_ + 1) % remembered_domains;
}

DomainView Registry::domain(std::uint64_t handle) const {
  if (handle == 0) return {0, std::string_view(), default_shown_};
  const auto found = domains_.find(handle);
  if (found == domains_.end()) return {handle, unknown_domain, all_shown_};
  return {handle, found->second.name, found->second.shown};
}

std::uint64_t Registry::register_string(std::uint64_t domain, std::string_view text) {
  const std::string_view kept = intern(text);
  const trace::DomainKey key{domain, reinterpret_cast<std::uintptr_t>(kept.data())};
  const auto found = string_handles_.find(key);
  if (found != string_handles_.end()) return found->second;
  strings_.push_back(RegisteredString{domain, kept});
  const std::uint64_t handle = string_handle(strings_.size() - 1);
  string_handles_[key] = handle;
  return handle;
}

std::uint64_t Registry::string_handle(std::size_t index) noexcept {
  return first_handle(HandleType::string) | (index + 1);
}

const RegisteredString* Registry::string(std::uint64_t handle) const {
  const std::uint64_t index = handle ^ first_handle(HandleType::string);
  return index >= 1 && index <= strings_.size() ? &strings_[index - 1] : nullptr;
}

void Registry::name_category(std::uint64_t domain, std::uint32_t category, std::string_view name) {
  categories_[trace::DomainKey{domain, category}] = intern(name);
}

std::string_view Registry::category_name(std::uint64_t domain, std::uint32_t category) const {
  const auto found = categories_.find(trace::DomainKey{domain, category});
  return found == categories_.end() ? std::string_view() : found->second;
}

void Registry::name_thread(std::uint32_t tid, std::string_view name) {
  thread_names_[tid] = intern(name);
}

void Registry::forget_thread(std::uint32_t tid) { thread_names_.erase(tid); }

std::string_view Registry::thread_name(std::uint32_t tid) const {
  if (thread_names_.empty()) return {};
  const auto found = thread_names_.find(tid);
  return found == thread_names_.end() ? std::string_view() : found->second;
}

std::uint64_t Registry::create_object(HandleType type, std::uint64_t domain,
                                      std::string_view name) {
  const std::uint64_t handle = make_handle(type);
  objects_[handle] = NamedObject{domain, intern(name)};
  return handle;
}

NamedObject Registry::object(std::uint64_t handle) const {
  const auto found = objects_.find(handle);
  return found == objects_.end() ? NamedObject() : found->second;
}

void Registry::set_schema_size(std::uint64_t domain, std::uint64_t schema, std::uint64_t bytes) {
  schema_sizes_[trace::DomainKey{domain, schema}] = bytes;
}

std::uint64_t Registry::schema_size(std::uint64_t domain, std::uint64_t schema) const {
  const auto found = schema_sizes_.find(trace::DomainKey{domain, schema});
  return found == schema_sizes_.end() ? 0 : found->second;
}

void Registry::name_counter(std::uint64_t domain, std::uint64_t counter, std::string_view name) {
  counter_names_[trace::DomainKey{domain, counter}] = intern(name);
}

std::string_view Registry::counter_name(std::uint64_t domain, std::uint64_t counter) const {
  const auto found = counter_names_.find(trace::DomainKey{domain, counter});
  return found == counter_names_.end() ? std::string_view() : found->second;
}

}  // namespace nvspan::inject
