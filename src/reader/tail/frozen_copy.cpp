// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/tail/recording_tail.hpp"

#include "core/os/clock.hpp"
#include "record/file/checksum.hpp"
#include "record/file/format.hpp"
#include "record/file/live_format.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace nvspan::reader {
namespace {

using record::ChunkHeader;

constexpr int most_looks = 64;
constexpr int most_waits = 2000;  // of 50 us, for one copy: a file may be all unfinished chunks

// Of what numbers its chunks: a thread's events, or the samples.
std::uint64_t lane_of(const ChunkHeader& header) {
  return std::uint64_t{header.type} << 32 | header.thread;
}

class Copier {
 public:
  Copier(OpenFile& from, int to) : from_(from), to_(to) {}

  bool copy(std::uint64_t window);

 private:
  enum class Pass { events, rest };

  bool write(std::uint64_t offset, const void* data, std::size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (bytes != 0) {
      const ssize_t count = ::pwrite(to_, at, bytes, static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      at += count;
      offset += static_cast<std::uint64_t>(count);
      bytes -= static_cast<std::size_t>(count);
    }
    return true;
  }
  bool is_live(std::uint64_t offset) const {
    return std::binary_search(live_.begin(), live_.end(), offset);
  }
  // For the process to finish what it is at.
  void wait() {
    if (waits_ == most_waits) return;
    ++waits_;
    const timespec pause = {0, 50'000};
    ::nanosleep(&pause, nullptr);
  }
  bool find(std::uint64_t offset, ChunkHeader& header);
  void find_live();
  bool copy_chunks(Pass pass);
  bool copy_chunk(std::uint64_t offset, ChunkHeader header, Pass pass);
  bool copy_body(std::uint64_t offset, const ChunkHeader& header);
  bool copy_blocks(std::uint64_t offset, const ChunkHeader& header);
  bool leave_out(std::uint64_t offset, const ChunkHeader& header);
  bool mend_chunks();
  bool mend(std::uint64_t offset, const ChunkHeader& header);
  bool finish();

  OpenFile& from_;
  const int to_;
  record::FirstPage page_;
  std::uint64_t oldest_ = 0;  // ticks: chunks that end before it are left out
  std::uint64_t in_hand_ = 0;
  std::uint64_t devices_ = 0;
  std::vector<std::uint64_t> live_;  // offsets of chunks of live blocks, in order
  int waits_ = 0;
  struct Copied {
    std::uint64_t offset;
    ChunkHeader header;
  };
  std::vector<Copied> copied_;  // chunks of events and samples
  std::vector<char> body_;
  std::vector<char> again_;
};

// Of a ring, a header is unfinished for some microseconds while its chunk is emptied.
bool Copier::find(std::uint64_t offset, ChunkHeader& header) {
  for (int look = 0; look < most_looks; ++look) {
    if (from_.chunk_at(offset, header)) return true;
    std::uint64_t in_hand = 0;
    from_.read(offsetof(record::FileHeader, in_hand), &in_hand, sizeof in_hand);
    if (in_hand == offset) wait();
  }
  return false;
}

void Copier::find_live() {
  devices_ = page_.live.devices.load();
  from_.each_chunk(page_.live.blocks.load(), [&](std::uint64_t offset, const ChunkHeader&) {
    live_.push_back(offset);
    return true;
  });
  std::sort(live_.begin(), live_.end());
}

// It stays a place, which no thread uses.
bool Copier::leave_out(std::uint64_t offset, const ChunkHeader& header) {
  ChunkHeader empty = {};
  empty.magic = record::chunk_magic;
  empty.type = static_cast<std::uint32_t>(record::ChunkType::events);
  empty.thread = record::no_thread;
  empty.place = header.place;
  empty.sequence = header.sequence;
  empty.base_ticks = header.base_ticks;
  empty.size = header.size;
  empty.header_sum = record::crc32c(&empty, record::header_sum_offset);
  return write(offset, &empty, sizeof empty);
}

// Words that a second look finds changed are newer than the first, or torn.
bool Copier::copy_body(std::uint64_t offset, const ChunkHeader& header) {
  const std::uint64_t size = std::min<std::uint64_t>(header.size, from_.size_from(offset));
  const std::size_t used =
      header.used == 0 ? size : std::min(size, header.used & ~std::uint64_t{record::seal_flags});
  body_.assign(std::max(used, sizeof header), 0);
  const std::size_t have = from_.read_some(offset, body_.data(), used);
  std::memcpy(body_.data(), &header, sizeof header);
  if (header.used == 0) {
    again_.assign(body_.size(), 0);
    from_.read_some(offset, again_.data(), have);
    std::size_t same = sizeof header;
    while (same < have && body_[same] == again_[same]) ++same;
    same &= ~(record::word - 1);
    std::fill(body_.begin() + static_cast<std::ptrdiff_t>(same), body_.end(), 0);
  }
  ChunkHeader after = {};
  if (!from_.chunk_at(offset, after)) return false;
  if (header.used == 0) {  // it may have been sealed since: then it is open here
    after.used = after.seal_sum = 0;
    after.end_ticks = header.end_ticks;
    after.last_ticks = header.last_ticks;
    after.events = header.events;
    after.body_sum = header.body_sum;
  }
  return std::memcmp(&after, &header, sizeof header) == 0;
}

// Between two reads of one word: a system call alone keeps loads in no order on Arm.
void order_reads() noexcept {
#if defined(__SANITIZE_THREAD__)  // it knows no fences
  std::atomic_signal_fence(std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

// Each block at one moment: its state is the same before and after. Of a thread that never rests,
// the ranges that were open all the while: it says that there are more.
bool Copier::copy_blocks(std::uint64_t offset, const ChunkHeader& header) {
  if (from_.size_from(offset) < header.size) return false;
  body_.assign(header.size, 0);
  if (!from_.read(offset, body_.data(), header.size)) return false;
  const std::size_t start = record::live_blocks_start;
  constexpr std::size_t size = sizeof(record::LiveBlock);
  for (std::size_t at = start; at + size <= header.size; at += size) {
    constexpr int looks = 500;
    const char* const open = body_.data() + at + offsetof(record::LiveBlock, open);
    std::uint64_t kept[record::live_most_open] = {};
    std::uint64_t same = record::live_most_open;
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    for (int look = 0; look < looks; ++look) {
      from_.read(offset + at, &before, sizeof before);
      order_reads();
      from_.read(offset + at, body_.data() + at, size);
      std::memcpy(body_.data() + at, &before, sizeof before);
      order_reads();
      from_.read(offset + at, &after, sizeof after);
      if (before == after) break;
      same = std::min({same, before & record::live_depth_mask, after & record::live_depth_mask});
      for (std::uint64_t i = 0; look > 0 && i < same; ++i) {
        if (std::memcmp(kept + i, open + i * sizeof *kept, sizeof *kept) != 0) same = i;
      }
      std::memcpy(kept, open, sizeof kept);
    }
    if (before != after) {
      after = (after & ~record::live_depth_mask) | same | record::live_changing;
      std::memcpy(body_.data() + at, &after, sizeof after);
    }
  }
  return true;
}

bool Copier::copy_chunk(std::uint64_t offset, ChunkHeader header, Pass pass) {
  const bool events = header.type == static_cast<std::uint32_t>(record::ChunkType::events);
  const bool samples = header.type == static_cast<std::uint32_t>(record::ChunkType::samples);
  const bool timed = samples || (events && header.thread != record::no_thread);
  if (pass == Pass::events) {
    if (!timed) return true;
    if (header.used != 0 && header.last_ticks < oldest_) return leave_out(offset, header);
  } else if (timed) {
    // The first pass has it, or it came since.
    ChunkHeader copied = {};
    const ssize_t count = ::pread(to_, &copied, sizeof copied, static_cast<off_t>(offset));
    if (count == sizeof copied && copied.magic == record::chunk_magic) return true;
    return leave_out(offset, header);
  }
  const bool blocks = events && !timed && is_live(offset);
  if (events && !timed && !blocks && offset != devices_) return leave_out(offset, header);
  for (int look = 0; look < most_looks; ++look) {
    if (blocks ? copy_blocks(offset, header) : copy_body(offset, header)) {
      if (timed) copied_.push_back(Copied{offset, header});
      return write(offset, body_.data(), body_.size());
    }
    ChunkHeader now = {};  // what is read of one that is being emptied is no header
    if (!find(offset, now)) break;
    header = now;
  }
  return leave_out(offset, header);
}

// A chunk that was open when it was copied, and has one behind it in the copy, is sealed by now:
// what its thread wrote between the two would be missing.
bool Copier::mend_chunks() {
  std::unordered_map<std::uint64_t, std::uint64_t> newest;  // numbers, by lane
  for (const Copied& chunk : copied_) {
    std::uint64_t& number = newest[lane_of(chunk.header)];
    number = std::max<std::uint64_t>(number, chunk.header.number);
  }
  for (const Copied& chunk : copied_) {
    const bool followed = newest[lane_of(chunk.header)] > chunk.header.number;
    if (chunk.header.used == 0 && followed && !mend(chunk.offset, chunk.header)) return false;
  }
  return true;
}

bool Copier::mend(std::uint64_t offset, const ChunkHeader& header) {
  for (int look = 0; look < most_looks; ++look) {
    ChunkHeader now = {};
    if (!from_.chunk_at(offset, now) || now.number != header.number ||
        now.thread != header.thread || now.type != header.type) {
      break;  // used again
    }
    if (now.used != 0 && copy_body(offset, now)) return write(offset, body_.data(), body_.size());
    wait();
  }
  return leave_out(offset, header);
}

bool Copier::copy_chunks(Pass pass) {
  std::uint64_t end = 0;
  from_.read(offsetof(record::FileHeader, allocated), &end, sizeof end);
  end = std::min(end, from_.size());
  std::uint64_t offset = record::file_header_bytes;
  while (offset + sizeof(ChunkHeader) <= end) {
    ChunkHeader header = {};
    if (find(offset, header)) {
      if (!copy_chunk(offset, header, pass)) return false;
      offset += header.size;
      continue;
    }
    // The process ended while it emptied this one: the next one begins somewhere behind.
    if (in_hand_ == 0) in_hand_ = offset;
    do {
      offset = from_.next_data(offset + record::chunk_alignment);
    } while (offset + sizeof header <= end && !from_.chunk_at(offset, header));
  }
  // The last chunk may be left out, or not be full: its place is there all the same.
  return ::ftruncate(to_, static_cast<off_t>(offset)) == 0;
}

bool Copier::finish() {
  record::FileHeader& header = page_.header;
  header.flags |= record::file_frozen;
  // The ages of what is in it count from now.
  if ((header.flags & record::file_closed) == 0) {
    const std::uint64_t number = header.last_sample + 1;
    record::ClockSample& sample = header.last[number % 2];
    sample.ticks = record::ticks_now(header);
    sample.monotonic = core::monotonic_ns();
    sample.realtime = core::clock_ns(CLOCK_REALTIME);
    header.last_sums[number % 2] = record::sample_sum(sample, number);
    header.last_sample = number;
  }
  if (oldest_ != 0 && header.mode == static_cast<std::uint32_t>(record::RecordMode::full)) {
    header.mode = static_cast<std::uint32_t>(record::RecordMode::ring);
  }
  header.file_bytes = 0;
  header.closing_sum = 0;
  header.in_hand = in_hand_;
  header.fixed_sum = record::fixed_sum(header);
  return write(0, &page_, sizeof page_);
}

bool Copier::copy(std::uint64_t window) {
  if (!from_.read(0, &page_, sizeof page_)) return false;
  const record::FileHeader& header = page_.header;
  const std::uint64_t now = record::ticks_now(header);
  const double ticks = static_cast<double>(window) * header.estimated_frequency / 1e9;
  const bool events = record::keeps_events(static_cast<record::RecordMode>(header.mode));
  if (window != 0 && events && ticks >= 0 && ticks < static_cast<double>(now)) {
    oldest_ = now - static_cast<std::uint64_t>(ticks);
  }
  find_live();
  // Definitions come before what cites them: copied last, they have what every event needs.
  return copy_chunks(Pass::events) && mend_chunks() && copy_chunks(Pass::rest) && finish();
}

}  // namespace

int freeze_recording(const std::string& from, const std::string& to, std::uint64_t window,
                     std::string& problem) {
  OpenFile source;
  const auto fail = [&](int error) {
    problem = std::strerror(error);
    return error;
  };
  if (!source.open(from, problem)) return EINVAL;
  const std::string part = to + ".part" + std::to_string(::getpid());
  ::unlink(part.c_str());
  const int fd = ::open(part.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return fail(errno);
  errno = 0;
  bool copied = Copier(source, fd).copy(window);
  int error = errno == 0 ? EIO : errno;
  if (::close(fd) != 0 && copied) {
    copied = false;
    error = errno;
  }
  if (copied && ::rename(part.c_str(), to.c_str()) == 0) return 0;
  if (copied) error = errno;
  ::unlink(part.c_str());
  return fail(error);
}

}  // namespace nvspan::reader
