// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// libFuzzer targets of all that nvspan reads besides whole recordings (reader_mutation_test.cpp has
// those), one for each value of NVSPAN_FUZZER: recordings that are being written, the summaries
// beside them, the file that names a bundle, Chrome traces and databases of SQLite.

#include "foreign/chrome_import.hpp"
#include "foreign/trace_builder.hpp"
#include "ranks/summary/packed.hpp"
#include "ranks/summary/summary.hpp"
#include "reader/live/live_file.hpp"
#include "reader/live/live_request.hpp"
#include "reader/live/live_watch.hpp"
#include "reader/sqlite/sqlite_file.hpp"
#include "reader/tail/recording_tail.hpp"
#include "reader/watch/bundle.hpp"
#include "record/external/external_writer.hpp"
#include "record/file/checksum.hpp"
#include "record/file/format.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#if !defined(NVSPAN_FUZZER)  // as clang-tidy reads it
#define NVSPAN_FUZZER look_at_live
#endif

namespace {

namespace reader = nvspan::reader;
namespace record = nvspan::record;
using Bytes = std::vector<std::uint8_t>;

[[maybe_unused]] std::uint64_t refused = 0;

// A folder in memory, and a file in it with these bytes.
const std::string& folder() {
  static const std::string path = [] {
    char name[] = "/dev/shm/nvspan-fuzz-XXXXXX";
    if (::mkdtemp(name) == nullptr) ::abort();
    return std::string(name);
  }();
  return path;
}

std::string file_of(const char* name, const Bytes& bytes) {
  std::string path = folder() + "/" + name;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ::write(fd, bytes.data(), bytes.size()) < 0) ::abort();
  ::close(fd);
  return path;
}

// Makes the checksums of headers fit, so that what lies behind them is reached.
void seal_headers(Bytes& bytes) {
  record::FileHeader header = {};
  if (bytes.size() < record::file_header_bytes) return;
  std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
  header.fixed_sum = record::fixed_sum(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  for (std::size_t at = record::file_header_bytes; at + sizeof(record::ChunkHeader) <= bytes.size();
       at += record::chunk_alignment) {
    record::ChunkHeader chunk = {};
    std::memcpy(&chunk, bytes.data() + at, sizeof chunk);
    if (chunk.magic != record::chunk_magic) continue;
    chunk.place = static_cast<std::uint32_t>(at / record::chunk_alignment);
    chunk.header_sum = record::crc32c(&chunk, record::header_sum_offset);
    std::memcpy(bytes.data() + at, &chunk, sizeof chunk);
  }
}

[[maybe_unused]] void look_at_live(Bytes bytes) {
  seal_headers(bytes);
  const std::string path = file_of("live.nvspan", bytes);
  reader::LiveFile file;
  reader::LiveSample sample;
  if (file.open(path)) {
    for (int i = 0; i < 2 && file.sample(sample); ++i) file.names().name(sample.threads.size());
    reader::LiveWatch(file).look();
    for (const std::vector<bool>& hidden : {std::vector<bool>(), std::vector<bool>(3, true)}) {
      reader::LiveLines lines;
      if (!file.find_lines(hidden, lines)) break;
      for (const reader::LiveLine& line : lines.threads) {
        file.between(line.since, lines.looked);
        const reader::SampledCode& code = file.names().code();
        std::uint32_t at = line.stack;
        while (at != 0) {
          file.names().text(code.function(code.frame(at).code));
          at = code.caller(at);
        }
      }
    }
  }
  std::string problem;
  reader::LiveRequest request;
  request.mode = 0;
  reader::ask(path, request, 0, problem);
  reader::ask_for_lines(path, 0, 0, problem);
}

[[maybe_unused]] void follow(Bytes bytes) {
  seal_headers(bytes);
  const std::string path = file_of("tail.nvspan", bytes);
  reader::RecordingTail tail;
  if (tail.open(path)) {
    std::vector<reader::TailRange> closed;
    std::uint64_t open = 0;
    tail.progress(open);
    for (int i = 0; i < 2; ++i) tail.read_ranges(closed, true);
    tail.name_of(0);
  }
}

[[maybe_unused]] void make_bundle(Bytes bytes) {
  seal_headers(bytes);
  const std::string path = file_of("bundle.nvspan", bytes);
  const std::string copy = path + ".copy";
  std::string problem;
  for (const std::uint64_t window : {std::uint64_t{0}, std::uint64_t{1000}}) {
    reader::freeze_recording(path, copy, window, problem);
    ::unlink(copy.c_str());
  }
}

[[maybe_unused]] void read_bundle_flag(const Bytes& bytes) {
  file_of("nvspan.trigger", bytes);
  reader::read_flag(folder());
}

// `bytes` are what follows the checksum.
[[maybe_unused]] void read_summary(const Bytes& bytes) {
  static const std::string magic = nvspan::ranks::Summary().bytes().substr(0, 8);
  const std::uint32_t sum = record::crc32c(bytes.data(), bytes.size());
  std::string whole = magic;
  whole.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  whole.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  try {
    const auto summary = nvspan::ranks::Summary::read(whole);
    nvspan::ranks::Summary merged;
    merged.merge(*summary);
    merged.merge(*summary);
    merged.collapse();
    nvspan::ranks::Summary::read(merged.bytes());
  } catch (const nvspan::ranks::SummaryError&) {
    ++refused;
  } catch (const std::invalid_argument&) {
    ++refused;
  }
}

[[maybe_unused]] void import_trace(const Bytes& bytes) {
  const std::string path = folder() + "/trace.nvspan";
  try {
    record::ExternalWriter writer(path, 1 << 20);
    nvspan::foreign::ChromeImport made(writer);
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    const std::size_t half = bytes.size() / 2;
    made.feed(text, half);
    made.feed(text + half, bytes.size() - half);
    made.finish(true);
    writer.close();
  } catch (const nvspan::foreign::ForeignError&) {
    ++refused;
  } catch (const std::system_error&) {
    ++refused;
  }
  ::unlink(path.c_str());
}

[[maybe_unused]] void read_database(const Bytes& bytes) {
  const std::string path = file_of("report.sqlite", bytes);
  try {
    const reader::SqliteFile file(path);
    for (const auto& [name, table] : file.tables()) {
      reader::WantedColumns columns;
      int kind = 0;
      for (const std::string& column : table.columns.names) {
        columns.emplace_back(column, reader::ImportKind("irtb"[kind++ % 4]));
      }
      reader::SqliteFile(path).read(name, columns);
    }
  } catch (const reader::SqliteError&) {
    ++refused;
  } catch (const std::system_error&) {
    ++refused;
  }
}

}  // namespace

// No process writes into a file here: waiting for one takes most of the time that a copy takes.
extern "C" int nanosleep(const timespec* /*time*/, timespec* /*rest*/) { return 0; }

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  NVSPAN_FUZZER(Bytes(data, data + size));
  return 0;
}
