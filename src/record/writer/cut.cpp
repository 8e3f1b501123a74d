// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A recording whose file another process has made shorter. It ends there: what was cut off and what
// follows is lost, and the header, written again, says how many events there were in all.

#include "core/os/error_line.hpp"
#include "record/file/checksum.hpp"
#include "record/writer/recorder.hpp"

namespace nvspan::record {

// Whether the file was cut; the first time this is seen it says so.
bool Recorder::notice_cut() noexcept {
  if (cut_ || !segment_.is_cut()) return cut_;
  cut_ = true;
  exhausted_ = true;
  core::write_error_line(
      "the recording %s was cut off by another process (what is gone and what follows is counted, "
      "not kept)",
      segment_.path());
  FileHeader header = first_header_;
  header.flags |= file_cut;
  header.last[1] = sample_clocks();
  header.last_sample = 1;
  header.last_sums[1] = sample_sum(header.last[1], 1);
  header.loss = LossWindow{0, header.first.ticks, header.last[1].ticks};
  segment_.rewrite(header);
  return true;
}

void Recorder::end_cut_file() noexcept {
  FileHeader header = first_header_;
  header.flags |= file_cut | file_closed;
  header.last[1] = sample_clocks();
  header.last_sample = 1;
  header.last_sums[1] = sample_sum(header.last[1], 1);
  header.loss = LossWindow{0, header.first.ticks, header.last[1].ticks};
  if (mode_ != RecordMode::stats) {
    header.made = retired_events_;
    for (const ThreadWriter* writer = writers_; writer != nullptr; writer = writer->next) {
      if (writer->epoch != epoch_) continue;
      header.made += __atomic_load_n(&writer->written, __ATOMIC_RELAXED) +
                     __atomic_load_n(&writer->lost, __ATOMIC_RELAXED);
    }
  }
  segment_.rewrite(header);
}

}  // namespace nvspan::record
