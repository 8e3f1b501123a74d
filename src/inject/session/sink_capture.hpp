// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "inject/session/capture.hpp"
#include "inject/session/config.hpp"
#include "inject/session/file_output.hpp"
#include "trace/payload/payload_decoder.hpp"
#include "trace/sinks/jsonl_sink.hpp"
#include "trace/sinks/text_sink.hpp"

#include <cstdint>
#include <optional>

namespace nvspan::inject {

// Each event becomes a line at once. What is open is remembered, so that an end says what it ends,
// and a range that never does is shown when its thread or the process ends.
class SinkCapture final : public Capture {
 public:
  SinkCapture(core::PagePool& pool, Registry& registry, trace::PayloadDecoder& decoder,
              const trace::PayloadNames& names, core::PoolVector<trace::Field>& fields)
      : pool_(pool),
        registry_(registry),
        decoder_(decoder),
        names_(names),
        fields_(fields),
        output_(pool),
        started_(pool) {}

  bool open(const Config& config);  // false: it cannot, and has said why
  // The signals that may arrive while a full pipe is waited for.
  void set_wait_mask(const sigset_t* mask) noexcept { output_.set_wait_mask(mask); }

  void mark(ThreadState& thread, const DomainView& domain, trace::Event& event,
            const record::SiteKey* key) override;
  int push(ThreadState& thread, const DomainView& domain, trace::Event& event,
           const record::SiteKey* key) override;
  int pop(ThreadState& thread, const DomainView& domain, trace::Event& event) override;
  std::uint64_t start(ThreadState& thread, const DomainView& domain, trace::Event& event,
                      const record::SiteKey* key) override;
  void end(ThreadState& thread, const DomainView& domain, trace::Event& event) override;
  void other(const trace::Event& event) override { write(event); }
  void thread_exit(ThreadState& thread) override;
  void process_exit(ThreadState& thread, std::uint64_t lost) override;
  void stop(ThreadState& thread, std::uint64_t lost) override { show_lost(thread, lost); }
  void close() noexcept override;

 private:
  void write(const trace::Event& event);
  void show_unclosed(ThreadState& thread, const char* reason);
  void show_started(ThreadState& thread);
  void show_lost(const ThreadState& thread, std::uint64_t lost);
  trace::Event event_of(trace::EventKind kind, const ThreadState& thread) const;
  bool take_started(std::uint64_t id, UnfinishedRange& range) noexcept;  // false: it is not open
  trace::TextStyle text_style(std::uint64_t origin) const noexcept;

  core::PagePool& pool_;
  Registry& registry_;
  trace::PayloadDecoder& decoder_;
  const trace::PayloadNames& names_;
  core::PoolVector<trace::Field>& fields_;  // of the event at hand
  FileOutput output_;
  std::optional<trace::JsonlSink> jsonl_;
  std::optional<trace::TextSink> text_;
  trace::Sink* sink_ = nullptr;
  core::PoolMap<std::uint64_t, UnfinishedRange> started_;
  std::uint64_t next_range_ = 1;  // goes on when tracing is closed and opened again
};

}  // namespace nvspan::inject
