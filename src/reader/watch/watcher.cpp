// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/watch/watcher.hpp"

#include "core/os/clock.hpp"
#include "core/os/error_line.hpp"
#include "core/text/printable.hpp"
#include "reader/watch/trigger_signals.hpp"

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
constexpr std::size_t most_waiting = 16;

std::string reasons_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " reason" : " reasons");
}

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
  if (thread_.joinable() && !options_.signals.empty()) serve_signals(&bell_);
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
  bell_.ring();
  thread_.join();
  if (!options_.signals.empty()) serve_signals(nullptr);
}

bool Watcher::trigger(const std::string& kind, const std::string& why, std::uint64_t wait) {
  const auto request = std::make_shared<Request>();
  request->event = BundleEvent{kind, why, options_.pid, -1, true};
  std::unique_lock<std::mutex> held(mutex_);
  asked_.push_back(request);
  bell_.ring();
  wrote_.wait_for(held, std::chrono::nanoseconds(wait), [&] { return done_ || request->done; });
  return request->written;
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
  if (options_.says) {
    core::write_error_line("%s", core::plain_text(problem).c_str());
    return;
  }
  {
    const std::lock_guard<std::mutex> held(mutex_);
    if (problems_.size() < most_problems) problems_.push_back(problem);
  }
  wrote_.notify_all();
}

void Watcher::take_signals() {
  for (const int number : options_.signals) {
    const std::string text = std::to_string(number);
    if (was_signalled(number)) {
      carry_out(BundleEvent{"signal", "signal " + text, options_.pid, own_rank(), true});
      signal_served(number);
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

void Watcher::answer_requests() {
  std::vector<std::shared_ptr<Request>> asked;
  {
    const std::lock_guard<std::mutex> held(mutex_);
    asked.swap(asked_);
  }
  for (const auto& request : asked) {
    request->event.rank = own_rank();
    const bool written = !recordings_in(options_.place).empty() && carry_out(request->event);
    const std::lock_guard<std::mutex> held(mutex_);
    request->done = true;
    request->written = written;
    wrote_.notify_all();
  }
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

// Empty: there is none; `problem` may say why.
std::string Watcher::write(const BundleEvent& event, BundleProblem& problem) {
  const OpenBundle bundle = open_bundle(options_.place, event, hindered_ ? 0 : lock_wait, problem);
  if (bundle.name.empty()) return {};
  joined_ = bundle.name;
  fill_bundle(options_.place, bundle, own_files(), problem);
  if (!problem.passes) {
    fill_bundle(options_.place, bundle, recordings_in(options_.place), problem);
  }
  if (!options_.environment.empty() && !problem.passes) {
    add_line(options_.place, bundle, "environment.jsonl", options_.environment, problem);
  }
  if (problem.passes || !finish_bundle(options_.place, bundle, problem)) {
    drop_bundle(options_.place, bundle);
    return {};
  }
  return options_.place.folder + "/" + bundle.name;
}

std::string Watcher::trigger_now(const std::string& kind, const std::string& why,
                                 std::string& problem) {
  if (recordings_in(options_.place).empty()) {
    problem = options_.place.folder + ": nothing is recorded there";
    return {};
  }
  BundleProblem found;
  std::string bundle = write(BundleEvent{kind, why, options_.pid, -1, true}, found);
  problem = found.text;
  return bundle;
}

// False: no bundle has the event; `problem` may say why.
bool Watcher::attempt(const BundleEvent& event, BundleProblem& problem) {
  std::string bundle = write(event, problem);
  if (bundle.empty()) return false;
  const std::lock_guard<std::mutex> held(mutex_);
  if (bundles_.empty() || bundles_.back() != bundle) bundles_.push_back(std::move(bundle));
  wrote_.notify_all();
  return true;
}

// Whether its bundle is written. What may pass hinders all later ones, too: they wait behind it.
bool Watcher::carry_out(const BundleEvent& event) {
  const bool known = std::any_of(waiting_.begin(), waiting_.end(), [&](const BundleEvent& other) {
    return !event.asked && other.kind == event.kind;
  });
  if (!known && waiting_.size() < most_waiting) {
    waiting_.push_back(event);
  } else if (!known) {
    ++left_out_;
  }
  return !hindered_ && try_waiting();
}

// Whether the last one's bundle is written.
bool Watcher::try_waiting() {
  bool written = false;
  while (!waiting_.empty()) {
    BundleEvent event = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    BundleProblem problem;
    written = attempt(event, problem);
    const bool again = !written && problem.passes;
    const bool is_said = again && hindered_;
    if (!problem.text.empty() && !is_said) {
      note_problem(again ? problem.text + "; the bundle is tried again" : problem.text);
    }
    hindered_ = again;
    if (again) {
      waiting_.insert(waiting_.begin(), std::move(event));
      return false;
    }
    if (waiting_.empty() && left_out_ > 0) {  // noted in the bundle of those that waited
      const std::string text = reasons_text(std::exchange(left_out_, 0)) +
                               " not kept: no bundle could be written, and " +
                               std::to_string(most_waiting) + " waited already";
      note_problem(text);
      waiting_.push_back(BundleEvent{"left out", text, options_.pid, own_rank(), true});
    }
  }
  return written;
}

// Another watcher, maybe on another host, has opened a bundle: what is written here belongs to it.
void Watcher::join_newest() {
  const BundleFlag flag = read_flag(options_.place.folder);
  if (flag.name.empty() || flag.name == joined_) return;
  BundleProblem problem;
  if (fill_bundle(options_.place, OpenBundle{flag.name, true}, own_files(), problem) ||
      bundle_path(options_.place, flag.name).empty()) {
    joined_ = flag.name;
  } else if (!problem.text.empty()) {
    joined_ = flag.name;
    note_problem(problem.text);
  }
}

void Watcher::run() {
  for (;;) {
    bool last = false;
    {
      const std::lock_guard<std::mutex> held(mutex_);
      last = stops_;
    }
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
      try_waiting();
      answer_requests();
      take_signals();
      look(events, last);
      for (const BundleEvent& event : events) carry_out(event);
      if (now - flag_at_ >= (changes ? flag_pause : seldom)) {
        join_newest();
        flag_at_ = now;
      }
    } catch (...) {
      note_problem("out of memory");
    }
    if (last) break;
    bell_.wait(pause_);
  }
  if (const std::size_t lost = waiting_.size() + left_out_; lost > 0) {
    note_problem("the watching ends: " + reasons_text(lost) + " in no bundle");
  }
  const std::lock_guard<std::mutex> held(mutex_);
  done_ = true;
  wrote_.notify_all();
}

}  // namespace nvspan::reader
