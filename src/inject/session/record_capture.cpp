// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/record_capture.hpp"

#include "core/os/error_line.hpp"
#include "trace/event/event.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace nvspan::inject {

namespace {

CudaChoice wanted_of_cuda(const Config& config) {
  if (!record::keeps_events(config.mode)) return CudaChoice{};
  if (config.has_cuda) return config.cuda;
  const std::string_view text = environment("NVSPAN_RECORD_CUDA");
  CudaChoice choice;
  const char* const problem = parse_cuda(text, choice);
  if (problem != nullptr) {
    core::write_error_line("NVSPAN_RECORD_CUDA=%.*s is ignored: %s", static_cast<int>(text.size()),
                           text.data(), problem);
  }
  return choice;
}

}  // namespace

bool RecordCapture::open(const Config& config) {
  record::RecordOptions options;
  options.path = config.file;
  options.mode = config.mode;
  options.ring_bytes = config.ring_bytes;
  options.min_duration = config.min_duration;
  options.name_bytes = config.name_bytes;
  const char* const names = std::getenv("NVSPAN_RECORD_NAMES");
  if (options.name_bytes == 0 && names != nullptr && *names != '\0' &&
      !parse_megabytes(names, options.name_bytes)) {
    options.name_bytes = 0;
    core::write_error_line(
        "NVSPAN_RECORD_NAMES must be a number of megabytes, not %s; it is ignored", names);
  }
  cuda_ = wanted_of_cuda(config);
  options.run = config.run;
  options.annotate_cost = static_cast<std::uint16_t>(
      std::min<std::uint64_t>(config.annotate_cost, std::numeric_limits<std::uint16_t>::max()));
  options.all_domains = config.all_domains;
  set_failed(false);
  if (!recorder_.open(options)) return false;
  named_ = 0;
  if (recorder_.mode() == record::RecordMode::armed) name_handles();
  return true;
}

void RecordCapture::name_handles() {
  const auto name = [&](std::uint64_t handle, std::string_view text) {
    recorder_.name_handle(handle, text);
  };
  registry_.each_domain(name);
  named_ = registry_.each_string(named_, name);
}

// A string that was registered before comes again with the same handle.
void RecordCapture::named(std::uint64_t handle, std::string_view text) {
  if (!recorder_.is_open() || recorder_.is_orphan() ||
      recorder_.mode() != record::RecordMode::armed) {
    return;
  }
  if ((handle ^ record::live_domain_handles) >> 44 == 0) return recorder_.name_handle(handle, text);
  named_ = registry_.each_string(named_, [&](std::uint64_t each, std::string_view name) {
    recorder_.name_handle(each, name);
  });
}

record::LiveDevice* RecordCapture::devices() noexcept {
  return recorder_.is_open() && !recorder_.is_orphan() ? recorder_.blocks().devices() : nullptr;
}

std::uint64_t RecordCapture::open_device(const record::DeviceOpening& range) {
  record::LiveDevice* const places = devices();
  return places == nullptr ? 0 : record::live_open_device(places, range, record::ticks_now());
}

void RecordCapture::device_state(std::uint64_t range, record::LiveDeviceState state) {
  record::LiveDevice* const places = devices();
  if (places != nullptr) record::live_device_state(places, range, state, record::ticks_now());
}

// False: it failed. Elsewhere than in a forked child without a file there is nothing to do.
bool RecordCapture::open_in_child() {
  if (has_failed()) return false;
  if (!recorder_.is_orphan()) return true;
  if (!recorder_.open_in_child()) {
    set_failed(true);
    return false;
  }
  named_ = 0;
  if (recorder_.mode() == record::RecordMode::armed) name_handles();
  return true;
}

bool RecordCapture::takes_events() {
  return open_in_child() && recorder_.is_open() && record::keeps_events(recorder_.mode());
}

record::SampleLane* RecordCapture::samples() {
  return open_in_child() && recorder_.is_open() ? &recorder_.samples() : nullptr;
}

record::WorkLane* RecordCapture::work() { return takes_events() ? &recorder_.work() : nullptr; }

Capture::CallSite RecordCapture::launched(ThreadState& thread, const char* function,
                                          const record::LaunchCall& call) {
  record::ThreadWriter* const writer = takes_events() ? writer_of(thread.tid) : nullptr;
  if (writer == nullptr) return {};
  if (writer->busy.load(std::memory_order_relaxed) != 0) {
    writer->drop(record::LossReason::reentered);
    return {};
  }
  const std::uint32_t site = recorder_.work().call_site(function);
  recorder_.work().call(*writer, site, call);
  return {site < record::entry_wide_subject ? writer->epoch : 0, site};
}

// The calling thread's end of the recording; null when there is none.
record::ThreadWriter* RecordCapture::writer_of(std::uint32_t tid) {
  if (has_failed()) return nullptr;
  ThreadSlot& slot = thread_slot();
  if (!open_in_child()) {
    slot.writer = nullptr;
    return nullptr;
  }
  recorder_.follow_cuda();
  const bool had = slot.writer != nullptr && slot.writer->is_live();
  if (!had) {
    slot.writer = recorder_.ready(slot.writer, tid);
    if (slot.state != nullptr) name(*slot.state);
  }
  if (had && slot.writer->busy.load(std::memory_order_relaxed) == 0 &&
      recorder_.is_asked(*slot.writer)) {
    // Before the request is read: one that comes later asks again.
    slot.writer->live->asked.store(0);
    if (recorder_.take_request()) name_handles();
    recorder_.follow_mode(*slot.writer);
  }
  recorder_.set_current(slot.writer);
  return slot.writer;
}

void RecordCapture::name(const ThreadState& thread) {
  const record::ThreadWriter* writer = thread_slot().writer;
  if (thread.own_name_size == 0 || writer == nullptr || !writer->is_live()) return;
  if (registry_.thread_name(thread.tid).data() != nullptr) return;
  record::live_set_name(*writer->live, thread.own_name, thread.own_name_size);
  recorder_.name_thread(thread.tid, std::string_view(thread.own_name, thread.own_name_size));
}

template <typename Use>
void RecordCapture::with_writer(ThreadState& thread, const DomainView& domain,
                                const record::SiteKey* key, Use&& use) {
  record::ThreadWriter* writer = writer_of(thread.tid);
  if (writer == nullptr) return;
  if (writer->busy.load(std::memory_order_relaxed) != 0) {
    writer->drop(record::LossReason::reentered);
  } else if (domain.shown) {
    use(*writer);
  } else {
    recorder_.hide(*writer, domain.handle, key);
  }
}

void RecordCapture::mark(ThreadState& thread, const DomainView& domain, trace::Event& event,
                         const record::SiteKey* key) {
  with_writer(thread, domain, key, [&](record::ThreadWriter& writer) {
    recorder_.mark(writer, domain.handle, event, key);
  });
}

int RecordCapture::push(ThreadState& thread, const DomainView& domain, trace::Event& event,
                        const record::SiteKey* key) {
  int depth = no_push_pop_tracking;
  with_writer(thread, domain, key, [&](record::ThreadWriter& writer) {
    depth = recorder_.push(writer, domain.handle, event, key);
  });
  return depth;
}

int RecordCapture::pop(ThreadState& thread, const DomainView& domain, trace::Event& event) {
  int depth = no_push_pop_tracking;
  with_writer(thread, domain, nullptr, [&](record::ThreadWriter& writer) {
    depth = recorder_.pop(writer, domain.handle, event);
  });
  return depth;
}

std::uint64_t RecordCapture::start(ThreadState& thread, const DomainView& domain,
                                   trace::Event& event, const record::SiteKey* key) {
  std::uint64_t id = 0;
  with_writer(thread, domain, key, [&](record::ThreadWriter& writer) {
    id = recorder_.start(writer, domain.handle, event, key);
  });
  return id;
}

void RecordCapture::end(ThreadState& thread, const DomainView& domain, trace::Event& event) {
  with_writer(thread, domain, nullptr, [&](record::ThreadWriter& writer) {
    recorder_.end(writer, domain.handle, event.range_id, event);
  });
}

void RecordCapture::other(const trace::Event& event) {
  record::ThreadWriter* writer = writer_of(event.tid);
  if (has_failed()) return;
  if (writer != nullptr && writer->busy.load(std::memory_order_relaxed) != 0) {
    recorder_.set_current(nullptr);
  }
  if (event.kind == trace::EventKind::name_thread) {
    const trace::Field* const thread = trace::find_field(event, "thread");
    recorder_.blocks().name(
        thread == nullptr ? 0 : static_cast<std::uint32_t>(thread->unsigned_integer),
        trace::text_of(trace::find_field(event, "name")));
  }
  recorder_.write(event);
}

// A call that could not be shown is counted by the recorder itself.
void RecordCapture::process_exit(ThreadState&, std::uint64_t) {
  recorder_.at_process_exit(thread_slot().writer);
}

void RecordCapture::forked() noexcept {
  if (static_cast<std::uint32_t>(::getpid()) != recorder_.pid()) recorder_.mark_forked();
}

void RecordCapture::close() noexcept {
  cuda_ = CudaChoice{};
  recorder_.close(thread_slot().writer);
}

}  // namespace nvspan::inject
