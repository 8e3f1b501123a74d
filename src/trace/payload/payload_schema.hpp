// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// How programs describe their payloads: schemas, enumerations and scopes, by domain and id. What
// they are made of: nvtx/numbers.hpp.

#pragma once

#include "core/immovable.hpp"
#include "core/memory/page_pool.hpp"
#include "nvtx/numbers.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::trace {

// What a tool numbers within a domain: schemas, counters, scopes and so on.
struct DomainKey {
  std::uint64_t domain;
  std::uint64_t id;
  friend bool operator==(const DomainKey& a, const DomainKey& b) {
    return a.domain == b.domain && a.id == b.id;
  }
};

struct DomainKeyHash {
  std::size_t operator()(const DomainKey& key) const noexcept {
    return static_cast<std::size_t>(key.domain * 0x9E3779B97F4A7C15u ^ key.id);
  }
};

inline std::uint64_t aligned(std::uint64_t at, std::uint64_t alignment) {
  return (at + alignment - 1) / alignment * alignment;
}

// What a counter's value means: nvtxSemanticsCounter_t.
struct CounterUnit {
  std::string_view unit;  // absent: not said
  std::uint64_t flags = 0;
  std::uint64_t scale_numerator = 1;
  std::uint64_t scale_denominator = 1;
  std::int64_t limit_type = 0;
  std::uint64_t min_bits = 0;
  std::uint64_t max_bits = 0;
};

struct PayloadEntry {
  std::uint64_t flags = 0;
  std::uint64_t type = 0;
  std::uint64_t detail = 0;
  std::uint64_t offset = 0;
  std::uint64_t time_domain = 0;
  std::string_view name;  // absent: none
  CounterUnit unit;
  std::uint64_t place = 0;  // in a fixed schema that was added: where it lies
};

struct PayloadSchema {
  std::uint64_t id = 0;
  std::uint64_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t size = 0;  // of a fixed one; 0: found while it is read
  std::uint64_t pack = 0;
  std::string_view name;
  const PayloadEntry* entries = nullptr;
  std::size_t count = 0;

  // Found when it is added.
  std::uint64_t alignment = 1;
  std::uint64_t version = 0;    // not that of any other
  bool cites_names = false;     // registered strings or categories, or a part of it does
  bool has_attributes = false;  // an entry of its own is a message, category or color
};

struct PayloadEnumValue {
  std::string_view name;
  std::uint64_t value = 0;
  bool is_flag = false;
};

struct PayloadEnum {
  std::uint64_t id = 0;
  std::uint64_t size = 0;
  std::string_view name;
  const PayloadEnumValue* values = nullptr;
  std::size_t count = 0;
  std::uint64_t version = 0;  // as that of a schema
};

struct PayloadCounter {
  std::uint64_t schema = 0;  // of its samples: a predefined type, or a group
  std::uint64_t scope = 0;
  std::uint64_t time_domain = 0;
  std::string_view description;
  CounterUnit unit;
};

struct PayloadScope {
  std::uint64_t parent = 0;
  std::string_view path;
};

struct TypeLayout {
  std::uint64_t size = 0;  // 0: not fixed, or no type
  std::uint64_t alignment = 1;
};

TypeLayout predefined_layout(std::uint64_t type) noexcept;
std::uint64_t string_unit(std::uint64_t type) noexcept;  // bytes; 0: no string

// Of one process, or of one recording's process. Its owner's lock guards it.
class SchemaTable : public core::Immovable {
 public:
  explicit SchemaTable(core::PagePool& pool)
      : pool_(pool), schemas_(pool), enums_(pool), scopes_(pool), counters_(pool) {}

  // All text is copied. One of the same id is replaced. Throws std::bad_alloc.
  const PayloadSchema& add(std::uint64_t domain, const PayloadSchema& given);
  void add(std::uint64_t domain, const PayloadEnum& given);
  void add_scope(std::uint64_t domain, std::uint64_t id, const PayloadScope& given);
  void add_counter(std::uint64_t domain, std::uint64_t id, const PayloadCounter& given);

  const PayloadSchema* schema(std::uint64_t domain, std::uint64_t id) const;
  const PayloadEnum* enumeration(std::uint64_t domain, std::uint64_t id) const;
  const PayloadScope* scope(std::uint64_t domain, std::uint64_t id) const;
  const PayloadCounter* counter(std::uint64_t domain, std::uint64_t id) const;

  TypeLayout layout(std::uint64_t domain, std::uint64_t type) const;
  TypeLayout layout(std::uint64_t domain, const PayloadEntry& entry) const;

 private:
  // A definition and the one block that holds what it points at.
  template <typename T>
  struct Kept {
    T value;
    char* block = nullptr;
    std::size_t bytes = 0;
  };
  template <typename T>
  using Map = core::PoolMap<DomainKey, Kept<T>, DomainKeyHash>;

  template <typename T>
  T& keep(Map<T>& map, const DomainKey& key, const Kept<T>& entry);
  void measure(std::uint64_t domain, PayloadSchema& schema, PayloadEntry* entries) const;

  core::PagePool& pool_;
  Map<PayloadSchema> schemas_;
  Map<PayloadEnum> enums_;
  Map<PayloadScope> scopes_;
  Map<PayloadCounter> counters_;
  std::uint64_t versions_ = 0;
};

}  // namespace nvspan::trace
