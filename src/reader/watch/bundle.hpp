// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Bundles: folders with the last seconds of every process, beside the recordings. A flag file in
// the folder of the recordings names the newest one, so that all who watch that folder, on whatever
// host, write into the same bundle.

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

// Opens a bundle for the event, or joins the one that was opened a moment ago, and notes the event
// in its why.jsonl. Empty: none is opened; `problem` says why, and is empty where it is too soon.
std::string open_bundle(const BundlePlace& place, const BundleEvent& event, std::string& problem);

// The recordings of this machine in the folder that are being written, or ended within the last
// seconds, but those that are known already.
std::vector<std::string> recordings_in(const BundlePlace& place,
                                       const std::vector<std::string>& but = {});
// What changes where a file or a bundle comes to be in the folder.
std::uint64_t folder_version(const BundlePlace& place) noexcept;
// Freezes those of `files` into the bundle that are not in it; how many could not be, with the
// reason of the last of them.
std::size_t fill_bundle(const BundlePlace& place, const std::string& bundle,
                        const std::vector<std::string>& files, std::string& problem);

}  // namespace nvspan::reader
