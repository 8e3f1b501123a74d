// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What becomes of the events of a session: lines of text or JSON (sink_capture), or a recording
// (record_capture). Whoever calls holds the session's lock, with signals blocked.

#pragma once

#include "core/immovable.hpp"
#include "inject/session/registry.hpp"
#include "inject/session/thread_state.hpp"
#include "record/live/live_blocks.hpp"
#include "record/thread/thread_writer.hpp"
#include "record/writer/sample_lane.hpp"
#include "record/writer/work_lane.hpp"
#include "trace/event/event.hpp"

#include <cstdint>

namespace nvspan::inject {

constexpr int no_push_pop_tracking = -2;  // NVTX_NO_PUSH_POP_TRACKING

class Capture : public core::Immovable {
 public:
  virtual ~Capture() = default;

  // The five event calls. Of a hidden domain nothing is shown. A recording remembers the event's
  // site under `key`, if there is one, so that the next such call is a fast one.
  virtual void mark(ThreadState& thread, const DomainView& domain, trace::Event& event,
                    const record::SiteKey* key) = 0;
  // The depth of the range in its domain; no_push_pop_tracking where it is not known.
  virtual int push(ThreadState& thread, const DomainView& domain, trace::Event& event,
                   const record::SiteKey* key) = 0;
  virtual int pop(ThreadState& thread, const DomainView& domain, trace::Event& event) = 0;
  // The range's id, which the call that ends it has in its event.
  virtual std::uint64_t start(ThreadState& thread, const DomainView& domain, trace::Event& event,
                              const record::SiteKey* key) = 0;
  virtual void end(ThreadState& thread, const DomainView& domain, trace::Event& event) = 0;

  // A domain or string got this handle.
  virtual void named(std::uint64_t, std::string_view) {}
  // A device range that is open: its number, 0 where none is kept; and how far it is.
  virtual std::uint64_t open_device(const record::DeviceOpening&) { return 0; }
  virtual void device_state(std::uint64_t, record::LiveDeviceState) {}
  // Any other call.
  virtual void other(const trace::Event& event) = 0;
  // Whether a deferred event can be recorded at its own time now.
  virtual bool takes_deferred(ThreadState&) { return false; }

  // Where samples of stacks go; null: nowhere.
  virtual record::SampleLane* samples() { return nullptr; }

  // Where the work of GPUs goes; null: nowhere.
  virtual record::WorkLane* work() { return nullptr; }
  // A call of the thread that may have launched work. Returns the site of all such calls, and the
  // epoch of the writers that may use it; 0: none may.
  struct CallSite {
    std::uint64_t epoch = 0;
    std::uint32_t site = record::no_site;
  };
  virtual CallSite launched(ThreadState&, const char* /* function */, const record::LaunchCall&) {
    return {};
  }

  virtual void thread_exit(ThreadState&) {}
  // The program begins to end: its libraries still work.
  virtual void before_exit() noexcept {}
  // `lost`: how many calls could not be shown.
  virtual void process_exit(ThreadState& thread, std::uint64_t lost) = 0;
  virtual void forked() noexcept {}
  // The last that comes when the program itself ends the capture, before close().
  virtual void stop(ThreadState&, std::uint64_t) {}
  virtual void close() noexcept = 0;

  // It cannot go on, and has said why.
  bool has_failed() const noexcept { return has_failed_; }

 protected:
  void set_failed(bool failed) noexcept { has_failed_ = failed; }

 private:
  bool has_failed_ = false;
};

}  // namespace nvspan::inject
