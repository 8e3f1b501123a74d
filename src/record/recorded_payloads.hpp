// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The payloads of a recording as named fields.

#pragma once

#include "record/payload_decoder.hpp"
#include "record/reader.hpp"
#include "record/walk.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nvspan {

// What a process of a recording registered, by the domains of its file.
class ReadSchemas final : public PayloadNames {
 public:
  explicit ReadSchemas(const Recording& recording) : table(pool), recording_(recording) {}

  std::string_view string(std::uint64_t domain, std::uint64_t handle) const override;
  std::string_view category(std::uint64_t domain, std::uint32_t number) const override;

  PagePool pool;
  SchemaTable table;
  std::unordered_map<std::uint64_t, std::int32_t> strings;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int32_t> categories;

 private:
  std::string_view text(std::int32_t number) const;

  const Recording& recording_;
};

// Reads payloads, and remembers what it needs for that. Not for two threads at once.
class RecordedPayloads {
 public:
  explicit RecordedPayloads(const Recording& recording) : recording_(recording) {}
  RecordedPayloads(const RecordedPayloads&) = delete;
  RecordedPayloads& operator=(const RecordedPayloads&) = delete;
  RecordedPayloads(RecordedPayloads&&) = delete;
  RecordedPayloads& operator=(RecordedPayloads&&) = delete;
  ~RecordedPayloads() = default;

  // `bytes` are the pieces of an extended payload, as the file has them. Without fields that say
  // when a deferred event was and what it is called: those are in columns of their own.
  PayloadResult read(std::uint32_t process, std::uint32_t local_domain, const void* bytes,
                     std::size_t size, PayloadVisitor& visitor);

 private:
  const Recording& recording_;
  PagePool pool_;
  std::vector<std::unique_ptr<PayloadDecoder>> decoders_;  // by process
};

constexpr std::string_view payload_loss_text = "payload not kept";

// Pieces of which the recorder kept no bytes: too large, or not readable.
std::uint64_t payloads_not_kept(const WalkPayload& payload);

// The numbers of a counter group's sample, by where they are in it.
struct GroupField {
  std::uint64_t type = 0;
  std::uint64_t offset = 0;
  std::string name;
  CounterUnit unit;
};
std::vector<GroupField> fields_of_group(const SchemaTable& table, std::uint64_t domain,
                                        std::uint64_t schema, std::uint64_t& size);

}  // namespace nvspan
