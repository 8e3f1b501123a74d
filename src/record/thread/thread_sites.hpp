// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/chunks/recording_file.hpp"
#include "record/definitions/definition_writer.hpp"
#include "record/thread/thread_writer.hpp"
#include "trace/event/event.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::record {

// Finds or defines the site of a thread's event, and has the thread remember it, so that its next
// such event finds it without a lock.
class ThreadSites {
 public:
  ThreadSites(core::PagePool& pool, RecordingFile& file, DefinitionWriter& definitions)
      : pool_(pool), file_(file), definitions_(definitions) {}

  struct Subject {
    std::uint32_t site;  // no_site: there was no space for its definition
    DomainCell* domain;  // null: the thread has no room for it
    std::uint32_t domain_id;
    StretchKind stretch;
  };
  // The thread remembers the site under `key`, if there is one.
  Subject subject(ThreadWriter& writer, std::uint64_t domain, const trace::Event& event,
                  const SiteKey* key);

  struct Domain {
    DomainCell* cell;
    std::uint32_t id;
  };
  Domain domain(ThreadWriter& writer, std::uint64_t handle, std::string_view name);
  // Events of this domain are not written; the thread remembers that.
  void hide(ThreadWriter& writer, std::uint64_t domain, const SiteKey* key);

 private:
  DomainCell* cell(ThreadWriter& writer, std::uint64_t handle, std::string_view name);
  bool make_own_texts(ThreadWriter& writer) noexcept;

  core::PagePool& pool_;
  RecordingFile& file_;
  DefinitionWriter& definitions_;
};

}  // namespace nvspan::record
