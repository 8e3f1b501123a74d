// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/gpu_activity.hpp"

#include "core/os/error_line.hpp"
#include "core/os/library.hpp"
#include "cupti/activity.hpp"
#include "cupti/launch_calls.hpp"
#include "cupti/other_tool.hpp"
#include "inject/session/session.hpp"
#include "inject/session/work_sites.hpp"
#include "record/file/ticks.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

namespace nvspan::inject {
namespace {

using cupti::LaunchTimes;
using cupti::SeenWork;

// --- calls ---------------------------------------------------------------------------------------

constexpr std::size_t most_functions = 128;
// Of each function: the low half of the writers' epoch, and the site in that file.
std::array<std::atomic<std::uint64_t>, most_functions> call_sites;

constexpr std::uint64_t remembered(std::uint64_t epoch, std::uint32_t site) {
  return epoch << 32 | site;
}

bool put_call(record::ThreadWriter& writer, std::size_t function, const LaunchTimes& times) {
  const std::uint64_t known = call_sites[function].load(std::memory_order_acquire);
  const auto site = static_cast<std::uint32_t>(known);
  if (known != remembered(writer.epoch, site)) return false;
  if (!writer.is(record::RecordMode::full) && !writer.is(record::RecordMode::ring)) return false;
  const std::uint64_t launch = record::launch_word({times.correlation, times.end - times.begin});
  return writer.put(record::EntryKind::call, site, times.end, 0, &launch, record::call_words);
}

void record_call(std::size_t function, const LaunchTimes& times) noexcept {
  Session& current = session();
  current.meet_thread();
  const QuietSection quiet;
  current.lock();
  try {
    if (current.active()) {
      const char* const name = cupti::launch_functions().first[function].name;
      const record::LaunchCall call{times.begin, times.end, times.correlation};
      const Capture::CallSite site =
          current.capture().launched(current.current_thread(), name, call);
      if (site.epoch != 0) {
        call_sites[function].store(remembered(site.epoch, site.site), std::memory_order_release);
      }
    }
  } catch (...) {
    current.count_lost();
  }
  current.close_if_failed();
  current.unlock();
}

void launched(std::size_t function, const LaunchTimes& times) {
  if (thread_slot().busy || function >= most_functions || !session().active()) return;
  record::ThreadWriter* const writer = thread_slot().writer;
  if (writer != nullptr && writer->busy.load(std::memory_order_relaxed) == 0) {
    writer->enter();
    const bool done =
        writer->is_live() && !writer->is_asked() && put_call(*writer, function, times);
    writer->leave();
    if (done) return;
  }
  record_call(function, times);
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

struct Sites {
  std::mutex mutex;  // before the session's lock
  WorkSites known;
};
Sites& sites() {
  static Sites* const instance = new Sites;  // immortal
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
  lane.work(of.site, work);
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
      for (std::size_t i = 0; i < count; ++i) {
        if (has_times(work[i], time)) {
          write_work(*lane, file, work[i], *of[i]);
        } else {
          ++without_times;
        }
      }
      lane->lose(record::LossReason::no_times, without_times);
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
  Sites& all = sites();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.known.forget_if_many();
  while (count != 0) {
    std::array<WorkSites::Site*, at_once> of = {};
    const std::size_t some = std::min(count, at_once);
    for (std::size_t i = 0; i < some; ++i) of[i] = &site_of(all.known, work[i]);
    write_all(work, of.data(), some);
    work += some;
    count -= some;
  }
}

void missed(std::size_t count) {
  if (thread_slot().busy) return;
  Session& current = session();
  const QuietSection quiet;
  current.lock();
  try {
    record::WorkLane* const lane = current.work();
    if (lane != nullptr) lane->lose(record::LossReason::tool_dropped, count);
  } catch (...) {
    current.count_lost();
  }
  current.unlock();
}

std::uint64_t now() { return record::ticks_now(); }

// --- begin and end -------------------------------------------------------------------------------

std::mutex& starting() {
  static std::mutex* const mutex = new std::mutex;  // immortal
  return *mutex;
}
bool has_said_why = false;
std::atomic<bool> is_released{false};

// Another injection of CUDA's is a tool that uses CUPTI.
const char* other_injection() {
  const char* const set = std::getenv("CUDA_INJECTION64_PATH");
  if (set == nullptr || *set == '\0') return nullptr;
  const std::string own = core::library_of(reinterpret_cast<void (*)()>(start_gpu_activity));
  const auto name = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  return name(set) == name(own) ? nullptr : set;
}

void say_why_not(const char* why, const char* detail) {
  if (!has_said_why) core::write_error_line("kernels are not recorded: %s%s", why, detail);
  has_said_why = true;
}

void begin(CudaChoice choice) {
  if (const char* tool = cupti::other_gpu_tool()) {
    return say_why_not(tool, " has this process");
  }
  if (const char* library = other_injection()) {
    return say_why_not("CUDA loads another tool, CUDA_INJECTION64_PATH=", library);
  }
  cupti::ActivityChoice wanted;
  wanted.graph_nodes = choice == CudaChoice::graphs;
  const cupti::ActivityTaker taker{now, launched, took, missed};
  if (const char* why = cupti::begin_activity(taker, wanted)) return say_why_not(why, "");
  static const int at_exit = std::atexit([] { flush_gpu_activity(true); });
  static_cast<void>(at_exit);
}

}  // namespace

void start_gpu_activity() noexcept {
  if (thread_slot().busy) return;
  const CudaChoice choice = session().cuda_choice();
  if (choice == CudaChoice::off || !session().active()) return;
  const std::unique_lock<std::mutex> lock(starting(), std::try_to_lock);
  if (!lock || is_released || cupti::is_taking_activity()) return;
  // CUPTI's threads begin with signals blocked; what it sends to NVTX is not the program's.
  const QuietSection quiet;
  try {
    begin(choice);
  } catch (...) {
    say_why_not("no memory", "");
  }
}

void start_gpu_activity_if_used() noexcept {
  if (session().cuda_choice() == CudaChoice::off) return;
  if (core::Library::resident("libcuda.so.1")) start_gpu_activity();
}

void stop_gpu_activity() noexcept {
  if (!cupti::is_taking_activity()) return;
  const std::unique_lock<std::mutex> lock(starting(), std::try_to_lock);
  if (lock) cupti::end_activity();
}

void release_gpu_activity() noexcept {
  if (!cupti::is_taking_activity()) return;
  is_released.store(true);
  stop_gpu_activity();
}

void retake_gpu_activity() noexcept {
  if (is_released.exchange(false)) start_gpu_activity();
}

void flush_gpu_activity(bool at_end) noexcept {
  if (cupti::is_taking_activity() && !thread_slot().busy) cupti::flush_activity(at_end);
}

}  // namespace nvspan::inject
