// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/chunks/recording_file.hpp"

#include "core/os/error_line.hpp"
#include "record/file/checksum.hpp"
#include "record/file/cuda_use.hpp"
#include "record/file/fault_guard.hpp"
#include "record/file/file_name.hpp"
#include "record/file/ticks.hpp"

#include <string.h>
#include <unistd.h>

#include <fcntl.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace nvspan::record {
namespace {

constexpr std::size_t longest_folder = 4096;

void read_file(const char* path, char* out, std::size_t size) noexcept {
  std::memset(out, 0, size);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  std::size_t have = 0;
  while (have + 1 < size) {
    const ssize_t count = ::read(fd, out + have, size - 1 - have);
    if (count <= 0) break;
    have += static_cast<std::size_t>(count);
  }
  ::close(fd);
}

// The fields of the header that describe this process: its ids, host, place in a job, and command.
void describe_process(FileHeader& header) noexcept {
  header.pid = static_cast<std::uint32_t>(::getpid());
  header.parent_pid = static_cast<std::uint32_t>(::getppid());
  const RankOfProcess rank = rank_of_process();
  header.rank = rank.rank;
  header.local_rank = rank.local_rank;
  header.world_size = rank.world_size;
  host_name(header.host, sizeof header.host);
  read_file("/proc/sys/kernel/random/boot_id", header.boot_id, sizeof header.boot_id);
  const char* command = std::getenv("NVSPAN_RECORD_COMMAND");
  if (command == nullptr || std::strcmp(command, "0") != 0) {
    read_file("/proc/self/cmdline", header.command, sizeof header.command);
  }
  header.command_bytes = sizeof header.command;
  while (header.command_bytes != 0 && header.command[header.command_bytes - 1] == '\0') {
    --header.command_bytes;
  }
}

}  // namespace

void RecordingFile::set_options(const RecordOptions& options) {
  template_.assign(options.path.data(), options.path.size());
  if (template_.empty()) template_ = "nvspan-{pid}.nvspan";
  if (template_[0] != '/') {
    char folder[longest_folder];
    if (::getcwd(folder, sizeof folder) != nullptr) {
      template_.insert(0, "/");
      template_.insert(0, folder);
    }
  }
  options_ = options;
  options_.path = {};  // the text belongs to the caller
}

void RecordingFile::change_mode(RecordMode mode, std::uint64_t ring_bytes) noexcept {
  options_.mode = mode;
  if (ring_bytes != 0) options_.ring_bytes = ring_bytes;
  if (mode == RecordMode::ring) live().was_ring.store(1, std::memory_order_release);
  live().mode.store(static_cast<std::uint64_t>(mode), std::memory_order_release);
}

bool RecordingFile::create() {
  core::PoolString path(pool_);
  expand_file_name(template_, path);
  if (!segment_.create(path)) {
    core::write_error_line("cannot record into %s: %s", segment_.path(),
                           ::strerror(segment_.error()));
    return false;
  }
  exhausted_ = false;
  cut_ = false;
  cuda_ = CudaUse::unknown;
  fill_header();
  write_annotate_cost();
  note_cuda();
  return true;
}

void RecordingFile::fill_header() noexcept {
  FileHeader& header = *segment_.header();
  header.version = format_version;
  header.header_bytes = file_header_bytes;
  header.clock = static_cast<std::uint32_t>(ticks_are_tsc ? ClockType::tsc : ClockType::monotonic);
  header.mode = static_cast<std::uint32_t>(options_.mode);
  header.run = options_.run;
  header.ring_bytes = options_.ring_bytes;
  header.min_duration = options_.min_duration;
  header.first = sample_clocks();
  header.estimated_frequency = estimate_frequency(header.first);
  describe_process(header);
  first_header_ = header;
}

void RecordingFile::announce() noexcept {
  FileHeader& header = *segment_.header();
  header.allocated = file_header_bytes;
  header.fixed_sum = fixed_sum(header);
  first_header_ = header;
  first_header_.magic = file_magic;
  atomic_word(header.magic).store(file_magic);
}

bool RecordingFile::takes_more() noexcept {
  guard_faults();
  return !notice_cut() && !exhausted_;
}

FileHeader RecordingFile::cut_header(std::uint64_t flags) const noexcept {
  FileHeader header = first_header_;
  header.flags |= flags;
  header.cuda = static_cast<std::uint16_t>(cuda_);
  header.annotate_cost = annotate_cost();
  header.last[1] = sample_clocks();
  header.last_sample = 1;
  header.last_sums[1] = sample_sum(header.last[1], 1);
  header.loss = LossWindow{0, header.first.ticks, header.last[1].ticks};
  return header;
}

bool RecordingFile::notice_cut() noexcept {
  if (cut_ || !segment_.is_cut()) return cut_;
  cut_ = true;
  exhausted_ = true;
  core::write_error_line("recording stopped: another process truncated %s; lost events are counted",
                         segment_.path());
  segment_.rewrite(cut_header(file_cut));
  return true;
}

void RecordingFile::end_cut(std::uint64_t events) noexcept {
  FileHeader header = cut_header(file_cut | file_closed);
  header.total_events = events;
  segment_.rewrite(header);
}

void RecordingFile::report_exhausted() noexcept {
  const int error = segment_.error();
  if (notice_cut() || exhausted_) return;
  exhausted_ = true;
  core::write_error_line(
      "the recording %s is cut short: %s (the events that follow are counted but not kept)",
      segment_.path(), ::strerror(error));
}

void RecordingFile::reopen() noexcept {
  FileHeader& header = *segment_.header();
  if (header.closing_sum == 0) return;
  header.closing_sum = 0;
  atomic_word(header.file_bytes).store(0);
}

void RecordingFile::set_in_hand(std::uint64_t offset) noexcept {
  atomic_word(segment_.header()->in_hand).store(offset);
}

void RecordingFile::sample() noexcept {
  FileHeader& header = *segment_.header();
  const std::uint64_t number = header.last_sample + 1;
  header.last[number % 2] = sample_clocks();
  header.last_sums[number % 2] = sample_sum(header.last[number % 2], number);
  atomic_word(header.last_sample).store(number);
}

void RecordingFile::note_cuda() noexcept {
  constexpr std::uint64_t pause = 100;  // times what the look took
  const std::uint64_t begin = ticks_now();
  const CudaUse use = find_cuda_use();
  const std::uint64_t end = ticks_now();
  next_look_ = end + pause * (end - begin);
  if (use <= cuda_) return;
  cuda_ = use;
  reopen();
  header().cuda = static_cast<std::uint16_t>(use);
}

void RecordingFile::follow_cuda() noexcept {
  if (cuda_ != CudaUse::context && ticks_now() >= next_look_) note_cuda();
}

void RecordingFile::write_annotate_cost() noexcept {
  if (header().annotate_cost == annotate_cost()) return;
  reopen();
  header().annotate_cost = annotate_cost();
}

void RecordingFile::add_loss(LossReason reason, const LossWindow& more) noexcept {
  reopen();
  LossWindow& loss = segment_.header()->losses[static_cast<std::size_t>(reason)];
  if (loss.count == 0) loss.from = more.from;
  loss.to = more.to;
  loss.count += more.count;
}

void RecordingFile::lose_call(LossReason reason) noexcept {
  const std::uint64_t now = ticks_now();
  add_loss(reason, LossWindow{1, now, now});
}

void RecordingFile::close_header(const Totals* totals) noexcept {
  FileHeader& header = *segment_.header();
  constexpr std::uint64_t the_header = 1;
  set_in_hand(the_header);
  header.flags |= file_closed;
  header.allocated = segment_.end();
  if (totals != nullptr) {
    header.threads = totals->threads;
    header.events = totals->events;
    header.file_bytes = segment_.end();
    header.closing_sum = closing_sum(header);
  }
  set_in_hand(0);
}

}  // namespace nvspan::record
