// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/gpu_activity.hpp"

#include "core/os/error_line.hpp"
#include "core/os/library.hpp"
#include "cupti/activity.hpp"
#include "cupti/other_tool.hpp"
#include "inject/session/session.hpp"
#include "inject/session/work_sites.hpp"
#include "record/file/ticks.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace nvspan::inject {
namespace {

using cupti::SeenCall;
using cupti::SeenWork;

// --- calls ---------------------------------------------------------------------------------------

// Of each function: the low half of the writers' epoch, and the site in that file.
std::array<std::atomic<std::uint64_t>, SeenCall::places> call_sites;

constexpr std::uint64_t remembered(std::uint64_t epoch, std::uint32_t site) {
  return epoch << 32 | site;
}

bool put_call(record::ThreadWriter& writer, const SeenCall& call) {
  if (call.place == SeenCall::no_place) return false;
  const std::uint64_t known = call_sites[call.place].load(std::memory_order_acquire);
  const auto site = static_cast<std::uint32_t>(known);
  if (known != remembered(writer.epoch, site)) return false;
  if (!writer.is(record::RecordMode::full) && !writer.is(record::RecordMode::ring)) return false;
  const std::uint64_t launch = record::launch_word({call.correlation, call.end - call.begin});
  return writer.put(record::EntryKind::call, site, call.end, 0, &launch, record::call_words);
}

// "cuMemAlloc_v2" and "cudaMalloc_ptsz_v7000" without what tells versions of one function apart.
std::string_view plain_name(std::string_view name) {
  const auto is_digit = [](char byte) { return byte >= '0' && byte <= '9'; };
  const auto ends_in = [&](std::string_view end) {
    return name.size() > end.size() && name.substr(name.size() - end.size()) == end;
  };
  std::size_t digits = 0;
  while (digits < name.size() && is_digit(name[name.size() - 1 - digits])) ++digits;
  if (digits != 0 && ends_in("_v" + std::string(name.substr(name.size() - digits)))) {
    name.remove_suffix(digits + 2);
  }
  for (const std::string_view stream : {"_ptsz", "_ptds"}) {
    if (ends_in(stream)) name.remove_suffix(stream.size());
  }
  return name;
}

void record_call(const SeenCall& call) noexcept {
  Session& current = session();
  current.meet_thread();
  const QuietSection quiet;
  current.lock();
  try {
    if (current.active()) {
      const std::string name(plain_name(call.name == nullptr ? "" : call.name));
      const record::LaunchCall times{call.begin, call.end, call.correlation};
      const Capture::CallSite site =
          current.capture().launched(current.current_thread(), name.c_str(), times);
      if (site.epoch != 0 && call.place != SeenCall::no_place) {
        call_sites[call.place].store(remembered(site.epoch, site.site), std::memory_order_release);
      }
    }
  } catch (...) {
    current.count_lost();
  }
  current.close_if_failed();
  current.unlock();
}

void called(const SeenCall& call) {
  if (thread_slot().busy || !session().active()) return;
  record::ThreadWriter* const writer = thread_slot().writer;
  if (writer != nullptr && writer->busy.load(std::memory_order_relaxed) == 0) {
    writer->enter();
    const bool done = writer->is_live() && !writer->is_asked() && put_call(*writer, call);
    writer->leave();
    if (done) return;
  }
  record_call(call);
}

// --- work ----------------------------------------------------------------------------------------

constexpr record::WorkKind kind_of(cupti::SeenKind kind) {
  switch (kind) {
    case cupti::SeenKind::kernel:
      return record::WorkKind::kernel;
    case cupti::SeenKind::copy:
      return record::WorkKind::copy;
    case cupti::SeenKind::set:
      return record::WorkKind::set;
    case cupti::SeenKind::graph:
    case cupti::SeenKind::allocation:
    case cupti::SeenKind::release:
      break;
  }
  return record::WorkKind::graph;
}

record::LaunchShape shape_of(const cupti::SeenShape& seen) {
  const auto& [grid, block, registers, static_shared, dynamic_shared] = seen;
  return record::LaunchShape{{grid[0], grid[1], grid[2]},
                             {block[0], block[1], block[2]},
                             registers,
                             static_shared,
                             dynamic_shared};
}

struct MetGpu {
  record::GpuLimitsDefinition limits;
  std::string name;
  std::uint64_t file;  // that it is in; 0: none
};
// Which nodes of graphs a file has.
struct WrittenNodes {
  std::uint64_t file = 0;
  std::vector<bool> has;

  bool add(std::uint64_t of, std::uint32_t node) {
    if (of != file) has.clear();
    file = of;
    if (node >= has.size()) has.resize(std::size_t{node} + node / 2 + 64);
    const bool is_new = !has[node];
    has[node] = true;
    return is_new;
  }
};
struct KnownWork {
  std::mutex mutex;  // before the session's lock
  WrittenNodes nodes;
  WorkSites sites;
  std::vector<MetGpu> gpus;
};
KnownWork& known_work() {
  static KnownWork* const instance = new KnownWork;  // immortal
  return *instance;
}

// Names are as those of imported reports of Nsight Systems.
WorkSites::Site& site_of(WorkSites& sites, const SeenWork& work) {
  switch (work.kind) {
    case cupti::SeenKind::kernel:
      return sites.find(work.name == nullptr ? "" : work.name, shape_of(work.shape));
    case cupti::SeenKind::copy:
      return sites.find("[CUDA memcpy " + std::string(cupti::copy_direction(work.detail)) + "]");
    case cupti::SeenKind::set:
      return sites.find("[CUDA memset]");
    case cupti::SeenKind::allocation:
      return sites.find("[CUDA allocation " + std::string(cupti::memory_kind(work.detail)) + "]");
    case cupti::SeenKind::release:
      return sites.find("[CUDA free " + std::string(cupti::memory_kind(work.detail)) + "]");
    case cupti::SeenKind::graph:
      break;
  }
  return sites.find("[CUDA graph " + std::to_string(work.detail) + "]");
}

constexpr std::size_t at_once = 128;

// Work that has ended did so before now. Where another tool has had CUPTI start afresh, its times
// are of another clock.
bool has_times(const SeenWork& seen, std::uint64_t now) {
  constexpr std::uint64_t inaccuracy = std::uint64_t{1} << 22;  // ticks: a millisecond
  return seen.start != 0 && seen.end >= seen.start && seen.end <= now + inaccuracy;
}

void write_work(record::WorkLane& lane, std::uint64_t file, const SeenWork& seen,
                WorkSites::Site& of) {
  if (seen.kind == cupti::SeenKind::allocation || seen.kind == cupti::SeenKind::release) {
    const record::MemoryUse use{seen.address, seen.bytes,  seen.device,
                                seen.context, seen.stream, seen.correlation};
    return lane.memory(*of.text, use, seen.start);
  }
  const record::WorkKind kind = kind_of(seen.kind);
  if (of.file != file) {
    of.site = of.shape == nullptr ? lane.work_site(kind, *of.text)
                                  : lane.kernel_site(*of.text, *of.shape);
    of.file = file;
  }
  record::GpuWork work;
  work.kind = kind;
  work.begin = seen.start;
  work.end = seen.end;
  work.correlation = seen.correlation;
  work.place = record::WorkPlace{seen.device, seen.context, seen.stream};
  work.bytes = seen.bytes;
  work.node = seen.node.number;
  if (work.node != 0 && known_work().nodes.add(file, work.node)) {
    lane.graph_node({seen.node.made, seen.node.capture_began, seen.node.number, seen.node.tid});
  }
  lane.work(of.site, work);
}

void write_gpus(record::WorkLane& lane, std::uint64_t file, std::vector<MetGpu>& gpus) {
  for (MetGpu& gpu : gpus) {
    if (gpu.file != file) lane.gpu(gpu.limits, gpu.name);
    gpu.file = file;
  }
}

void write_all(const SeenWork* work, WorkSites::Site* const* of, std::size_t count) noexcept {
  Session& current = session();
  const QuietSection quiet;
  current.lock();
  try {
    if (record::WorkLane* const lane = current.work()) {
      const std::uint64_t file = current.recorder().file_number();
      const std::uint64_t time = record::ticks_now();
      std::uint64_t without_times = 0;
      write_gpus(*lane, file, known_work().gpus);
      for (std::size_t i = 0; i < count; ++i) {
        if (has_times(work[i], time)) {
          write_work(*lane, file, work[i], *of[i]);
        } else {
          ++without_times;
        }
      }
      lane->lose(record::LossReason::no_times, without_times, time);
    }
  } catch (...) {
    current.count_lost();
  }
  current.close_if_failed();
  current.unlock();
}

// Names are found, and demangled, without the session's lock.
void took(const SeenWork* work, std::size_t count) {
  if (thread_slot().busy || !session().active()) return;
  KnownWork& all = known_work();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.sites.forget_if_many();
  while (count != 0) {
    std::array<WorkSites::Site*, at_once> of = {};
    const std::size_t some = std::min(count, at_once);
    for (std::size_t i = 0; i < some; ++i) of[i] = &site_of(all.sites, work[i]);
    write_all(work, of.data(), some);
    work += some;
    count -= some;
  }
}

// GPUs come before their work, and again where CUPTI begins again.
void met(const cupti::SeenDevice& device) {
  KnownWork& all = known_work();
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (const MetGpu& gpu : all.gpus) {
    if (gpu.limits.device == device.device) return;
  }
  record::GpuLimitsDefinition limits = {};
  limits.device = device.device;
  limits.major_capability = device.major_capability;
  limits.minor_capability = device.minor_capability;
  limits.processors = device.processors;
  limits.threads_of_warp = device.threads_of_warp;
  limits.warps = device.warps;
  limits.blocks = device.blocks;
  limits.registers = device.registers;
  limits.shared_bytes = device.shared_bytes;
  all.gpus.push_back(MetGpu{limits, device.name == nullptr ? "" : device.name, 0});
}

template <typename Use>
void with_lane(Use&& use) noexcept {
  if (thread_slot().busy) return;
  Session& current = session();
  const QuietSection quiet;
  current.lock();
  try {
    record::WorkLane* const lane = current.work();
    if (lane != nullptr) use(*lane);
  } catch (...) {
    current.count_lost();
  }
  current.unlock();
}

void missed(std::size_t count, std::uint64_t since) {
  with_lane(
      [&](record::WorkLane& lane) { lane.lose(record::LossReason::tool_dropped, count, since); });
}
void begin_gap(record::GapReason reason) noexcept {
  with_lane([&](record::WorkLane& lane) { lane.begin_gap(reason); });
}
void end_gap() noexcept {
  with_lane([](record::WorkLane& lane) { lane.end_gap(record::ticks_now()); });
}

std::uint64_t now() { return record::ticks_now(); }

// --- begin and end -------------------------------------------------------------------------------

std::mutex& starting() {
  static std::mutex* const mutex = new std::mutex;  // immortal
  return *mutex;
}
bool has_said_why = false, says_why = true;
std::atomic<bool> is_used{false};       // CUDA
std::atomic<bool> is_released{false};   // another tool of the process needs CUPTI now
std::atomic<bool> was_released{false};  // it has at some time

// Another injection of CUDA's is a tool that uses CUPTI.
const char* other_injection() {
  const char* const set = std::getenv("CUDA_INJECTION64_PATH");
  if (set == nullptr || *set == '\0') return nullptr;
  const std::string own = core::library_of(reinterpret_cast<void (*)()>(start_gpu_activity));
  const auto name = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  return name(set) == name(own) ? nullptr : set;
}

void say_why_not(const char* why, const char* detail) {
  if (!says_why) return;
  if (!has_said_why) core::write_error_line("kernels are not recorded: %s%s", why, detail);
  has_said_why = true;
}

// False: it cannot, and has said why.
bool begin(CudaChoice choice) {
  const auto refuse = [](const char* why, const char* detail) {
    say_why_not(why, detail);
    return false;
  };
  if (const char* tool = cupti::other_gpu_tool()) return refuse(tool, " has this process");
  if (const char* library = other_injection()) {
    return refuse("CUDA loads another tool, CUDA_INJECTION64_PATH=", library);
  }
  cupti::ActivityChoice wanted;
  wanted.graph_nodes = choice.graphs;
  wanted.all_calls = choice.api;
  wanted.memory = choice.memory;
  if (choice.memory) session().add_memory_schema();
  const cupti::ActivityTaker taker{now, called, took, met, missed};
  if (const char* why = cupti::begin_activity(taker, wanted)) {
    return refuse(why, was_released ? ", since it has profiled the program" : "");
  }
  static const int at_exit = std::atexit([] {
    if (!thread_slot().busy) cupti::flush_last_activity();
  });
  static_cast<void>(at_exit);
  return true;
}

bool try_to_begin(CudaChoice choice) noexcept {
  // CUPTI's threads begin with signals blocked; what it sends to NVTX is not the program's.
  const QuietSection quiet;
  try {
    return begin(choice);
  } catch (...) {
    say_why_not("no memory", "");
    return false;
  }
}

enum class Attempt : std::uint8_t { first, one_of_several, last };

void start(Attempt attempt) noexcept {
  if (thread_slot().busy) return;
  const CudaChoice choice = session().cuda_choice();
  if (!choice.kernels || !session().active()) return;
  const std::unique_lock<std::mutex> lock(starting(), std::try_to_lock);
  if (!lock || cupti::is_taking_activity()) return;
  if (attempt != Attempt::first) is_released.store(false);
  if (is_released) return begin_gap(record::GapReason::lent);
  says_why = attempt != Attempt::one_of_several;
  if (try_to_begin(choice)) return end_gap();
  if (attempt == Attempt::one_of_several) {
    is_released.store(true);
  } else {
    begin_gap(record::GapReason::refused);
  }
}

}  // namespace

void start_gpu_activity() noexcept {
  is_used.store(true);
  start(Attempt::first);
}

void start_gpu_activity_if_used() noexcept {
  if (!session().cuda_choice().kernels) return;
  if (core::Library::resident("libcuda.so.1")) start_gpu_activity();
}

void stop_gpu_activity() noexcept {
  if (!cupti::is_taking_activity()) return;
  const std::unique_lock<std::mutex> lock(starting(), std::try_to_lock);
  if (lock) cupti::end_activity();
}

void release_gpu_activity() noexcept {
  is_released.store(true);
  was_released.store(true);
  if (!cupti::is_taking_activity()) return;
  stop_gpu_activity();
  begin_gap(record::GapReason::lent);
}

bool retake_gpu_activity(bool is_last) noexcept {
  if (!is_used || !session().cuda_choice().kernels) {
    is_released.store(false);
    return true;
  }
  start(is_last ? Attempt::last : Attempt::one_of_several);
  return cupti::is_taking_activity();
}

bool begin_graph_sample() noexcept {
  const QuietSection quiet;
  return cupti::begin_node_records();
}

void end_graph_sample() noexcept {
  const QuietSection quiet;
  cupti::end_node_records();
}

void flush_gpu_activity() noexcept {
  if (!thread_slot().busy) cupti::flush_activity();
}

}  // namespace nvspan::inject
