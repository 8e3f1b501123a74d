// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/file/recording.hpp"

#include "core/key_order.hpp"
#include "core/memory/large_pages.hpp"
#include "reader/chunks/open_file.hpp"
#include "reader/file/chunk_scan.hpp"
#include "reader/file/loading.hpp"
#include "reader/file/schemas.hpp"
#include "record/file/checksum.hpp"
#include "record/file/live_format.hpp"
#include "record/file/ticks.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::size_t most_problems = 100;

bool is_recording_at(OpenFile& file, std::uint64_t offset) {
  std::uint64_t magic = 0;
  return file.read(offset, &magic, sizeof magic) && magic == record::file_magic;
}

// How long a recording is that its process ended, by its header; 0: it is not known.
std::uint64_t length_of(const std::vector<std::uint64_t>& words) {
  record::FileHeader header = {};
  std::memcpy(static_cast<void*>(&header), words.data(), sizeof header);
  const bool ended = header.magic == record::file_magic &&
                     header.version != record::version_without_checksums &&
                     header.closing_sum == record::closing_sum(header);
  return ended ? header.file_bytes : 0;
}

struct FileWords {
  std::vector<std::uint64_t> words;
  std::size_t bytes = 0;
  std::uint64_t next = 0;  // where another recording follows in the file; 0: nowhere
  bool shrank = false;     // while it was read
};

// Reads the recording at `begin` of the file. False: errno says why not.
bool read_words(OpenFile& file, std::uint64_t begin, FileWords& read) {
  std::vector<std::uint64_t>& words = read.words;
  std::size_t& bytes = read.bytes;
  // A recording in progress grows while it is read: its header first, so that what that promises is
  // in the file, then its length, and what is there now counts.
  words.assign(record::file_header_bytes / word, 0);
  bytes = file.read_some(begin, words.data(), record::file_header_bytes);
  int error = errno;
  if (bytes == record::file_header_bytes) {
    std::size_t limit = std::max<std::size_t>(file.size_from(begin), bytes);
    const std::uint64_t length = length_of(words);
    if (length >= bytes && length < limit && is_recording_at(file, begin + length)) {
      limit = static_cast<std::size_t>(length);
      read.next = begin + length;
    }
    words.reserve(limit / word + 1);
    core::use_large_pages(words.data() + words.size(), limit - bytes);
    words.resize(limit / word + 1);
    bytes +=
        file.read_some(begin + bytes, reinterpret_cast<char*>(words.data()) + bytes, limit - bytes);
    error = errno;
    // Who shortens a file clears the rest of its last page first: behind its new end zeros may have
    // been read as far as that page goes.
    const std::size_t left = file.size_from(begin);
    read.shrank = bytes < limit || left < bytes;
    bytes = std::min(bytes, left);
  }
  words.resize(bytes / word + 1);
  errno = error;
  return error == 0;
}

}  // namespace

ReadLoss Recording::loss_in(std::uint32_t thread, std::uint64_t from, std::uint64_t to,
                            std::uint64_t count, std::string_view reason) const {
  ReadLoss loss;
  loss.process = threads_[thread].process;
  loss.thread = thread;
  loss.from = processes_[loss.process].time(from);
  loss.to = processes_[loss.process].time(to);
  loss.count = count;
  loss.reason = reason;
  return loss;
}

std::int64_t Recording::domain_called(std::string_view name) const {
  for (std::size_t i = 0; i < domains_.size() && !name.empty(); ++i) {
    if (text(domains_[i]) == name) return static_cast<std::int64_t>(i);
  }
  return -1;
}

std::vector<std::string> Recording::problems() const {
  const std::lock_guard<std::mutex> lock(problems_mutex_);
  return problems_;
}

void Recording::add_problem(std::string text) {
  const std::lock_guard<std::mutex> lock(problems_mutex_);
  if (problems_.size() < most_problems) problems_.push_back(std::move(text));
}

bool Recording::add(const std::string& path) {
  std::uint64_t next = 0;
  const bool read = add(path, 0, next);
  while (next != 0) add(path, next, next);
  return read;
}

bool Recording::add(const std::string& path, std::uint64_t offset, std::uint64_t& next) {
  FileWords read;
  FileCheck check;
  // One that is being written may change between the looks at its parts.
  constexpr int most_tries = 5;
  for (int tries = 0; tries < most_tries; ++tries) {
    OpenFile file;
    std::string problem;
    read = FileWords{};
    const bool opened = file.open(path, problem);
    if (!opened || !read_words(file, offset, read)) {
      std::string line = path;
      line.append(": ").append(opened ? std::strerror(errno) : problem);
      add_problem(std::move(line));
      return false;
    }
    next = read.next;
    const auto read_again = [&](std::uint64_t at, void* to, std::size_t size) {
      return file.read(offset + at, to, size);
    };
    check = check_file(read.words, read.bytes, read_again);
    if (check.closed && !read.shrank) break;
    if (check.closed) continue;
    record::FileHeader then = {};
    record::FileHeader now = {};
    std::memcpy(static_cast<void*>(&then), read.words.data(), sizeof then);
    check.moving = read_again(0, &now, sizeof now) &&
                   (then.last_sample != now.last_sample || then.chunks != now.chunks ||
                    then.in_hand != now.in_hand);
    if (!read.shrank && check.is_whole()) break;
  }
  if (read.shrank) {
    check.leave_out_unchecked();
    add_problem(path + ": another process shortened it while it was read");
  }
  return add(path, std::move(read.words), read.bytes, check);
}

bool Recording::add(const std::string& path, std::vector<std::uint64_t> words, std::size_t bytes) {
  const FileCheck check = check_file(words, bytes, {});
  return add(path, std::move(words), bytes, check);
}

bool Recording::read_header(ReadProcess& process, const std::vector<std::uint64_t>& words,
                            std::size_t bytes) {
  const auto refuse = [&](const char* why) {
    add_problem(process.path + ": " + why);
    return false;
  };
  if (bytes == 0) return refuse("empty: not an nvspan recording");
  record::FileHeader& header = process.header;
  header = record::FileHeader{};
  std::memcpy(static_cast<void*>(&header), words.data(), std::min(bytes, sizeof header));
  if (header.magic != record::file_magic) return refuse("not an nvspan recording");
  if (bytes < record::file_header_bytes) return refuse("cut off in its header: nothing is left");
  if (header.version > record::format_version) {
    return refuse("recorded by a newer version of nvspan");
  }
  if (header.version < record::version_without_checksums ||
      header.header_bytes != record::file_header_bytes) {
    return refuse("recorded by an incompatible version of nvspan");
  }
  const auto& live = reinterpret_cast<const record::FirstPage*>(words.data())->live;
  process.was_ring = live.magic.load() == record::live_magic && live.was_ring.load() != 0;
  header.host[sizeof header.host - 1] = '\0';
  header.boot_id[sizeof header.boot_id - 1] = '\0';
  const std::size_t command = std::min<std::size_t>(header.command_bytes, sizeof header.command);
  std::string argument;
  for (std::size_t i = 0; i < command; ++i) {
    if (header.command[i] != '\0') argument.push_back(header.command[i]);
    if (header.command[i] != '\0' && i + 1 != command) continue;
    process.command.push_back(std::move(argument));
    argument.clear();
  }
  process.closed = (header.flags & record::file_closed) != 0;
  double frequency = header.estimated_frequency;
  const record::ClockSample& last = header.last[header.last_sample % 2];
  if (header.last_sample != 0) frequency = record::frequency_between(header.first, last, frequency);
  if (!(frequency >= 1e6 && frequency <= 1e11)) {
    add_problem(process.path + ": the clock is damaged: times are shown in ticks");
    frequency = 1e9;
  }
  process.ratio = static_cast<std::uint64_t>(std::llround(1e9 / frequency * 4294967296.0));
  if (!processes_.empty()) {
    const record::FileHeader& base = processes_.front().header;
    if (std::strcmp(base.boot_id, header.boot_id) != 0) {
      // Another machine: by the wall clocks.
      process.offset = static_cast<std::int64_t>(header.first.realtime - header.first.monotonic) -
                       static_cast<std::int64_t>(base.first.realtime - base.first.monotonic);
    }
  }
  process.end_ticks = header.last_sample != 0 ? last.ticks : header.first.ticks;
  process.end = process.time(process.end_ticks);
  return true;
}

// A process that has not ended its recording looked at the clocks before its last events.
void Recording::find_end(ReadProcess& process, std::size_t first_thread) const {
  if (process.closed) return;
  for (std::size_t i = first_thread; i < threads_.size(); ++i) {
    if (threads_[i].chunks.empty()) continue;
    const ReadChunk& chunk = threads_[i].chunks.back();
    process.end_ticks = std::max(process.end_ticks, scan_chunk(*this, process, chunk).last_ticks);
  }
  if (!process.samples.chunks.empty()) {
    const SampleContents last = sample_contents(process.samples.chunks.back());
    process.end_ticks = std::max(process.end_ticks, last.last_ticks);
  }
  process.end = process.time(process.end_ticks);
}

void Recording::find_chunks(Loading& loading, const FileCheck& check) {
  for (const ReadChunk& chunk : check.chunks) {
    switch (chunk.type) {
      case record::ChunkType::definitions:
        loading.definitions.push_back(chunk);
        break;
      case record::ChunkType::events:
        if (loading.fits(chunk.thread)) {
          thread(loading, chunk.thread, chunk.tid).chunks.push_back(chunk);
        }
        break;
      case record::ChunkType::stats:
        if (!loading.fits(chunk.thread)) break;
        thread(loading, chunk.thread, chunk.tid);
        if (chunk.state == ChunkState::damaged || chunk.state == ChunkState::cut) {
          loading.lost_stats.push_back(chunk);
        }
        if (chunk.state != ChunkState::damaged) {
          stats_.push_back(ReadStats{loading.index, chunk.thread,
                                     std::vector<std::uint64_t>(chunk.begin, end_of_cells(chunk))});
        }
        break;
      case record::ChunkType::samples:
        loading.process.samples.chunks.push_back(chunk);
        break;
    }
  }
  if (!loading.is_checked() && check.damaged_bytes != 0) {
    add_problem(loading.process.path + ": a damaged chunk was left out");
  }
}

ReadThread& Recording::thread(Loading& loading, std::uint32_t number, std::uint32_t tid) {
  const auto found = loading.threads.find(number);
  if (found != loading.threads.end()) return threads_[found->second];
  loading.threads.emplace(number, static_cast<std::uint32_t>(threads_.size()));
  ReadThread& thread = threads_.emplace_back();
  thread.process = loading.index;
  thread.number = number;
  thread.tid = tid;
  return thread;
}

bool Recording::add(const std::string& path, std::vector<std::uint64_t> words, std::size_t bytes,
                    const FileCheck& check) {
  ReadProcess process;
  process.path = path;
  process.schemas = std::make_shared<ReadSchemas>(*this);
  if (!read_header(process, words, bytes)) return false;
  process.open_chunks = check.open_chunks;
  files_.push_back(std::move(words));
  processes_.push_back(std::move(process));
  Loading loading(processes_.back(), static_cast<std::uint32_t>(processes_.size() - 1), bytes);
  const std::size_t first_thread = threads_.size();
  const std::size_t first_stats = stats_.size();
  find_chunks(loading, check);
  core::stable_sort_by(loading.definitions.begin(), loading.definitions.end(),
                       [](const ReadChunk& chunk) { return chunk.sequence; });
  for (const ReadChunk& chunk : loading.definitions) read_definitions(loading, chunk);
  resolve(loading);
  // In the order in which they began, whatever the order of their chunks.
  core::stable_sort_by(threads_.begin() + static_cast<std::ptrdiff_t>(first_thread), threads_.end(),
                       [](const ReadThread& thread) { return thread.start_ticks; });
  std::unordered_map<std::uint32_t, std::uint32_t>& rows = loading.threads;
  for (std::size_t i = first_thread; i < threads_.size(); ++i) {
    rows[threads_[i].number] = static_cast<std::uint32_t>(i);
  }
  for (std::size_t i = first_stats; i < stats_.size(); ++i) {
    stats_[i].thread = rows[stats_[i].thread];
  }
  order_samples(loading, check);
  if (loading.is_checked()) find_damage(loading, first_thread, check);
  find_launches(loading.index, first_thread);
  find_end(loading.process, first_thread);
  if ((loading.process.header.flags & record::file_cut) != 0) add_cut_loss(loading.index);
  return true;
}

}  // namespace nvspan::reader
