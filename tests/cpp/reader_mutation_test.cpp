// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Recordings with bits flipped, words replaced and ends cut off, by a generator with a fixed seed.
// The reader may say what it likes about them; under a sanitizer it must not touch what is not its
// own. Arguments: how many mutations of each, then the files; with 0 the files may be anything, and
// are only read. Built with NVSPAN_FUZZER it is a libFuzzer target instead.

#include "reader/export/csv_export.hpp"
#include "reader/page/sample_flame.hpp"
#include "reader/page/sample_timeline.hpp"
#include "reader/perfetto/perfetto_export.hpp"
#include "reader/samples/line_sums.hpp"
#include "reader/scan/device_lanes.hpp"
#include "reader/scan/selection.hpp"
#include "reader/stats/aggregate.hpp"
#include "reader/stats/call_tree.hpp"
#include "reader/tables/arrow.hpp"
#include "reader/tables/columns.hpp"
#include "record/file/checksum.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

std::uint64_t read_all(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint64_t> words(size / 8 + 1);
  if (size != 0) std::memcpy(words.data(), data, size);
  auto recording = std::make_shared<nvspan::reader::Recording>();
  if (!recording->add("mutated", std::move(words), size)) return 0;
  std::uint64_t sum = nvspan::reader::aggregate(*recording, {}).rows.size();
  nvspan::reader::AggregateOptions by_payload;
  by_payload.by = nvspan::reader::GroupBy::payload;
  sum += nvspan::reader::aggregate(*recording, by_payload).rows.size();
  nvspan::reader::AggregateOptions by_field;
  by_field.by = nvspan::reader::GroupBy::field;
  by_field.field = "step";
  sum += nvspan::reader::aggregate(*recording, by_field).groups.size();
  nvspan::reader::AggregateOptions by_stream;
  by_stream.by = nvspan::reader::GroupBy::stream;
  const nvspan::reader::Aggregate of_streams = nvspan::reader::aggregate(*recording, by_stream);
  for (const nvspan::reader::DeviceLane& lane : of_streams.lanes.lanes()) {
    sum += nvspan::reader::lane_label(*recording, lane).size();
  }
  auto columns = std::make_shared<nvspan::reader::Columns>(recording);
  for (const char* table : {"ranges", "marks", "counters", "threads", "domains", "losses"}) {
    nvspan::reader::ColumnList list;
    for (const std::string& name : columns->names(table)) {
      list.push_back(columns->column(table, name));
      const auto* bytes = static_cast<const unsigned char*>(list.back()->data);
      const std::size_t count = list.back()->length * list.back()->item_size();
      for (std::size_t i = 0; i < count; i += 61) sum += bytes[i];
    }
    ArrowSchema schema;
    ArrowArray array;
    nvspan::reader::export_schema(list, &schema);
    nvspan::reader::export_array(list, columns->rows(table), &array);
    schema.release(&schema);
    array.release(&array);
  }
  nvspan::reader::Selection part;
  part.shortest = 100;
  for (std::size_t i = 0; i < recording->sites().size(); ++i) part.sites.push_back(i % 2 == 0);
  nvspan::reader::Columns selected(columns, part);
  for (nvspan::reader::Columns* of : {columns.get(), &selected}) {
    for (const char* table : {"ranges", "marks", "counters"}) {
      nvspan::reader::export_csv(*of, table, "/dev/null", {{"kind", {"a", "b"}}}, {});
    }
  }
  for (const nvspan::reader::Selection& selection : {nvspan::reader::Selection(), part}) {
    sum += nvspan::reader::call_tree(*recording, selection).nodes.size();
    sum += nvspan::reader::all_durations(*recording, selection).size();
    const nvspan::reader::SampleSums samples(*recording, selection);
    nvspan::reader::LineOptions options;
    options.key = nvspan::reader::LineKey::expression;
    for (std::size_t i = 0; i < recording->strings().size(); ++i) {
      options.hidden.push_back(i % 3 == 0);
    }
    sum += nvspan::reader::export_perfetto(*recording, selection, options.hidden, "/dev/null", {});
    sum += nvspan::reader::line_sums(*recording, samples, options).rows.size();
    sum += nvspan::reader::folded_stacks(*recording, samples, options).stacks.size();
    sum += nvspan::reader::sample_flame(*recording, samples, options, 20, 10).nodes.size();
    nvspan::reader::TimelineLimits limits;
    limits.bytes = 400;
    sum += nvspan::reader::sample_timeline(*recording, samples, selection, options, limits)
               .functions.size();
  }
  return sum;
}

}  // namespace

#ifdef NVSPAN_FUZZER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_all(data, size);
  return 0;
}

#else

namespace {

std::uint64_t state = 0x9E3779B97F4A7C15u;

std::uint64_t next() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

void mutate(std::vector<std::uint8_t>& bytes) {
  const std::size_t changes = 1 + next() % 8;
  for (std::size_t i = 0; i < changes && bytes.size() > 16; ++i) {
    const std::size_t at = next() % bytes.size();
    switch (next() % 6) {
      case 0:
        bytes[at] ^= static_cast<std::uint8_t>(1u << next() % 8);
        break;
      case 1:
        bytes[at] = static_cast<std::uint8_t>(next());
        break;
      case 2: {
        const std::uint64_t values[] = {0, ~std::uint64_t{0}, std::uint64_t{1} << 63, next()};
        const std::size_t word = at / 8 * 8;
        if (word + 8 <= bytes.size()) std::memcpy(bytes.data() + word, &values[next() % 4], 8);
        break;
      }
      case 3: {
        const std::size_t from = next() % bytes.size() / 64 * 64;
        const std::size_t to = next() % bytes.size() / 64 * 64;
        const std::size_t count = std::min<std::size_t>(64, bytes.size() - std::max(from, to));
        std::memmove(bytes.data() + to, bytes.data() + from, count);
        break;
      }
      case 4:
        // In the parts that are written, which are few.
        for (std::size_t j = at; j < bytes.size(); ++j) {
          if (bytes[j] == 0) continue;
          bytes[j] = static_cast<std::uint8_t>(bytes[j] + (next() % 3) - 1);
          break;
        }
        break;
      default:
        if (next() % 8 == 0) bytes.resize(bytes.size() - next() % (bytes.size() / 2));
        break;
    }
  }
}

// Makes the checksums fit again, so that what lies behind them is reached as well.
void seal_again(std::vector<std::uint8_t>& bytes) {
  nvspan::record::FileHeader header = {};
  if (bytes.size() < nvspan::record::file_header_bytes) return;
  std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
  if (header.version != nvspan::record::format_version) return;
  std::size_t at = nvspan::record::file_header_bytes;
  while (at + sizeof(nvspan::record::ChunkHeader) <= bytes.size()) {
    nvspan::record::ChunkHeader chunk = {};
    std::memcpy(&chunk, bytes.data() + at, sizeof chunk);
    const std::size_t left = bytes.size() - at;
    if (chunk.magic != nvspan::record::chunk_magic || chunk.size < sizeof chunk) {
      at += nvspan::record::chunk_alignment;
      continue;
    }
    chunk.place = static_cast<std::uint32_t>(at / nvspan::record::chunk_alignment);
    chunk.header_sum = nvspan::record::crc32c(&chunk, nvspan::record::header_sum_offset);
    const std::size_t used = chunk.used & ~nvspan::record::seal_flags;
    if (used >= sizeof chunk && used <= left) {
      chunk.body_sum =
          nvspan::record::crc32c(bytes.data() + at + sizeof chunk, used - sizeof chunk);
      chunk.seal_sum = nvspan::record::crc32c(&chunk, nvspan::record::seal_sum_offset);
    }
    std::memcpy(bytes.data() + at, &chunk, sizeof chunk);
    at += std::min<std::size_t>(chunk.size, left);
  }
  header.fixed_sum = nvspan::record::fixed_sum(header);
  if (header.closing_sum != 0) header.closing_sum = nvspan::record::closing_sum(header);
  std::memcpy(bytes.data(), &header, sizeof header);
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1000;
  std::uint64_t sum = 0;
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::vector<std::uint8_t> original((std::istreambuf_iterator<char>(file)),
                                             std::istreambuf_iterator<char>());
    const std::uint64_t found = read_all(original.data(), original.size());
    if (rounds > 0 && (original.size() < 4096 || found == 0)) {
      std::printf("%s: not a recording\n", argv[i]);
      return 1;
    }
    for (long round = 0; round < rounds; ++round) {
      std::vector<std::uint8_t> bytes = original;
      mutate(bytes);
      if (next() % 2 == 0) seal_again(bytes);
      sum += read_all(bytes.data(), bytes.size());
    }
  }
  std::printf("ok %llu\n", static_cast<unsigned long long>(sum));
  return 0;
}

#endif
