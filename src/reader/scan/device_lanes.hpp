// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges of devices in a recording: on which device and stream each ran, and which call asked for
// it.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"
#include "reader/scan/thread_scan.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace nvspan::reader {

// The fields of a device range's payload. A missing number is 0, a missing `device` -1.
struct DeviceCall {
  std::int32_t device = -1;
  std::uint64_t stream = 0;
  std::uint64_t stream_handle = 0;
  std::uint64_t launch = 0;
  std::uint64_t launched = 0;  // ticks of the recording's clock; 0: not known, as of a replay
  std::uint32_t thread = 0;    // the number that the system has for it
  std::uint32_t uncertainty = 0;
  // Of a replay's work that a recorder saw: where its launch was captured; null: not known.
  const record::GraphNodeDefinition* node = nullptr;
  EntryPayload payload;  // the program's own
};

// Whether the range is one of a device, as its site and payload say. The payload is not believed.
bool read_device_call(const ReadProcess& process, const ReadSite& site, const EntryPayload& payload,
                      DeviceCall& call);

// A stream of a device in a process. What could not be read has the device -1.
struct DeviceLane {
  std::uint32_t process = 0;
  std::int32_t device = -1;
  std::uint64_t stream = 0;
  std::uint64_t stream_handle = 0;
  std::uint64_t last_ticks = 0;  // when its last range began
};

// Lanes by number, in the order in which they were met.
class DeviceLanes {
 public:
  std::uint32_t lane(std::uint32_t process, const DeviceCall& call, std::uint64_t begin);
  const std::vector<DeviceLane>& lanes() const noexcept { return lanes_; }

 private:
  std::vector<DeviceLane> lanes_;
  std::map<std::tuple<std::uint32_t, std::int32_t, std::uint64_t>, std::uint32_t> numbers_;
};

// The names that the program gave them, of `strings()`; no_name: none. A handle that was given
// names at different times has the last of those before the lane's last range.
std::int32_t device_name(const Recording& recording, const DeviceLane& lane);
std::int32_t stream_name(const Recording& recording, const DeviceLane& lane);

// "GPU 0 · stream 7 (name)".
std::string device_label(const Recording& recording, const DeviceLane& lane);
std::string lane_label(const Recording& recording, const DeviceLane& lane);

bool has_device_ranges(const Recording& recording);

// The thread that asked for a range of a device, which another thread has submitted.
class LaunchThreads {
 public:
  explicit LaunchThreads(const Recording& recording);

  // `submitter` where the thread is not known, as of a replay, or has no event of its own.
  std::uint32_t launching_thread(std::uint32_t process, const DeviceCall& call,
                                 std::uint32_t submitter) const;

 private:
  struct Life {
    std::uint32_t thread;
    std::uint64_t end_ticks;  // the greatest number if it has not ended
  };
  // The threads that had a number of the system's, in the order of their times.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Life>> lives_;
};

// Which range of the CPU asked for which of a device: the innermost that was open on the calling
// thread and that the selection takes. Found in one pass of its own over the recording, if it has
// ranges of devices at all.
class DeviceLaunches {
 public:
  DeviceLaunches(const Recording& recording, const Selection& selection);

  // The flows that leave the `number`th range that opens on the thread, of those that the selection
  // takes, as a scan meets them.
  struct Flows {
    const std::uint64_t* begin;
    const std::uint64_t* end;
  };
  Flows flows_from(std::uint32_t thread, std::uint64_t number) const;
  // The flow that reaches the range, or 0.
  std::uint64_t flow_to(std::uint32_t process, const DeviceCall& call) const;

 private:
  friend class LaunchFinder;
  static std::uint64_t flow_of(std::uint32_t process, std::uint64_t launch) {
    return (std::uint64_t{process} + 1) << 44 | (launch & ((std::uint64_t{1} << 44) - 1));
  }

  std::vector<std::unordered_map<std::uint64_t, std::vector<std::uint64_t>>> of_thread_;
  std::unordered_set<std::uint64_t> known_;
};

// The calls of one process by their numbers, which the work that they launched has, too.
template <typename Call>
class NumberedCalls {
 public:
  void add(std::uint64_t number, const Call& call) { calls_.emplace_back(number, call); }
  // After the last add() and before find().
  void sort() {
    if (!std::is_sorted(calls_.begin(), calls_.end(), is_before)) {
      std::stable_sort(calls_.begin(), calls_.end(), is_before);
    }
  }
  // Of several calls with that number the one that was added first; null: none.
  const Call* find(std::uint64_t number) const {
    const auto found = std::lower_bound(
        calls_.begin(), calls_.end(), number,
        [](const Entry& entry, std::uint64_t wanted) { return entry.first < wanted; });
    return found != calls_.end() && found->first == number ? &found->second : nullptr;
  }
  void clear() { calls_.clear(); }

 private:
  using Entry = std::pair<std::uint64_t, Call>;
  static bool is_before(const Entry& a, const Entry& b) { return a.first < b.first; }

  std::vector<Entry> calls_;
};

}  // namespace nvspan::reader
