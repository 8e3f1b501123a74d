// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/definitions/definition_chunk.hpp"
#include "record/file/work_format.hpp"
#include "trace/event/event.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace nvspan::record {

// The number of bytes of a recording that may be names: the texts and sites of events, and in mode
// `stats` the cells that count them. A ring and statistics would grow with every new name without
// it.
class NameBudget {
 public:
  static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t of_ring = 16'000'000;
  static constexpr std::uint64_t of_stats = 32'000'000;

  // `bytes` 0: the mode's default.
  void restart(RecordMode mode, std::uint64_t bytes) noexcept {
    limit_ = bytes != 0                  ? bytes
             : mode == RecordMode::ring  ? of_ring
             : mode == RecordMode::stats ? of_stats
                                         : no_limit;
    spent_ = 0;
  }

  // False: it would exceed the budget, and nothing is spent.
  bool take(std::size_t bytes) noexcept {
    if (bytes > limit_ || spent_ > limit_ - bytes) return false;
    spent_ += bytes;
    return true;
  }
  // For definitions that cannot be left out.
  void spend(std::size_t bytes) noexcept { spent_ += bytes; }

 private:
  std::uint64_t limit_ = no_limit;
  std::uint64_t spent_ = 0;
};

// The texts, domains, categories, threads and sites of a recording: each is written once and has a
// number from then on. Texts and sites of events are within the budget for names; those past it
// share one site in each domain.
class NameDefinitions {
 public:
  NameDefinitions(core::PagePool& pool, RecordingFile& file, DefinitionChunk& chunk)
      : pool_(pool),
        file_(file),
        chunk_(chunk),
        strings_(pool),
        domains_(pool),
        sites_(pool),
        rests_(pool) {}

  void forget() noexcept;

  static constexpr std::uint32_t past_budget = no_string - 1;  // of a text that was not kept
  struct Text {
    std::uint32_t id;  // no_string: there is none, or no space for it
    const char* kept;
  };
  Text string(std::string_view text);
  // A text of an event: `past_budget` if it was not kept.
  Text message(std::string_view text);

  // no_string: there is no space for it.
  std::uint32_t domain(std::uint64_t handle, std::string_view name);
  void thread(const ThreadDefinition& definition);
  void thread_name(std::uint32_t tid, std::string_view name);
  void category(std::uint32_t domain, std::uint32_t category, std::string_view name);

  // `device` is SiteDefinition's. no_site: there is no space for it.
  std::uint32_t site(std::uint32_t domain, const trace::Event& event, std::uint32_t message,
                     std::uint8_t device);
  // A new site, which has a shape; past the budget the one without.
  std::uint32_t shaped_site(std::uint32_t domain, const trace::Event& event, std::uint32_t message,
                            std::uint8_t device, const LaunchShape& shape);

  // Statistics: the site under which a thread counts an event of `site` that it has no cell for;
  // `bytes` are what that cell takes.
  std::uint32_t counted_site(std::uint32_t site, std::size_t bytes);
  NameBudget& budget() noexcept { return budget_; }

 private:
  // The part of a site that stays when its name is past the budget; a thread without room for more
  // cells counts under it too.
  struct SiteRest {
    std::uint32_t domain;
    std::uint8_t payload_type;
    std::uint8_t device;
    bool other;  // it is already such a site
  };

  Text add_string(std::string_view text);
  std::uint32_t define_site(SiteDefinition& definition);
  std::uint32_t add_site(SiteDefinition& definition);
  std::uint32_t other_site(const SiteRest& rest);

  core::PagePool& pool_;
  RecordingFile& file_;
  DefinitionChunk& chunk_;
  NameBudget budget_;
  core::PoolMap<std::string_view, Text> strings_;
  core::PoolMap<std::uint64_t, std::uint32_t> domains_;
  core::PoolMap<SiteDefinition, std::uint32_t, SiteHash, SameSite> sites_;
  std::uint32_t next_site_ = 0;
  core::PoolVector<SiteRest> rests_;  // statistics: of each site
};

}  // namespace nvspan::record
