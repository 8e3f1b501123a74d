// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/live/live_file.hpp"

#include "core/os/clock.hpp"
#include "record/file/ticks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nvspan::reader {
namespace {

constexpr std::size_t most_block_chunks = 100000;

// What identifies the boot of this machine; empty: it is not known.
const std::string& own_boot() {
  static const std::string boot = [] {
    char text[64] = {};
    const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::string();
    const ssize_t count = ::read(fd, text, sizeof text - 1);
    ::close(fd);
    return std::string(text, count > 0 ? static_cast<std::size_t>(count) : 0);
  }();
  return boot;
}

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

LiveFile::~LiveFile() {
  if (mapped_ != nullptr) ::munmap(const_cast<char*>(mapped_), bytes_);
}

bool LiveFile::fail(const char* why) {
  problem_ = why;
  return false;
}

bool LiveFile::open(const std::string& path) {
  path_ = path;
  if (!map_again()) return false;
  std::memcpy(static_cast<void*>(&header_), mapped_, sizeof header_);
  if (header_.magic != record::file_magic) return fail("it is not a recording of nvspan");
  if (header_.version != record::format_version ||
      live().magic.load(std::memory_order_acquire) != record::live_magic) {
    return fail("it does not say what is open: an earlier nvspan wrote it, or it is an import");
  }
  const std::size_t boot = ::strnlen(header_.boot_id, sizeof header_.boot_id);
  is_here_ = (header_.flags & record::file_frozen) != 0 ||
             (boot != 0 && own_boot().compare(0, boot, header_.boot_id, boot) == 0);
  return true;
}

bool LiveFile::map_again() {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return fail(std::strerror(errno));
  struct stat status = {};
  const bool known = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (!known || bytes < record::file_header_bytes) {
    ::close(fd);
    return fail("it is not a recording of nvspan");
  }
  void* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  const int error = errno;
  ::close(fd);
  if (mapped == MAP_FAILED) return fail(std::strerror(error));
  if (mapped_ != nullptr) ::munmap(const_cast<char*>(mapped_), bytes_);
  mapped_ = static_cast<const char*>(mapped);
  bytes_ = bytes;
  ++mappings_;
  return true;
}

// Null: the file ends before.
const char* LiveFile::place(std::uint64_t offset, std::size_t bytes) {
  if (offset + bytes > bytes_ && !map_again()) return nullptr;
  return offset + bytes <= bytes_ ? mapped_ + offset : nullptr;
}

bool LiveFile::check_length() {
  struct stat status = {};
  if (::stat(path_.c_str(), &status) == 0 && static_cast<std::size_t>(status.st_size) < bytes_ &&
      !map_again()) {
    return false;
  }
  return live().magic.load(acquire) == record::live_magic || fail("another process cut it off");
}

bool LiveFile::find_blocks(LiveBlockList& list) {
  const std::uint64_t newest = live().blocks.load(acquire);
  if (newest == list.newest && mappings_ == list.mapping) return true;
  std::vector<std::uint64_t> chunks;
  for (std::uint64_t offset = newest; offset != 0 && chunks.size() < most_block_chunks;) {
    const char* at = place(offset, sizeof(record::ChunkHeader));
    record::ChunkHeader header = {};
    if (at == nullptr) return fail("another process cut it off");
    std::memcpy(&header, at, sizeof header);
    if (header.magic != record::chunk_magic || header.before >= offset ||
        header.size < record::live_blocks_start) {
      return fail("it is damaged");
    }
    if (place(offset, header.size) == nullptr) return fail("another process cut it off");
    chunks.push_back(offset);
    offset = header.before;
  }
  list.blocks.clear();
  for (std::size_t i = chunks.size(); i-- > 0;) {
    record::ChunkHeader header = {};
    const char* at = mapped_ + chunks[i];
    std::memcpy(&header, at, sizeof header);
    if (chunks[i] + header.size > bytes_) return fail("it is damaged");
    const std::size_t count = (header.size - record::live_blocks_start) / sizeof(record::LiveBlock);
    const auto* blocks = reinterpret_cast<const record::LiveBlock*>(at + record::live_blocks_start);
    for (std::size_t n = 0; n < count; ++n) list.blocks.push_back(blocks + n);
  }
  list.mapping = mappings_;
  list.newest = newest;
  return true;
}

bool LiveFile::sample(LiveSample& out) {
  out = LiveSample{};
  if (!check_length()) return false;
  const auto* flags =
      reinterpret_cast<const record::LiveWord*>(mapped_ + offsetof(record::FileHeader, flags));
  out.closed = (flags->load(acquire) & record::file_closed) != 0;
  out.mode = live().mode.load(acquire);
  out.obeyed = live().obeyed.load(acquire);
  for (std::size_t i = 0; i < record::loss_reasons; ++i) {
    const std::size_t at = offsetof(record::FileHeader, losses) + i * sizeof(record::LossWindow);
    out.lost += reinterpret_cast<const record::LiveWord*>(mapped_ + at)->load(acquire);
  }
  LiveBlockList list;
  if (!find_blocks(list)) return false;
  for (const record::LiveBlock* block : list.blocks) {
    LiveSnapshot snapshot = {};
    if (read_block(*block, snapshot)) out.threads.push_back(snapshot);
  }
  const std::uint64_t devices = live().devices.load(acquire);
  const char* at = devices == 0
                       ? nullptr
                       : place(devices, record::live_blocks_start +
                                            record::live_most_devices * sizeof(record::LiveDevice));
  const auto* ranges =
      at == nullptr ? nullptr
                    : reinterpret_cast<const record::LiveDevice*>(at + record::live_blocks_start);
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
  const std::uint64_t newest = live().definitions.load(acquire);
  const char* const chunk = place(newest, sizeof(record::ChunkHeader));
  if (newest != 0 && chunk != nullptr) {
    record::ChunkHeader header = {};
    std::memcpy(&header, chunk, sizeof header);
    place(newest, header.size);
  }
  names_.read(mapped_, bytes_, newest);
  return true;
}

std::int64_t LiveFile::age(std::uint64_t ticks) const noexcept {
  if (ticks == 0 || !is_here_) return -1;
  record::ClockSample now = {};
  now.monotonic = core::monotonic_ns();
  if (header_.clock == static_cast<std::uint32_t>(record::ClockType::tsc)) {
    now.ticks = core::time_stamp();
  } else {
    now.ticks = now.monotonic;
  }
  if ((header_.flags & record::file_frozen) != 0) now = header_.last[header_.last_sample % 2];
  const double frequency =
      record::frequency_between(header_.first, now, header_.estimated_frequency);
  if (now.ticks <= ticks || !(frequency > 0)) return 0;
  return static_cast<std::int64_t>(static_cast<double>(now.ticks - ticks) * 1e9 / frequency);
}

}  // namespace nvspan::reader
