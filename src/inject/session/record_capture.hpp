// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inject/session/capture.hpp"
#include "inject/session/config.hpp"
#include "record/writer/recorder.hpp"

#include <cstdint>

namespace nvspan {

// Events go into a recording. What is here is the slow path: inject/callbacks/fast_calls.hpp writes
// an event whose site the thread knows without coming here.
class RecordCapture final : public Capture {
 public:
  RecordCapture(PagePool& pool, const SchemaTable& schemas, const PayloadNames& names)
      : recorder_(pool, schemas, names) {}

  bool open(const Config& config);  // false: it cannot, and has said why
  // Of a thread that ends, whether or not something is recorded now.
  void retire(ThreadWriter* writer) noexcept { recorder_.retire(writer); }
  Recorder& recorder() noexcept { return recorder_; }

  void mark(ThreadState& thread, const DomainView& domain, Event& event,
            const SiteKey* key) override;
  int push(ThreadState& thread, const DomainView& domain, Event& event,
           const SiteKey* key) override;
  int pop(ThreadState& thread, const DomainView& domain, Event& event) override;
  std::uint64_t start(ThreadState& thread, const DomainView& domain, Event& event,
                      const SiteKey* key) override;
  void end(ThreadState& thread, const DomainView& domain, Event& event) override;
  void other(const Event& event) override;
  bool takes_deferred(ThreadState& thread) override { return writer_of(thread.tid) != nullptr; }
  void process_exit(ThreadState& thread, std::uint64_t lost) override;
  void forked() noexcept override;
  void close() noexcept override;

 private:
  ThreadWriter* writer_of(std::uint32_t tid);
  template <typename Use>
  void with_writer(ThreadState& thread, const DomainView& domain, const SiteKey* key, Use&& use);

  Recorder recorder_;
};

}  // namespace nvspan
