// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "trace/payload/payload_decoder.hpp"
#include "trace/payload/payload_schema.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::inject {

enum class HandleType : std::uint8_t {
  domain = 1,
  string,
  resource,
  sync,
};

struct DomainView {
  std::uint64_t handle = 0;
  std::string_view name;  // absent: the default domain
  bool shown = true;
};

struct RegisteredString {
  std::uint64_t domain = 0;
  std::string_view text;  // absent: a null pointer was registered
};

struct NamedObject {
  std::uint64_t domain = 0;
  std::string_view name;
};

// All that programs registered, for the life of the process: handles given out stay known when
// tracing is closed and opened again. A handle is a tagged number, unique in the process and looked
// up rather than followed, so that one that was never given out does no harm. Text is copied into
// storage that never moves. Guarded by the session's lock.
class Registry {
 public:
  explicit Registry(core::PagePool& pool);

  std::string_view intern(std::string_view text);

  void show_all_domains();
  void show_only(const core::PoolVector<core::PoolString>& names);

  std::uint64_t create_domain(std::string_view name);
  void destroy_domain(std::uint64_t handle);
  DomainView domain(std::uint64_t handle) const;

  // The same text in the same domain has one handle, however often it is registered.
  std::uint64_t register_string(std::uint64_t domain, std::string_view text);
  const RegisteredString* string(std::uint64_t handle) const;

  // use(handle, text)
  template <typename Use>
  void each_domain(Use&& use) const {
    for (const auto& entry : domains_) use(entry.first, entry.second.name);
  }
  // Of each but the first `known`; returns how many there are now.
  template <typename Use>
  std::size_t each_string(std::size_t known, Use&& use) const {
    for (; known < strings_.size(); ++known) use(string_handle(known), strings_[known].text);
    return known;
  }

  void name_category(std::uint64_t domain, std::uint32_t category, std::string_view name);
  std::string_view category_name(std::uint64_t domain, std::uint32_t category) const;

  void name_thread(std::uint32_t tid, std::string_view name);
  void forget_thread(std::uint32_t tid);
  std::string_view thread_name(std::uint32_t tid) const;

  std::uint64_t create_object(HandleType type, std::uint64_t domain, std::string_view name);
  void destroy_object(std::uint64_t handle) { objects_.erase(handle); }
  NamedObject object(std::uint64_t handle) const;

  // Ids of schemas, enumerations, scopes, time domains and counters, from `first` upwards.
  std::uint64_t next_id(std::uint64_t first) { return first + serial_++; }
  void set_schema_size(std::uint64_t domain, std::uint64_t schema, std::uint64_t bytes);
  std::uint64_t schema_size(std::uint64_t domain, std::uint64_t schema) const;  // 0: unknown
  void name_counter(std::uint64_t domain, std::uint64_t counter, std::string_view name);
  std::string_view counter_name(std::uint64_t domain, std::uint64_t counter) const;

 private:
  struct Domain {
    std::string_view name;
    bool shown = true;
  };
  std::uint64_t make_handle(HandleType type);
  static std::uint64_t string_handle(std::size_t index) noexcept;
  bool is_shown(std::string_view name) const;

  core::PagePool& pool_;
  core::PoolSet<std::string_view> texts_;
  bool all_shown_ = true;
  bool default_shown_ = true;
  core::PoolVector<std::string_view> shown_names_;
  core::PoolMap<std::uint64_t, Domain> domains_;
  core::PoolVector<std::uint64_t>
      destroyed_;  // a ring: late events of a destroyed domain keep its name
  std::size_t next_destroyed_ = 0;
  core::PoolVector<RegisteredString> strings_;
  core::PoolMap<trace::DomainKey, std::uint64_t, trace::DomainKeyHash> string_handles_;
  core::PoolMap<trace::DomainKey, std::string_view, trace::DomainKeyHash> categories_;
  core::PoolMap<std::uint32_t, std::string_view> thread_names_;
  core::PoolMap<std::uint64_t, NamedObject> objects_;
  core::PoolMap<trace::DomainKey, std::uint64_t, trace::DomainKeyHash> schema_sizes_;
  core::PoolMap<trace::DomainKey, std::string_view, trace::DomainKeyHash> counter_names_;
  std::uint64_t serial_ = 1;
};

// The clocks that programs registered for their own stamps. Guarded by the session's lock.
class TimeDomains {
 public:
  explicit TimeDomains(core::PagePool& pool) : types_(pool) {}

  void keep(std::uint64_t id, std::uint64_t type) { types_[id] = type; }
  // What a time domain's stamps are; predefined types stand for themselves.
  std::uint64_t type(std::uint64_t time_domain) const {
    const auto found = types_.find(time_domain);
    return found == types_.end() ? time_domain : found->second;
  }

 private:
  core::PoolMap<std::uint64_t, std::uint64_t> types_;
};

// Registered strings and categories, for decoded payloads.
class RegisteredNames final : public trace::PayloadNames {
 public:
  explicit RegisteredNames(const Registry& registry) : registry_(registry) {}

  std::string_view string(std::uint64_t, std::uint64_t handle) const override {
    const RegisteredString* found = registry_.string(handle);
    return found == nullptr ? std::string_view() : found->text;
  }
  std::string_view category(std::uint64_t domain, std::uint32_t number) const override {
    return registry_.category_name(domain, number);
  }

 private:
  const Registry& registry_;
};

}  // namespace nvspan::inject
