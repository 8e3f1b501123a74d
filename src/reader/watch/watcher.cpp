// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/watch/watcher.hpp"

#include "core/os/clock.hpp"
#include "reader/watch/trigger_signals.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace nvspan::reader {
namespace {

// A look costs some 60 to 100 us however little has happened, most of them the system's for waking
// up: they are few, and near enough that what several watchers notice is one event
// (BundlePlace::together).
constexpr std::uint64_t longest_pause = 450'000'000;  // ns
constexpr std::uint64_t shortest_pause = 2'000'000;
// The folder is looked into where it has changed, for as long as what is new may be unfinished, and
// now and then: a change on another machine is seen late, and one within a tick of the clock not.
constexpr std::uint64_t find_pause = 200'000'000;
constexpr std::uint64_t flag_pause = 90'000'000;
constexpr std::uint64_t unfinished = 1'000'000'000;
constexpr std::uint64_t seldom = 2'000'000'000;
constexpr std::size_t most_problems = 100;

}  // namespace

Watcher::Watcher(WatchOptions options) : options_(std::move(options)), owner_(::getpid()) {
  pause_ = longest_pause;
  for (const TriggerRule& rule : options_.rules) {
    if (rule.kind != TriggerKind::stall) continue;
    pause_ = std::min(pause_, static_cast<std::uint64_t>(rule.value * 1e9 / 4));
  }
  pause_ = std::max(pause_, shortest_pause);
}

Watcher::~Watcher() { stop(); }

bool Watcher::start() {
  for (const int number : options_.signals) take_signal(number);
  joined_ = read_flag(options_.place.folder).name;  // of an earlier run
  // The program's signals are for the program's threads.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] {
      ::pthread_setname_np(::pthread_self(), "nvspan watch");
      run();
    });
  } catch (...) {
    note_problem("there is no thread for the black box");
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread_.joinable();
}

void Watcher::stop() noexcept {
  if (!thread_.joinable()) return;
  if (owner_ != ::getpid()) {  // a fork left the thread behind
    thread_.detach();
    return;
  }
  {
    const std::lock_guard<std::mutex> held(mutex_);
    stops_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watcher::trigger(const std::string& kind, const std::string& why) {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    asked_.push_back(BundleEvent{kind, why, options_.pid, -1, true});
  }
  wake_.notify_all();
}

std::string Watcher::next_bundle(std::uint64_t wait) {
  std::unique_lock<std::mutex> held(mutex_);
  wrote_.wait_for(held, std::chrono::nanoseconds(wait),
                  [this] { return done_ || !bundles_.empty() || !problems_.empty(); });
  if (bundles_.empty()) return {};
  std::string first = bundles_.front();
  bundles_.erase(bundles_.begin());
  return first;
}

std::vector<std::string> Watcher::problems() {
  const std::lock_guard<std::mutex> held(mutex_);
  return std::exchange(problems_, {});
}

void Watcher::note_problem(const std::string& problem) {
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (problems_.size() < most_problems) problems_.push_back(problem);
  }
  wrote_.notify_all();
}

void Watcher::take_signals(std::vector<BundleEvent>& events) {
  for (const int number : options_.signals) {
    const std::string text = std::to_string(number);
    if (was_signalled(number)) {
      events.push_back(BundleEvent{"signal", "signal " + text, options_.pid, own_rank(), true});
    }
    if (was_replaced(number)) {
      note_problem("trigger signal:" + text +
                   ": the program has replaced nvspan's handler, and the trigger does nothing "
                   "unless the new one calls the one before it; set it before nvspan is imported, "
                   "or call nvspan.trigger() in it");
    }
  }
}

void Watcher::find_recordings() {
  for (std::string& path : recordings_in(options_.place, known_)) {
    auto judge = std::make_unique<Judge>(options_.rules, path);
    if (!judge->open()) continue;
    if (options_.pid == 0 || judge->header().pid == static_cast<std::uint32_t>(options_.pid)) {
      judges_.push_back(std::move(judge));
    }
    known_.push_back(std::move(path));
  }
}

void Watcher::look(std::vector<BundleEvent>& events, bool last) {
  std::vector<Finding> found;
  for (std::size_t i = 0; i < judges_.size();) {
    found.clear();
    Judge& judge = *judges_[i];
    const bool goes_on = judge.look(found, last);
    for (Finding& finding : found) {
      events.push_back(BundleEvent{std::move(finding.kind), std::move(finding.why),
                                   judge.header().pid, judge.header().rank});
    }
    if (goes_on) {
      ++i;
    } else {
      judges_.erase(judges_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

void Watcher::take_requests(std::vector<BundleEvent>& events) {
  const std::lock_guard<std::mutex> held(mutex_);
  for (BundleEvent& event : asked_) {
    event.rank = own_rank();
    events.push_back(std::move(event));
  }
  asked_.clear();
}

std::int32_t Watcher::own_rank() const {
  return options_.pid == 0 || judges_.empty() ? -1 : judges_.front()->header().rank;
}

// Its own processes first: the others may write theirs.
std::vector<std::string> Watcher::own_files() const {
  std::vector<std::string> files;
  for (const auto& judge : judges_) files.push_back(judge->path());
  return files;
}

std::string Watcher::write(const BundleEvent& event, std::string& problem) {
  std::string bundle = open_bundle(options_.place, event, problem);
  if (bundle.empty()) return bundle;
  joined_ = bundle.substr(bundle.rfind('/') + 1);
  fill_bundle(options_.place, bundle, own_files(), problem);
  fill_bundle(options_.place, bundle, recordings_in(options_.place), problem);
  if (!options_.environment.empty()) {
    const int fd = ::open((bundle + "/environment.jsonl").c_str(),
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    const std::string& text = options_.environment;
    if (fd >= 0 && ::write(fd, text.data(), text.size()) < 0) problem = bundle + ": no environment";
    if (fd >= 0) ::close(fd);
  }
  return bundle;
}

std::string Watcher::trigger_now(const std::string& kind, const std::string& why,
                                 std::string& problem) {
  if (recordings_in(options_.place).empty()) {
    problem = options_.place.folder + ": nothing is recorded there";
    return {};
  }
  return write(BundleEvent{kind, why, options_.pid, -1, true}, problem);
}

// Another watcher, maybe on another host, has opened a bundle: what is written here belongs to it.
void Watcher::join_newest() {
  const BundleFlag flag = read_flag(options_.place.folder);
  if (flag.name.empty() || flag.name == joined_) return;
  joined_ = flag.name;
  std::string problem;
  const std::string bundle = options_.place.folder + "/" + flag.name;
  fill_bundle(options_.place, bundle, own_files(), problem);
  if (!problem.empty()) note_problem(problem);
}

void Watcher::run() {
  std::unique_lock<std::mutex> held(mutex_);
  for (;;) {
    const bool last = stops_;
    held.unlock();
    std::vector<BundleEvent> events;
    try {
      const std::uint64_t now = core::monotonic_ns();
      const std::uint64_t version = folder_version(options_.place);
      if (version != version_) changed_at_ = now;
      version_ = version;
      const bool changes = now - changed_at_ < unfinished;
      if (last || judges_.empty() || now - found_at_ >= (changes ? find_pause : seldom)) {
        find_recordings();
        found_at_ = now;
      }
      take_requests(events);
      take_signals(events);
      look(events, last);
      for (const BundleEvent& event : events) {
        std::string problem;
        std::string bundle = write(event, problem);
        if (!problem.empty()) note_problem(problem);
        if (bundle.empty()) continue;
        held.lock();
        if (bundles_.empty() || bundles_.back() != bundle) bundles_.push_back(std::move(bundle));
        held.unlock();
        wrote_.notify_all();
      }
      if (now - flag_at_ >= (changes ? flag_pause : seldom)) {
        join_newest();
        flag_at_ = now;
      }
    } catch (...) {
      note_problem("out of memory");
    }
    held.lock();
    if (last) {
      done_ = true;
      wrote_.notify_all();
      return;
    }
    wake_.wait_for(held, std::chrono::nanoseconds(pause_),
                   [this] { return stops_ || !asked_.empty(); });
  }
}

}  // namespace nvspan::reader
