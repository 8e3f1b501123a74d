// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "lines/record_bytes.hpp"

#include <algorithm>

namespace nvspan::lines {

void RecordBytes::begin(std::uint64_t chunk, std::uint64_t ticks, bool is_new) noexcept {
  bytes_.clear();
  chunk_ = chunk;
  if (!is_new) return;
  base_ = ticks;
  units_ = 0;
  thread_ = no_thread;
}

void RecordBytes::number(std::uint64_t value) {
  ++value;
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(0x80 | (value & 0x7F));
  bytes_ += static_cast<char>(value);
}

// Time never goes back: two looks at a thread may be read in another order than they were made.
void RecordBytes::head(std::uint64_t ticks, std::uint32_t thread, bool same) {
  const std::uint64_t units =
      std::max(units_, (ticks - std::min(ticks, base_)) >> record::sample_time_shift);
  const bool other = thread != thread_;
  number((units - units_) << 2 | std::uint64_t{other} << 1 | std::uint64_t{same});
  if (other) number(thread);
  units_ = units;
  thread_ = thread;
}

void RecordBytes::sample(const Sample& sample, Said& said) {
  constexpr unsigned all = 255;
  const bool known = said.chunk == chunk_;
  const bool share = sample.part != (sample.state == record::SampleState::running ? all : 0);
  const bool still = sample.still_looks != 0;
  const bool same =
      known && !share && !still && said.stack == sample.stack && said.state == sample.state;
  head(sample.ticks, sample.thread, same);
  if (!same) {
    const std::int64_t change =
        std::int64_t{sample.stack} - (known ? std::int64_t{said.stack} : std::int64_t{0});
    const auto zigzag = static_cast<std::uint64_t>(change < 0 ? -2 * change - 1 : 2 * change);
    number(zigzag << 4 | static_cast<std::uint64_t>(sample.state) << 2 | std::uint64_t{share} << 1 |
           std::uint64_t{still});
    if (share) number(sample.part);
    if (still) {
      const std::uint64_t before =
          (sample.still_ticks - std::min(sample.still_ticks, base_)) >> record::sample_time_shift;
      number(sample.still_looks);
      number(units_ - std::min(units_, before));
    }
  }
  said = Said{chunk_, sample.stack, sample.state};
}

void RecordBytes::note(std::uint64_t ticks, record::SampleNote kind, const std::uint64_t* numbers,
                       std::size_t count) {
  head(ticks, 0, false);
  number(static_cast<std::uint64_t>(kind));
  for (std::size_t i = 0; i < count; ++i) number(numbers[i]);
}

}  // namespace nvspan::lines
