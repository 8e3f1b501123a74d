// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/immovable.hpp"
#include "reader/watch/bell.hpp"
#include "reader/watch/bundle.hpp"
#include "reader/watch/judge.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace nvspan::reader {

struct WatchOptions {
  BundlePlace place;
  std::vector<TriggerRule> rules;
  std::int64_t pid = 0;      // watch this process alone; 0: all of the folder
  std::vector<int> signals;  // each is a trigger
  std::string environment;   // what environment.jsonl of a bundle gets from here; empty: nothing
  bool says = false;         // problems are lines on standard error; else problems() has them
};

// Watches recordings of a folder on a thread of its own, which knows nothing of Python. It belongs
// to the process that started it: in a forked child it does nothing.
class Watcher : public core::Immovable {
 public:
  explicit Watcher(WatchOptions options);
  ~Watcher();

  bool start();          // false: there is no thread to be had
  void stop() noexcept;  // carries out what was asked before
  // Has the watching thread write a bundle, and waits for it, at most so many ns. False: no bundle
  // has the reason by then.
  bool trigger(const std::string& kind, const std::string& why, std::uint64_t wait);
  // Makes one on the calling thread; empty: `problem` says why not.
  std::string trigger_now(const std::string& kind, const std::string& why, std::string& problem);
  // The next bundle that was written here, for at most so many ns; empty: none, or something went
  // wrong before. Of one thread.
  std::string next_bundle(std::uint64_t wait);
  // What went wrong since the last call, a sentence each.
  std::vector<std::string> problems();

 private:
  struct Request {
    BundleEvent event;
    bool done = false;
    bool written = false;
  };

  void run();
  bool attempt(const BundleEvent& event, BundleProblem& problem);
  bool carry_out(const BundleEvent& event);
  bool try_waiting();
  void find_recordings();
  void look(std::vector<BundleEvent>& events, bool last);
  void answer_requests();
  void take_signals();
  std::int32_t own_rank() const;
  std::string write(const BundleEvent& event, BundleProblem& problem);
  void join_newest();
  void note_problem(const std::string& problem);
  std::vector<std::string> own_files() const;

  const WatchOptions options_;
  std::uint64_t pause_ = 0;  // ns between two looks
  const std::int64_t owner_;
  std::vector<std::unique_ptr<Judge>> judges_;
  std::vector<std::string> known_;    // files that are watched, or are not worth it
  std::string joined_;                // the bundle that this has written to last
  std::vector<BundleEvent> waiting_;  // for what hinders the first of them to pass
  std::size_t left_out_ = 0;          // that came while too many waited
  bool hindered_ = false;             // which was said
  std::uint64_t version_ = 0;         // of the folder
  std::uint64_t changed_at_ = 0;
  std::uint64_t found_at_ = 0;
  std::uint64_t flag_at_ = 0;

  Bell bell_;  // there is something to do
  std::mutex mutex_;
  std::condition_variable wrote_;
  bool stops_ = false;
  bool done_ = false;  // the thread writes no more
  std::vector<std::shared_ptr<Request>> asked_;
  std::vector<std::string> bundles_;
  std::vector<std::string> problems_;
  std::thread thread_;
};

}  // namespace nvspan::reader
