// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/live/live_file.hpp"

#include "core/os/clock.hpp"
#include "reader/live/writer_process.hpp"
#include "record/file/ticks.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>

namespace nvspan::reader {
namespace {

constexpr const char* cut_off = "another process cut it off";

template <std::size_t count>
std::string text_of(const record::LiveWord (&words)[count]) {
  char text[count * sizeof(std::uint64_t) + 1] = {};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = words[i].load(std::memory_order_acquire);
    std::memcpy(text + i * sizeof bits, &bits, sizeof bits);
  }
  return text;
}

}  // namespace

bool LiveFile::fail(const char* why) {
  problem_ = why;
  return false;
}

bool LiveFile::open(const std::string& path) {
  path_ = path;
  if (!map_again()) return false;
  file_.mapped().read(0, &header_, sizeof header_);
  if (header_.magic != record::file_magic) return fail("it is not a recording of nvspan");
  if (header_.version > record::format_version) {
    return fail("recorded by a newer version of nvspan");
  }
  if (header_.version != record::format_version ||
      live().magic.load(std::memory_order_acquire) != record::live_magic) {
    return fail("it does not say what is open: an earlier nvspan wrote it, or it is an import");
  }
  is_here_ = (header_.flags & record::file_frozen) != 0 || is_of_this_boot(header_);
  return true;
}

bool LiveFile::map_again() {
  FileTerms terms;
  terms.least = record::file_header_bytes;
  const bool mapped = file_.open(path_, problem_, terms) && file_.map(problem_, terms);
  file_.close();  // there may be thousands
  mappings_ += mapped;
  return mapped;
}

bool LiveFile::reaches(std::uint64_t offset, std::uint64_t bytes) {
  if (file_.mapped().has(offset, bytes)) return true;
  if (!map_again()) return false;
  return file_.mapped().has(offset, bytes) || fail(cut_off);
}

FileSpan LiveFile::bytes(std::uint64_t offset, std::uint64_t most) {
  reaches(offset, most);
  return file_.mapped().part(offset, most);
}

bool LiveFile::read(std::uint64_t offset, void* to, std::size_t bytes) {
  return reaches(offset, bytes) && file_.mapped().read(offset, to, bytes);
}

bool LiveFile::check_length() {
  struct stat status = {};
  if (::stat(path_.c_str(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) < size() &&
      !map_again()) {
    return false;
  }
  return live().magic.load(acquire) == record::live_magic || fail(cut_off);
}

bool LiveFile::find_blocks(LiveBlockList& list) {
  const std::uint64_t newest = live().blocks.load(acquire);
  if (newest == list.newest && mappings_ == list.mapping) return true;
  struct Chunk {
    std::uint64_t offset;
    std::uint64_t blocks;
  };
  std::vector<Chunk> chunks;
  problem_ = "it is damaged";
  bool whole = true;
  const bool linked =
      each_chunk(newest, [&](std::uint64_t offset, const record::ChunkHeader& header) {
        whole = reaches(offset, header.size) && header.size >= record::live_blocks_start;
        chunks.push_back(Chunk{offset + record::live_blocks_start, record::live_blocks_in(header)});
        return whole;
      });
  whole = whole && linked;
  list.blocks.clear();
  for (auto chunk = chunks.rbegin(); whole && chunk != chunks.rend(); ++chunk) {
    const auto* blocks = file_.mapped().at<record::LiveBlock>(chunk->offset, chunk->blocks);
    whole = blocks != nullptr;
    for (std::size_t i = 0; whole && i < chunk->blocks; ++i) list.blocks.push_back(blocks + i);
  }
  if (!whole) return false;
  list.mapping = mappings_;
  list.newest = newest;
  return true;
}

bool LiveFile::sample(LiveSample& out) {
  out = LiveSample{};
  if (!check_length()) return false;
  const auto word = [&](std::size_t at) { return part<record::LiveWord>(at).load(acquire); };
  out.closed = (word(offsetof(record::FileHeader, flags)) & record::file_closed) != 0;
  out.mode = live().mode.load(acquire);
  out.sampler = live().sampler.load(acquire);
  out.obeyed = live().obeyed.load(acquire);
  for (std::size_t i = 0; i < record::loss_reasons; ++i) {
    out.lost += word(offsetof(record::FileHeader, losses) + i * sizeof(record::LossWindow));
  }
  LiveBlockList list;
  if (!find_blocks(list)) return false;
  for (const record::LiveBlock* block : list.blocks) {
    LiveSnapshot snapshot = {};
    if (read_block(*block, snapshot)) out.threads.push_back(snapshot);
  }
  const std::uint64_t devices = live().devices.load(acquire);
  constexpr std::size_t device_bytes = record::live_most_devices * sizeof(record::LiveDevice);
  const auto* ranges = devices == 0 ? nullptr
                                    : bytes(devices, record::live_blocks_start + device_bytes)
                                          .at<record::LiveDevice>(record::live_blocks_start,
                                                                  record::live_most_devices);
  for (std::size_t i = 0; ranges != nullptr && i < record::live_most_devices; ++i) {
    const record::LiveDevice& range = ranges[i];
    const std::uint64_t state = range.state.load(acquire);
    if ((state & 0xFF) == 0) continue;
    const std::uint64_t device = range.device.load(acquire);
    const std::uint64_t tid = range.tid.load(acquire);
    LiveDeviceRange found{
        text_of(range.domain),
        text_of(range.name),
        static_cast<record::LiveDeviceState>(state & 0xFF),
        device & record::live_device_mask,
        range.stream.load(acquire),
        static_cast<std::uint32_t>(tid),
        static_cast<std::uint32_t>(tid >> record::live_number_shift),
        static_cast<std::uint32_t>(device >> record::live_rank_shift & record::live_member_mask),
        static_cast<std::uint32_t>(device >> record::live_ranks_shift),
        range.since.load(acquire)};
    if (range.state.load(acquire) == state) out.devices.push_back(found);
  }
  // Names come before what cites them: those of the entries above are there now.
  names_.read(live().definitions.load(acquire), *this);
  return true;
}

bool LiveFile::read_names() {
  if (!check_length()) return false;
  names_.read(live().definitions.load(acquire), *this);
  return true;
}

bool LiveFile::find_lines(const std::vector<bool>& hidden, LiveLines& out) {
  out = LiveLines{};
  if (!check_length()) return false;
  LineFinder finder(live(), *this);
  names_.read(live().definitions.load(acquire), *this);
  out = finder.find(names_.code(), hidden);
  return true;
}

record::ClockSample LiveFile::now() const noexcept {
  if (!is_here_ || (header_.flags & record::file_frozen) != 0) {
    return header_.last_sample == 0 ? header_.first : header_.last[header_.last_sample % 2];
  }
  record::ClockSample now = {};
  now.monotonic = core::monotonic_ns();
  now.ticks = record::ticks_now(header_);
  return now;
}

std::int64_t LiveFile::age(std::uint64_t ticks) const noexcept {
  return ticks == 0 || !is_here_ ? -1 : between(ticks, now().ticks);
}

std::int64_t LiveFile::between(std::uint64_t from, std::uint64_t to) const noexcept {
  const double frequency =
      record::frequency_between(header_.first, now(), header_.estimated_frequency);
  if (to <= from || !(frequency > 0)) return 0;
  constexpr double most = 9e18;
  const double ns = static_cast<double>(to - from) * 1e9 / frequency;
  return static_cast<std::int64_t>(std::min(ns, most));
}

}  // namespace nvspan::reader
