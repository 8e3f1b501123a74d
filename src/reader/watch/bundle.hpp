// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Bundles: folders with the last seconds of every process, beside the recordings. A flag file in
// the folder of the recordings names the newest one, so that all who watch that folder, on whatever
// host, write into the same bundle. It has its name when it is whole, and one that begins with a
// dot before.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::reader {

struct BundlePlace {
  std::string folder;     // of the recordings
  std::uint64_t run = 0;  // 0: any
  double last = 30;       // seconds that are kept
  double every = 60;      // seconds between two bundles of a kind that nobody asked for
  std::size_t most = 10;  // bundles in the folder
  double together = 0.5;  // seconds in which what several notice is one
};

struct BundleEvent {
  std::string kind;
  std::string why;
  std::int64_t pid = 0;  // of the process that it is about; 0: of none
  std::int32_t rank = -1;
  bool asked = false;  // by somebody: `every` does not count
};

// The newest bundle of a folder, by its flag file; an empty name: there is none, or others than its
// owner may write the file.
struct BundleFlag {
  std::string name;
  std::uint64_t time = 0;  // ns of CLOCK_REALTIME
  std::string kind;        // of its first reason
};
BundleFlag read_flag(const std::string& folder);

struct BundleProblem {
  std::string text;     // empty: none
  bool passes = false;  // it may be gone in a while: a full disk, a lock

  // Of a file, by errno.
  void set(const std::string& path, int error);
};

struct OpenBundle {
  std::string name;     // empty: there is none
  bool joined = false;  // another watcher opened it
};
// ns that a watcher waits for another process that has locked the flag file.
constexpr std::uint64_t lock_wait = 500'000'000;
// Opens a bundle for the event, or joins the one that was opened a moment ago, and notes the event
// in its why.jsonl. Waits at most `wait` ns for a process that has locked the flag file. An empty
// name: none is opened; `problem` says why, and is empty where it is too soon.
OpenBundle open_bundle(const BundlePlace& place, const BundleEvent& event, std::uint64_t wait,
                       BundleProblem& problem);
// Its name from now on, for all to see; false: `problem` says why.
bool finish_bundle(const BundlePlace& place, const OpenBundle& bundle, BundleProblem& problem);
// As if it had never been opened.
void drop_bundle(const BundlePlace& place, const OpenBundle& bundle);
// Where it lies now; empty: nowhere.
std::string bundle_path(const BundlePlace& place, const std::string& name);

// The recordings of this machine in the folder that are being written, or ended within the last
// seconds, but those that are known already.
std::vector<std::string> recordings_in(const BundlePlace& place,
                                       const std::vector<std::string>& but = {});
// What changes where a file or a bundle comes to be in the folder.
std::uint64_t folder_version(const BundlePlace& place) noexcept;
// Freezes those of `files` into the bundle that are not in it. False: not all of them could be, and
// `problem` has the last one's reason.
bool fill_bundle(const BundlePlace& place, const OpenBundle& bundle,
                 const std::vector<std::string>& files, BundleProblem& problem);
// Adds a line to a file of the bundle. One write: lines of several hosts do not mix.
bool add_line(const BundlePlace& place, const OpenBundle& bundle, const char* file,
              const std::string& line, BundleProblem& problem);

}  // namespace nvspan::reader
