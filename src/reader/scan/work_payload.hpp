// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/chunks/entries.hpp"
#include "reader/file/recording.hpp"
#include "record/file/work_format.hpp"

#include <cstdint>
#include <cstring>

namespace nvspan::reader {

// Work of a GPU as a device range's extended payload, of a schema that no program can register, so
// that whoever reads device ranges reads it, too.
class WorkPayload {
 public:
  static constexpr std::uint64_t schema = ~std::uint64_t{0};

  struct Fields {
    std::uint64_t launched = 0;  // ticks; 0: its call is not known
    std::uint64_t bytes = 0;     // of a copy or set
    std::uint32_t correlation = 0;
    std::uint32_t tid = 0;
    std::uint32_t device = 0;
    std::uint32_t stream = 0;
  };

  WorkPayload(const ReadProcess& process, const Entry& entry, std::uint64_t ticks) {
    const record::LaunchWord launch = record::read_launch_word(entry.value[0]);
    const record::WorkPlace place = record::read_place_word(entry.value[1]);
    duration_ = launch.duration;
    words_.fields.correlation = launch.correlation;
    words_.fields.device = place.device;
    words_.fields.stream = place.stream;
    words_.fields.bytes = entry.payload.bits;
    const Launches::Call* const call =
        process.launches == nullptr ? nullptr : process.launches->find(launch.correlation);
    if (call == nullptr) return;
    is_early_ = ticks < call->ticks;
    words_.fields.launched = call->ticks;
    words_.fields.tid = call->tid;
  }

  std::uint64_t duration() const noexcept { return duration_; }
  bool is_early() const noexcept { return is_early_; }
  // As long as this object lives.
  EntryPayload payload() const noexcept {
    return EntryPayload{true, sizeof words_, reinterpret_cast<const std::uint64_t*>(&words_)};
  }

  // False: the payload is not one of this schema.
  static bool read(const EntryPayload& payload, Fields& fields) {
    if (payload.bytes == nullptr || payload.bits != sizeof(Words) || payload.bytes[0] != schema) {
      return false;
    }
    std::memcpy(static_cast<void*>(&fields), payload.bytes + 3, sizeof fields);
    return true;
  }

 private:
  struct Words {
    std::uint64_t schema = WorkPayload::schema;
    std::uint64_t size = sizeof(Fields);
    std::uint64_t kept = sizeof(Fields);
    Fields fields;
  };
  static_assert(sizeof(Words) == 3 * sizeof(std::uint64_t) + sizeof(Fields));

  Words words_;
  std::uint64_t duration_ = 0;
  bool is_early_ = false;
};

}  // namespace nvspan::reader
