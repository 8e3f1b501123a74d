// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The work of GPUs and the calls that launched it, from the recorder to a scan: which call, when,
// where, how long; work that cannot be shown; files in which it is cut or makes no sense.

#include "record/writer/work_lane.hpp"
#include "reader/scan/device_lanes.hpp"
#include "reader/scan/range_scan.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "expect.hpp"
#include "writer_fixture.hpp"

namespace {

namespace record = nvspan::record;

using nvspan::reader::DeviceCall;
using nvspan::reader::RangeScan;
using nvspan::reader::Recording;
using nvspan::reader::ScannedRange;
using nvspan::reader::Selection;
using record::GpuWork;
using record::LaunchCall;
using record::ThreadWriter;
using record::WorkKind;

void durations_are_packed() {
  for (const std::uint64_t ticks :
       {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 31) - 1}) {
    EXPECT(record::unpack_duration(record::pack_duration(ticks)) == ticks);
  }
  constexpr std::uint64_t longer = (std::uint64_t{1} << 31) + 1023;
  EXPECT(record::unpack_duration(record::pack_duration(longer)) == std::uint64_t{1} << 31);
  constexpr std::uint64_t longest = ((std::uint64_t{1} << 31) - 1) << 10;
  EXPECT(record::unpack_duration(record::pack_duration(~std::uint64_t{0})) == longest);
  const record::LaunchWord launch = record::read_launch_word(record::launch_word({0xFFFFFFFF, 77}));
  EXPECT(launch.correlation == 0xFFFFFFFF && launch.duration == 77);
  const record::WorkPlace place =
      record::read_place_word(record::place_word({300, 70000, 0xFFFFFFFF}));
  EXPECT(place.device == 255 && place.context == 65535 && place.stream == 0xFFFFFFFF);
}

// Each range: its name, how many ticks it took, and of work its place, call and payload.
class Log : public RangeScan<Log, true> {
 public:
  explicit Log(const Recording& recording) : RangeScan(recording, Selection()) {}

  void ended(const ScannedRange& range) {
    const auto& site = recording_.sites()[range.site];
    text += recording_.text(site.name);
    DeviceCall call;
    if (read_device_call(*process_, site, range.call->payload, call)) {
      text += " on " + std::to_string(call.device) + "." + std::to_string(call.stream) + " of " +
              std::to_string(call.launch) + (call.launched != 0 ? " launched" : " not launched") +
              " by " + std::to_string(call.thread);
      if (call.node != nullptr) text += " captured by " + std::to_string(call.node->tid);
      if (call.payload.present) text += " payload " + std::to_string(call.payload.bits);
    } else {
      text += " number " + std::to_string(range.call->payload.bits);
    }
    text += '\n';
  }

  std::string text;
};

std::string ranges_of(const std::vector<std::uint64_t>& words, std::string* lost = nullptr) {
  Recording recording;
  std::vector<std::uint64_t> copy = words;
  EXPECT(recording.add("a.nvspan", std::move(copy), 8 * words.size()));
  Log log(recording);
  log.run();
  if (lost != nullptr) {
    for (const auto& loss : recording.losses()) {
      *lost += std::string(loss.reason) + " " + std::to_string(loss.count) + "\n";
    }
  }
  return log.text;
}

void add_call(nvspan_test::Writer& writer, ThreadWriter& thread, const char* name,
              std::uint32_t correlation, std::uint64_t begin) {
  record::WorkLane& lane = writer.recorder.work();
  lane.call(thread, lane.call_site(name), LaunchCall{begin, begin + 10, correlation});
}

void add_work(nvspan_test::Writer& writer, WorkKind kind, const char* name,
              std::uint32_t correlation, std::uint64_t begin, std::uint64_t bytes = 0) {
  record::WorkLane& lane = writer.recorder.work();
  GpuWork work;
  work.kind = kind;
  work.begin = begin;
  work.end = begin + 100;
  work.correlation = correlation;
  work.place = {1, 2, 7};
  work.bytes = bytes;
  lane.work(lane.work_site(kind, name), work);
}

void work_finds_its_call() {
  nvspan_test::Writer writer({});
  ThreadWriter& thread = *writer.recorder.ready(nullptr, 101);
  const std::uint64_t now = record::ticks_now();
  add_work(writer, WorkKind::copy, "copy", 2, now + 50, 4096);  // the lane may come first
  add_call(writer, thread, "launch", 1, now);
  add_call(writer, thread, "memcpy", 2, now + 20);
  add_work(writer, WorkKind::kernel, "kernel", 1, now + 30);
  add_work(writer, WorkKind::kernel, "kernel", 3, now + 40);
  writer.recorder.close(&thread);
  const std::string text = ranges_of(writer.words());
  EXPECT_EQUAL(text,
               "launch number 1\n"
               "memcpy number 2\n"
               "copy on 1.7 of 2 launched by 101 payload 4096\n"
               "kernel on 1.7 of 1 launched by 101\n"
               "kernel on 1.7 of 3 not launched by 0\n");
}

void work_of_a_graph_has_its_node() {
  nvspan_test::Writer writer({});
  ThreadWriter& thread = *writer.recorder.ready(nullptr, 101);
  record::WorkLane& lane = writer.recorder.work();
  const std::uint64_t now = record::ticks_now();
  constexpr std::uint32_t most_nodes = (1u << 24) - 1;
  for (const std::uint32_t node : {1u, most_nodes}) {
    lane.graph_node(record::GraphNodeDefinition{now - 20, now - 30, node, 100 + node});
  }
  add_call(writer, thread, "launch", 1, now);
  const auto add = [&](WorkKind kind, std::uint32_t node, std::uint64_t bytes, std::uint64_t at) {
    GpuWork work;
    work.kind = kind;
    work.begin = now + at;
    work.end = work.begin + 5;
    work.correlation = 1;
    work.place = record::WorkPlace{1, 2, 7};
    work.node = node;
    work.bytes = bytes;
    lane.work(lane.work_site(kind, "work"), work);
  };
  add(WorkKind::kernel, 1, 0, 10);
  add(WorkKind::copy, most_nodes, 4096, 20);
  add(WorkKind::copy, 1, ~std::uint64_t{0}, 30);
  add(WorkKind::kernel, 2, 0, 40);  // which is not defined
  writer.recorder.close(&thread);
  std::string lost;
  EXPECT_EQUAL(ranges_of(writer.words(), &lost),
               "launch number 1\n"
               "work on 1.7 of 1 launched by 101 captured by 101\n"
               "work on 1.7 of 1 launched by 101 captured by 16777315 payload 4096\n"
               "work on 1.7 of 1 launched by 101 captured by 101 payload 1099511627775\n"
               "work on 1.7 of 1 launched by 101\n");
  EXPECT_EQUAL(lost, "");
}

void early_work_is_counted() {
  nvspan_test::Writer writer({});
  ThreadWriter& thread = *writer.recorder.ready(nullptr, 101);
  const std::uint64_t now = record::ticks_now();
  add_call(writer, thread, "launch", 1, now);
  add_work(writer, WorkKind::kernel, "early", 1, now - 1);
  add_work(writer, WorkKind::kernel, "at once", 1, now);
  writer.recorder.work().lose(record::LossReason::tool_dropped, 5, now);
  writer.recorder.work().lose(record::LossReason::no_times, 0, now);
  writer.recorder.close(&thread);
  std::string lost;
  EXPECT_EQUAL(ranges_of(writer.words(), &lost),
               "launch number 1\nat once on 1.7 of 1 launched by 101\n");
  EXPECT_EQUAL(lost, "dropped by CUPTI 5\nGPU work before its launch 1\n");
}

// Each prefix of a file is read as what was written first.
void a_cut_file_is_read_up_to_there() {
  nvspan_test::Writer writer({});
  ThreadWriter& thread = *writer.recorder.ready(nullptr, 101);
  const std::uint64_t now = record::ticks_now();
  for (std::uint32_t i = 1; i <= 20; ++i) {
    add_call(writer, thread, "launch", i, now + i);
    add_work(writer, WorkKind::set, "set", i, now + 100 + i, i);
  }
  writer.recorder.close(&thread);
  const std::vector<std::uint64_t> words = writer.words();
  std::size_t most = 0;
  for (std::size_t size = record::file_header_bytes / 8; size <= words.size(); ++size) {
    const std::string text =
        ranges_of({words.begin(), words.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT(text.size() >= most || size < words.size());
    most = std::max(most, text.size());
  }
  EXPECT(ranges_of(words).size() == most);
}

record::LaunchShape shape_of(std::uint32_t blocks) {
  return record::LaunchShape{{blocks, 2, 3}, {32, 4, 1}, 40, 1024, 2048};
}

std::string gaps_of(const Recording& recording) {
  std::string text;
  for (const auto& gap : recording.gaps()) {
    EXPECT(gap.from <= gap.to);
    text += std::string(gap.reason) + (gap.to == recording.processes()[0].end ? " to the end" : "");
    text += '\n';
  }
  return text;
}

void shapes_gaps_and_gpus_are_kept() {
  nvspan_test::Writer writer({});
  ThreadWriter& thread = *writer.recorder.ready(nullptr, 101);
  record::add_memory_schema(writer.schemas);
  record::WorkLane& lane = writer.recorder.work();
  const std::uint64_t now = record::ticks_now();
  lane.gpu(record::GpuLimitsDefinition{1, 9, 0, 132, 32, 64, 32, 65'536, 233'472, 0}, "GPU");
  const std::uint32_t sites[] = {lane.kernel_site("k", shape_of(1)),
                                 lane.kernel_site("k", shape_of(2)),
                                 lane.work_site(WorkKind::kernel, "k")};
  EXPECT(sites[0] != sites[1] && sites[0] != sites[2] && sites[1] != sites[2]);
  GpuWork work;
  for (std::uint32_t i = 0; i < 3; ++i) {
    add_call(writer, thread, "launch", i + 1, now + i);
    work.begin = now + 10 + i;
    work.end = work.begin + 5;
    work.correlation = i + 1;
    lane.work(sites[i], work);
  }
  lane.memory("[CUDA allocation Device]", record::MemoryUse{0x1000, 4096, 1, 2, 7, 9}, now);
  lane.begin_gap(record::GapReason::lent);
  lane.begin_gap(record::GapReason::lent);
  lane.begin_gap(record::GapReason::refused);
  lane.end_gap(record::ticks_now());
  lane.end_gap(record::ticks_now());
  lane.lose(record::LossReason::tool_dropped, 3, now);
  lane.begin_gap(record::GapReason::lent);
  writer.recorder.close(&thread);
  Recording recording;
  std::vector<std::uint64_t> words = writer.words();
  const std::size_t bytes = 8 * words.size();
  EXPECT(recording.add("a.nvspan", std::move(words), bytes) && recording.problems().empty());
  std::string shapes;
  for (const auto& site : recording.sites()) {
    if (recording.text(site.name) != "k") continue;
    shapes += std::to_string(recording.shapes()[site.shape].grid[0]);
  }
  EXPECT_EQUAL(shapes, "012");  // the one without a shape is written first
  EXPECT_EQUAL(gaps_of(recording),
               "CUPTI dropped some\na profiler of the program had CUPTI\n"
               "CUPTI could not be used\na profiler of the program had CUPTI to the end\n");
  const auto& gpu = recording.processes()[0].gpus.at(1);
  EXPECT(gpu.limits.processors == 132 && recording.text(gpu.name) == "GPU");
}

// Of a process that did not end its recording: what it launched last has not come.
void work_that_did_not_come_is_a_gap() {
  nvspan_test::Writer writer({});
  ThreadWriter& thread = *writer.recorder.ready(nullptr, 101);
  const std::uint64_t now = record::ticks_now();
  for (std::uint32_t i = 1; i <= 4; ++i) add_call(writer, thread, "launch", i, now + 20 * i);
  add_call(writer, thread, "malloc", 5, now + 100);
  add_work(writer, WorkKind::kernel, "k", 1, now + 30);
  add_work(writer, WorkKind::kernel, "k", 2, now + 50);
  const auto read = [&] {
    Recording recording;
    std::vector<std::uint64_t> words = writer.words();
    const std::size_t bytes = 8 * words.size();
    EXPECT(recording.add("a.nvspan", std::move(words), bytes));
    const auto gaps = recording.gaps();
    EXPECT(gaps.empty() || gaps[0].from == recording.processes()[0].time(now + 60));
    return gaps_of(recording);
  };
  EXPECT_EQUAL(read(), "CUPTI had not handed it over to the end\n");
  add_work(writer, WorkKind::kernel, "k", 3, now + 70);
  add_work(writer, WorkKind::kernel, "k", 4, now + 90);
  EXPECT_EQUAL(read(), "");
  writer.recorder.close(&thread);
}

void other_modes_take_none() {
  for (const record::RecordMode mode : {record::RecordMode::stats, record::RecordMode::armed}) {
    record::RecordOptions options;
    options.mode = mode;
    nvspan_test::Writer writer(options);
    ThreadWriter& thread = *writer.recorder.ready(nullptr, 101);
    add_call(writer, thread, "launch", 1, record::ticks_now());
    add_work(writer, WorkKind::kernel, "kernel", 1, record::ticks_now());
    writer.recorder.close(&thread);
    EXPECT_EQUAL(ranges_of(writer.words()), "");
  }
}

}  // namespace

int main() {
  durations_are_packed();
  work_finds_its_call();
  work_of_a_graph_has_its_node();
  early_work_is_counted();
  a_cut_file_is_read_up_to_there();
  shapes_gaps_and_gpus_are_kept();
  work_that_did_not_come_is_a_gap();
  other_modes_take_none();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
