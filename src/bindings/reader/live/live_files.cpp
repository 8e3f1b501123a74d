// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/live/live_files.hpp"
#include "bindings/reader/live/live_stacks.hpp"
#include "bindings/reader/live/live_texts.hpp"
#include "bindings/reader/values/methods.hpp"
#include "bindings/reader/values/result.hpp"

#include <pybind11/stl.h>
#include <sys/select.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/os/clock.hpp"
#include "reader/live/live_file.hpp"
#include "reader/live/live_request.hpp"
#include "reader/live/live_watch.hpp"

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

constexpr std::size_t files_of_a_thread = 64;  // fewer are not worth one
constexpr std::size_t most_threads = 16;

const char* mode_name(std::uint64_t mode) {
  static const char* const names[] = {"full", "ring", "stats", "armed"};
  return names[std::min<std::uint64_t>(mode, 3)];
}

const char* sampler_name(std::uint64_t sampler) {
  static const char* const names[] = {"off", "armed", "on"};
  return names[std::min<std::uint64_t>(sampler, 2)];
}

// use(i) for all files, on several threads where there are many.
template <typename Use>
void for_each_file(std::size_t count, Use&& use) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (;;) {
      const std::size_t begin = next.fetch_add(files_of_a_thread);
      if (begin >= count) return;
      const std::size_t end = std::min(count, begin + files_of_a_thread);
      for (std::size_t i = begin; i < end; ++i) use(i);
    }
  };
  const std::size_t wanted = std::min<std::size_t>(
      {most_threads, std::thread::hardware_concurrency(), count / files_of_a_thread});
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < wanted; ++i) {
    try {
      threads.emplace_back(work);
    } catch (...) {
      break;  // this one does all
    }
  }
  work();
  for (std::thread& thread : threads) thread.join();
}

// Recordings that may be being written, each mapped once.
class LiveFiles {
 public:
  explicit LiveFiles(const std::vector<std::string>& paths) : files_(paths.size()) {
    const released_gil released;
    for (auto& file : files_) file = std::make_unique<File>();
    for_each_file(paths.size(),
                  [&](std::size_t i) { files_[i]->ok = files_[i]->file.open(paths[i]); });
  }

  py::list headers() const {
    py::list all;
    for (const auto& file : files_) all.append(file->ok ? header_of(*file) : problem_of(*file));
    return all;
  }

  py::list sample() {
    {
      const released_gil released;
      for_each_file(files_.size(), [&](std::size_t i) {
        File& file = *files_[i];
        if (file.ok) file.ok = file.file.sample(file.sample);
      });
    }
    Texts texts;
    py::list all;
    for (const auto& file : files_) {
      all.append(file->ok ? sample_of(*file, texts) : problem_of(*file));
    }
    return all;
  }

  // Of each file the Python stacks of its threads; None: it cannot be read. `is_hidden` says of a
  // source file whether its frames are passed over for a thread's line.
  py::list stacks(const py::function& is_hidden) {
    {
      const released_gil released;
      for_each_file(files_.size(), [&](std::size_t i) {
        File& file = *files_[i];
        file.has_lines = file.ok && file.file.read_names();
      });
    }
    HiddenFiles hidden(is_hidden);
    for (const auto& file : files_) {
      if (file->has_lines) hidden.mark(file->file.names(), file->hidden);
    }
    {
      const released_gil released;
      for_each_file(files_.size(), [&](std::size_t i) {
        File& file = *files_[i];
        file.has_lines = file.has_lines && file.file.find_lines(file.hidden, file.lines);
      });
    }
    Texts texts;
    py::list all;
    for (const auto& file : files_) {
      if (file->has_lines) {
        all.append(stacks_of(file->file, file->lines, texts));
      } else {
        all.append(py::none());
      }
    }
    return all;
  }

  // Looks at all of them each `interval` ns, for `duration` ns, or until `fd` can be read or a
  // signal came. How often it did.
  std::uint64_t watch(std::uint64_t interval, std::uint64_t duration, int fd) {
    const released_gil released;
    std::uint64_t next = core::monotonic_ns();
    const std::uint64_t end = next + duration;
    for (std::uint64_t looks = 1;; ++looks) {
      for (const auto& file : files_) {
        if (file->ok) file->ok = file->watch.look();
      }
      const std::uint64_t now = core::monotonic_ns();
      next = std::max(next + interval, now);
      if (now >= end || wait_until(std::min(next, end), now, fd)) return looks;
    }
  }

  // What watch() has counted since the last call, of each file: (tid, looks, nodes, spans) of its
  // threads; a node is (index of its parent, range, looks, begun), the first one the root; the
  // spans of a name are (range, looks, begun).
  py::list take() {
    Texts texts;
    py::list all;
    for (const auto& file : files_) {
      py::list threads;
      for (const reader::LiveTally& tally : file->watch.tallies()) {
        if (tally.looks == 0) continue;
        py::list nodes;
        for (const reader::LiveNode& node : tally.nodes) {
          nodes.append(py::make_tuple(node.parent, range_of(*file, node.entry, texts), node.looks,
                                      node.begun));
        }
        py::list spans;
        for (const reader::LiveSpans& one : tally.spans) {
          spans.append(py::make_tuple(range_of(*file, one.entry, texts), one.looks, one.begun));
        }
        threads.append(py::make_tuple(tally.tid, tally.looks, nodes, spans));
      }
      all.append(threads);
      file->watch.clear();
    }
    return all;
  }

 private:
  struct File {
    reader::LiveFile file;
    reader::LiveSample sample;
    reader::LiveWatch watch{file};
    reader::LiveLines lines;
    std::vector<bool> hidden;  // codes, by number
    bool ok = false;
    bool has_lines = false;
  };

  static bool wait_until(std::uint64_t next, std::uint64_t now, int fd) {
    const std::uint64_t left = next > now ? next - now : 0;
    const timespec timeout = {static_cast<time_t>(left / 1000000000),
                              static_cast<long>(left % 1000000000)};
    fd_set set;
    FD_ZERO(&set);
    const bool has_fd = fd >= 0 && fd < FD_SETSIZE;
    if (has_fd) FD_SET(fd, &set);
    return ::pselect(has_fd ? fd + 1 : 0, &set, nullptr, nullptr, &timeout, nullptr) != 0;
  }
  static py::tuple range_of(const File& file, std::uint64_t entry, Texts& texts) {
    const reader::LiveNames::Name name = file.file.names().name(entry);
    return py::make_tuple(texts.of(name.domain), texts.of(name.text));
  }
  static py::object problem_of(const File& file) { return str_of(file.file.problem()); }

  static py::object header_of(const File& file) {
    const record::FileHeader& header = file.file.header();
    const auto bounded = [](const char* text, std::size_t most) {
      return str_of(std::string_view(text, ::strnlen(text, most)));
    };
    py::list command;
    const std::string_view arguments(
        header.command, std::min<std::size_t>(header.command_bytes, sizeof header.command));
    for (std::size_t at = 0; at < arguments.size();) {
      const std::size_t end = std::min(arguments.find('\0', at), arguments.size());
      command.append(str_of(arguments.substr(at, end - at)));
      at = end + 1;
    }
    NewResult fields("LiveHeader");
    fields["pid"] = header.pid;
    fields["parent_pid"] = header.parent_pid;
    fields["host"] = bounded(header.host, sizeof header.host);
    fields["boot_id"] = bounded(header.boot_id, sizeof header.boot_id);
    fields["rank"] = number_or_none(header.rank);
    fields["frozen"] = (header.flags & record::file_frozen) != 0;
    fields["command"] = command;
    fields["started"] = header.first.realtime;
    return fields.done();
  }

  static py::object sample_of(const File& file, Texts& texts) {
    const auto range = [&](std::uint64_t entry) { return range_of(file, entry, texts); };
    py::list threads;
    for (const reader::LiveSnapshot& snapshot : file.sample.threads) {
      py::tuple open(snapshot.open_count);
      for (std::size_t i = 0; i < snapshot.open_count; ++i) open[i] = range(snapshot.open[i]);
      py::tuple started(snapshot.started_count);
      py::tuple started_within(snapshot.started_count);
      for (std::size_t i = 0; i < snapshot.started_count; ++i) {
        const reader::LiveStarted& one = snapshot.started[i];
        started[i] = py::make_tuple(range(one.entry), number_or_none(file.file.age(one.ticks)));
        started_within[i] = one.within;
      }
      NewResult thread("LiveThread");
      thread["tid"] = snapshot.tid;
      thread["name"] = texts.of(snapshot.name);
      thread["events"] = snapshot.count;
      thread["depth"] = snapshot.depth;
      thread["changing"] = snapshot.changing;
      thread["changed"] = number_or_none(file.file.age(snapshot.changed));
      thread["ended"] = snapshot.ended != 0;
      thread["open"] = open;
      thread["started"] = started;
      thread["started_within"] = started_within;
      thread["started_beyond"] = snapshot.started_beyond;
      threads.append(thread.done());
    }
    py::list devices;
    for (const reader::LiveDeviceRange& one : file.sample.devices) {
      static const char* const states[] = {"", "opened", "launched", "begun", "ended"};
      const auto state = std::min<std::uint64_t>(static_cast<std::uint64_t>(one.state), 4);
      NewResult device("OpenDeviceRange");
      if (!one.domain.empty()) device["domain"] = texts.of(one.domain);
      device["name"] = texts.of(one.name);
      device["state"] = states[state];
      device["device"] = one.device;
      device[one.domain == "NCCL" ? "communicator" : "stream"] = one.stream;  // it has no streams
      device["tid"] = one.tid;
      if (one.ranks != 0) {
        device["number"] = one.number;
        device["rank"] = one.rank;
        device["ranks"] = one.ranks;
      }
      device["since"] = number_or_none(file.file.age(one.since));
      devices.append(device.done());
    }
    NewResult fields("LiveSample");
    fields["mode"] = mode_name(file.sample.mode);
    fields["sampler"] = sampler_name(file.sample.sampler);
    fields["closed"] = file.sample.closed;
    fields["lost"] = file.sample.lost;
    fields["threads"] = threads;
    fields["devices"] = devices;
    return fields.done();
  }

  std::vector<std::unique_ptr<File>> files_;
};

const char* answer_name(reader::LiveAnswer answer) {
  static const char* const names[] = {"obeyed", "refused", "waiting", "failed"};
  return names[static_cast<std::size_t>(answer)];
}

// What became of the request, and why it failed.
std::pair<std::string, std::string> live_ask(const std::string& path, const std::string& mode,
                                             std::uint64_t ring_bytes, std::uint64_t wait) {
  reader::LiveRequest request;
  for (const auto known :
       {record::RecordMode::full, record::RecordMode::ring, record::RecordMode::armed}) {
    const auto number = static_cast<std::uint64_t>(known);
    if (mode == mode_name(number)) request.mode = number;
  }
  request.ring_bytes = ring_bytes;
  std::string problem;
  reader::LiveAnswer answer = reader::LiveAnswer::failed;
  {
    const released_gil released;
    answer = reader::ask(path, request, wait, problem);
  }
  return {answer_name(answer), problem};
}

// Likewise, of a request to the sampler: `period` in ns; 0: as often as it is cheap; -1: none.
std::pair<std::string, std::string> live_ask_lines(const std::string& path, std::int64_t period,
                                                   std::uint64_t wait) {
  std::string problem;
  reader::LiveAnswer answer = reader::LiveAnswer::failed;
  {
    const released_gil released;
    answer = reader::ask_for_lines(path, period, wait, problem);
  }
  return {answer_name(answer), problem};
}

}  // namespace

void bind_live(py::module_& module) {
  Methods(
      py::class_<LiveFiles>(module, "LiveFiles").def(py::init<const std::vector<std::string>&>()))
      .def("headers", &LiveFiles::headers)
      .def("sample", &LiveFiles::sample)
      .def("stacks", &LiveFiles::stacks)
      .def("watch", &LiveFiles::watch)
      .def("take", &LiveFiles::take);
  Methods(module).def("live_ask", &live_ask).def("live_ask_lines", &live_ask_lines);
}

}  // namespace nvspan::bindings
