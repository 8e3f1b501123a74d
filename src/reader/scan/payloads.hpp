// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The payloads of a recording as named fields.

#pragma once

#include "core/immovable.hpp"
#include "reader/chunks/entries.hpp"
#include "reader/file/recording.hpp"
#include "trace/payload/payload_decoder.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace nvspan::reader {

// Reads payloads, and remembers what it needs for that. Not for two threads at once.
class RecordedPayloads : public core::Immovable {
 public:
  explicit RecordedPayloads(const Recording& recording) : recording_(recording) {}

  // `bytes` are the pieces of an extended payload, as the file has them. Without fields that say
  // when a deferred event was and what it is called: those are in columns of their own.
  trace::PayloadResult read(std::uint32_t process, std::uint32_t local_domain, const void* bytes,
                            std::size_t size, trace::PayloadVisitor& visitor);

 private:
  const Recording& recording_;
  core::PagePool pool_;
  std::vector<std::unique_ptr<trace::PayloadDecoder>> decoders_;  // by process
};

// Pieces of which the recorder kept no bytes: too large, or not readable.
std::uint64_t payloads_not_kept(const EntryPayload& payload);

}  // namespace nvspan::reader
