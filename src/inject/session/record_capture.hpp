// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inject/session/capture.hpp"
#include "inject/session/config.hpp"
#include "inject/session/registry.hpp"
#include "record/writer/recorder.hpp"

#include <atomic>
#include <cstdint>

namespace nvspan::inject {

// Events go into a recording. What is here is the slow path: inject/callbacks/fast_calls.hpp writes
// an event whose site the thread knows without coming here.
class RecordCapture final : public Capture {
 public:
  RecordCapture(core::PagePool& pool, const Registry& registry, const trace::SchemaTable& schemas,
                const trace::PayloadNames& names)
      : registry_(registry), recorder_(pool, schemas, names) {}

  bool open(const Config& config);  // false: it cannot, and has said why
  // Of a thread that ends, whether or not something is recorded now.
  void retire(record::ThreadWriter* writer) noexcept { recorder_.retire(writer); }
  record::Recorder& recorder() noexcept { return recorder_; }
  CudaChoice cuda_choice() const noexcept { return cuda_.load(std::memory_order_relaxed); }
  // The calling thread has another `own_name` now. The name that the program gave to NVTX counts
  // before it.
  void name(const ThreadState& thread);

  void mark(ThreadState& thread, const DomainView& domain, trace::Event& event,
            const record::SiteKey* key) override;
  int push(ThreadState& thread, const DomainView& domain, trace::Event& event,
           const record::SiteKey* key) override;
  int pop(ThreadState& thread, const DomainView& domain, trace::Event& event) override;
  std::uint64_t start(ThreadState& thread, const DomainView& domain, trace::Event& event,
                      const record::SiteKey* key) override;
  void end(ThreadState& thread, const DomainView& domain, trace::Event& event) override;
  void named(std::uint64_t handle, std::string_view text) override;
  std::uint64_t open_device(const record::DeviceOpening& range) override;
  void device_state(std::uint64_t range, record::LiveDeviceState state) override;
  void other(const trace::Event& event) override;
  bool takes_deferred(ThreadState& thread) override { return writer_of(thread.tid) != nullptr; }
  record::SampleLane* samples() override;
  record::WorkLane* work() override;
  CallSite launched(ThreadState& thread, const char* function,
                    const record::LaunchCall& call) override;
  void process_exit(ThreadState& thread, std::uint64_t lost) override;
  void before_exit() noexcept override { recorder_.note_cuda(); }
  void forked() noexcept override;
  void close() noexcept override;

 private:
  record::ThreadWriter* writer_of(std::uint32_t tid);
  bool takes_events();
  bool open_in_child();
  void name_handles();
  record::LiveDevice* devices() noexcept;
  template <typename Use>
  void with_writer(ThreadState& thread, const DomainView& domain, const record::SiteKey* key,
                   Use&& use);

  const Registry& registry_;
  record::Recorder recorder_;
  std::atomic<CudaChoice> cuda_{CudaChoice{}};
  std::size_t named_ = 0;  // strings whose handles have names in the file
};

}  // namespace nvspan::inject
