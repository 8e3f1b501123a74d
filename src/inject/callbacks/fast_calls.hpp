// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The event calls while a recording is on: no lock, no allocation, no system call, unless the
// thread meets something new or its chunk is full. Each returns false for a call that the slow path
// has to handle; remembered_key() is the key under which that path remembers its site.
//
// fast_pop() and fast_end() repeat their first and last lines: a shared function costs a pop 21
// instructions more, even when it is always inlined.

#pragma once

#include "inject/decode/call.hpp"
#include "inject/decode/nvtx_types.hpp"
#include "record/live/live_blocks.hpp"
#include "record/thread/thread_writer.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::inject {

// Null: this thread does not record (yet). Busy until leave().
inline record::ThreadWriter* enter_fast(bool& dropped) noexcept {
  record::ThreadWriter* writer = thread_slot().writer;
  dropped = false;
  if (writer == nullptr) return nullptr;
  if (__builtin_expect(writer->busy.load(std::memory_order_relaxed) != 0, 0)) {
    // A signal handler interrupted an event of this very thread.
    dropped = writer->is_live();
    if (dropped) writer->drop(record::LossReason::reentered);
    return nullptr;
  }
  writer->enter();
  if (__builtin_expect(writer->is_live() && !writer->is_asked(), 1)) return writer;
  writer->leave();
  return nullptr;
}

// False: not what the fast path takes (no attributes, malformed ones, wide text, bytes).
inline bool make_key(std::uint64_t domain, const nvtxEventAttributes_t* attributes,
                     record::SiteKey& key) noexcept {
  if (attributes == nullptr || attributes->size < sizeof *attributes || attributes->version == 0 ||
      attributes->version > NVTX_VERSION) {
    return false;
  }
  const bool plain_message = attributes->messageType == NVTX_MESSAGE_TYPE_ASCII ||
                             attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
  if (!plain_message && attributes->messageType != NVTX_MESSAGE_UNKNOWN) return false;
  if (attributes->colorType != NVTX_COLOR_UNKNOWN && attributes->colorType != NVTX_COLOR_ARGB) {
    return false;
  }
  if (attributes->payloadType < NVTX_PAYLOAD_UNKNOWN ||
      attributes->payloadType > NVTX_PAYLOAD_TYPE_FLOAT) {
    return false;
  }
  key.domain = domain;
  key.message = plain_message ? handle_bits(attributes->message.ascii) : 0;
  const bool has_color = attributes->colorType == NVTX_COLOR_ARGB;
  key.color = has_color ? attributes->color : 0;
  key.category = attributes->category;
  key.set_types(static_cast<std::uint32_t>(attributes->messageType),
                static_cast<std::uint32_t>(attributes->payloadType), has_color);
  return true;
}

inline bool make_key(std::uint64_t domain, const char* message, record::SiteKey& key) noexcept {
  key.domain = domain;
  key.message = handle_bits(message);
  key.set_types(NVTX_MESSAGE_TYPE_ASCII, NVTX_PAYLOAD_UNKNOWN, false);
  return true;
}

inline bool make_key(std::uint64_t, const wchar_t*, record::SiteKey&) noexcept { return false; }

inline std::uint64_t payload_of(const nvtxEventAttributes_t* attributes) noexcept {
  return attributes->payload.ullValue;
}
inline std::uint64_t payload_of(const char*) noexcept { return 0; }
inline std::uint64_t payload_of(const wchar_t*) noexcept { return 0; }

// Armed, the entry of a range whose name is a registered string, which needs no look-up. 0: it is
// not such a one.
inline std::uint64_t handle_entry(std::uint64_t domain,
                                  const nvtxEventAttributes_t* attributes) noexcept {
  if (attributes == nullptr || attributes->size < sizeof *attributes ||
      attributes->messageType != NVTX_MESSAGE_TYPE_REGISTERED) {
    return 0;
  }
  const std::uint64_t message = handle_bits(attributes->message.registered);
  if ((message ^ record::live_string_handles) > 0xFFFFFFFF) return 0;
  return record::live_entry(record::LiveName::registered, domain,
                            static_cast<std::uint32_t>(message));
}
inline std::uint64_t handle_entry(std::uint64_t, const void*) noexcept { return 0; }

inline void set_changed(record::ThreadWriter& writer, std::uint64_t ticks) noexcept {
  writer.live->changed.store(ticks, std::memory_order_relaxed);
}

inline void end_started(std::uint64_t id) noexcept {
  record::LiveBlock* const block = record::live_starter_of(id);
  if (block != nullptr) record::live_end(*block, id);
}

// In mode `stats`. False: the range has no place in a block, or the thread no cell for it yet.
inline bool count_started(record::ThreadWriter& writer, std::uint64_t id,
                          std::uint64_t ticks) noexcept {
  record::LiveBlock* const block = record::live_starter_of(id);
  record::LiveStart* const place =
      block == nullptr || id == 0 ? nullptr : record::live_find_start(*block, id);
  if (place == nullptr) return false;
  const std::uint32_t site = record::live_site(place->entry.load(std::memory_order_relaxed));
  const std::uint64_t duration = ticks - place->ticks.load(std::memory_order_relaxed);
  const auto take = [&] { return record::live_free_place(*place, id); };
  if (duration < writer.min_ticks) {
    take();
    return true;
  }
  return writer.count_if(site, record::EntryKind::start, duration, duration, 0, take);
}

enum class Fast : std::uint8_t { done, dropped, no };

// Writes an entry of the site that `input` names; `use(writer, site, payload, has_payload)` does
// it, or, armed, `use(writer, entry)`, of LiveBlock.
template <typename Input, typename Use>
Fast fast_event(std::uint64_t domain, Input input, Use&& use) noexcept {
  bool dropped = false;
  record::ThreadWriter* writer = enter_fast(dropped);
  if (__builtin_expect(writer == nullptr, 0)) return dropped ? Fast::dropped : Fast::no;
  if (writer->by_handle) {
    const std::uint64_t entry = handle_entry(domain, input);
    if (__builtin_expect(entry != 0, 1)) {
      const Fast result = use(*writer, entry);
      writer->leave();
      return result;
    }
  }
  record::SiteKey key;
  Fast result = Fast::no;
  if (__builtin_expect(make_key(domain, input, key), 1)) {
    const bool by_text = key.message_type() == NVTX_MESSAGE_TYPE_ASCII && key.message != 0;
    if (const record::CachedSite* site = writer->find(key, by_text)) {
      if (__builtin_expect(site->domain->hidden, 0)) {
        result = Fast::dropped;
      } else {
        const bool has_payload = key.payload_type() != 0;
        result = writer->is(record::RecordMode::armed)
                     ? use(*writer, site->entry)
                     : use(*writer, *site, has_payload ? payload_of(input) : 0, has_payload);
      }
    }
  }
  writer->leave();
  return result;
}

// What the slow path remembers the site under. False: nothing, or the thread has no writer yet.
template <typename Input>
bool remembered_key(std::uint64_t domain, Input input, record::SiteKey& key) noexcept {
  return thread_slot().writer != nullptr && make_key(domain, input, key);
}

inline Fast put_or_drop(record::ThreadWriter& writer, record::EntryKind kind, std::uint32_t subject,
                        std::uint64_t ticks, std::uint64_t bits, const std::uint64_t* words,
                        std::size_t count) noexcept {
  if (__builtin_expect(writer.put(kind, subject, ticks, bits, words, count), 1)) return Fast::done;
  // Tried again now and then: a ring's chunk may have come free.
  constexpr std::uint64_t retry = 1024;
  if (writer.loss_entry != nullptr && writer.dropped.count % retry != 0 && writer.drop_in_place()) {
    return Fast::dropped;
  }
  return Fast::no;
}

template <typename Input>
bool fast_push(nvtxDomainHandle_t handle, Input input, int& depth) noexcept {
  struct Push {
    int& depth;

    Fast operator()(record::ThreadWriter& writer, std::uint64_t entry) const noexcept {
      record::live_push(*writer.live, entry);
      return Fast::done;
    }
    Fast operator()(record::ThreadWriter& writer, const record::CachedSite& site,
                    std::uint64_t payload, bool has_payload) const noexcept {
      const std::uint64_t ticks = record::ticks_now();
      if (writer.is(record::RecordMode::stats)) {
        writer.opened_to_count(site.site, site.domain->id, ticks,
                               record::OpenStretch::of(site.stretch, payload));
      } else {
        auto* const entry = writer.cursor;
        const Fast written =
            put_or_drop(writer, record::EntryKind::push, site.site, ticks,
                        has_payload ? record::entry_payload_bit : 0, &payload, has_payload);
        if (written == Fast::no) return written;
        if (!writer.plain) {
          const bool may_go =
              written == Fast::done && site.stretch != nvtx::StretchKind::unfinished;
          writer.opened(site.site, site.domain->id, ticks, may_go ? entry : nullptr);
        }
      }
      record::live_push(*writer.live, site.entry);
      set_changed(writer, ticks);
      depth = site.domain->depth++;
      return Fast::done;
    }
  };
  depth = NVTX_NO_PUSH_POP_TRACKING;
  return fast_event(handle_bits(handle), input, Push{depth}) != Fast::no;
}

inline bool fast_pop(nvtxDomainHandle_t handle, int& depth, std::uint64_t& ticks) noexcept {
  depth = NVTX_NO_PUSH_POP_TRACKING;
  bool dropped = false;
  record::ThreadWriter* writer = enter_fast(dropped);
  if (writer == nullptr) return dropped;
  if (writer->is(record::RecordMode::armed)) {
    record::live_pop(*writer->live, handle_bits(handle));
    writer->leave();
    return true;
  }
  ticks = record::ticks_now();
  bool done = false;
  record::DomainCell* domain = writer->find_domain(handle_bits(handle));
  if (__builtin_expect(domain != nullptr, 1)) {
    if (domain->hidden) {
      done = true;
    } else if (writer->plain && domain->depth > 0) {
      done = put_or_drop(*writer, record::EntryKind::pop, domain->id, ticks, 0, nullptr, 0) !=
             Fast::no;
      if (done) depth = --domain->depth;
    } else if (domain->depth > 0 && writer->open_beyond == 0 && writer->open_count != 0 &&
               writer->open[writer->open_count - 1].domain == domain->id) {
      const record::OpenPush range = writer->open[writer->open_count - 1];
      const std::uint64_t duration = ticks - range.ticks;
      if (writer->is(record::RecordMode::stats)) {
        const record::OpenAround around = writer->around[writer->open_count - 1];
        const bool counts = writer->takes(range, duration);
        done = writer->can_count_awaited(range, counts) &&
               (!counts ||
                writer->count(range.site, record::EntryKind::push, duration,
                              duration > range.inner ? duration - range.inner : 0, around.same));
        if (done) writer->count_awaited(range, duration, counts);
        if (done && writer->open_count > 1) {
          writer->open[writer->open_count - 2].inner += duration;
          --writer->open_count;
          writer->leave_to_outer(range, around, duration, counts);
          ++writer->open_count;
        }
      } else {
        done = writer->take_back(range, ticks) ||
               put_or_drop(*writer, record::EntryKind::pop, domain->id, ticks, 0, nullptr, 0) !=
                   Fast::no;
      }
      if (done) {
        --writer->open_count;
        depth = --domain->depth;
      }
    }
    if (done && !domain->hidden) {
      record::live_pop(*writer->live, handle_bits(handle));
      set_changed(*writer, ticks);
    }
  }
  writer->leave();
  return done;
}

template <typename Input>
bool fast_mark(nvtxDomainHandle_t handle, Input input) noexcept {
  struct Mark {
    Fast operator()(record::ThreadWriter& writer, std::uint64_t) const noexcept {
      record::live_touch(*writer.live);
      return Fast::done;
    }
    Fast operator()(record::ThreadWriter& writer, const record::CachedSite& site,
                    std::uint64_t payload, bool has_payload) const noexcept {
      record::live_touch(*writer.live);
      if (writer.is(record::RecordMode::stats)) {
        return writer.count(site.site, record::EntryKind::mark, 0, 0, 0) ? Fast::done : Fast::no;
      }
      return put_or_drop(writer, record::EntryKind::mark, site.site, record::ticks_now(),
                         has_payload ? record::entry_payload_bit : 0, &payload, has_payload);
    }
  };
  return fast_event(handle_bits(handle), input, Mark{}) != Fast::no;
}

template <typename Input>
bool fast_start(nvtxDomainHandle_t handle, Input input, nvtxRangeId_t& id) noexcept {
  struct Start {
    nvtxRangeId_t& id;

    Fast operator()(record::ThreadWriter& writer, std::uint64_t entry) const noexcept {
      id = writer.next_range++;
      record::live_start(*writer.live, id, entry, 0);
      return Fast::done;
    }
    Fast operator()(record::ThreadWriter& writer, const record::CachedSite& site,
                    std::uint64_t payload, bool has_payload) const noexcept {
      id = writer.next_range;
      const std::uint64_t ticks = record::ticks_now();
      if (writer.is(record::RecordMode::stats)) {
        record::LiveStart* const place = record::live_free_start(*writer.live);
        if (place == nullptr) return Fast::no;
        ++writer.next_range;
        record::live_start_at(*writer.live, *place, id, site.entry, ticks);
        return Fast::done;
      }
      const std::uint64_t words[] = {id, payload};
      const Fast written =
          put_or_drop(writer, record::EntryKind::start, site.site, ticks,
                      has_payload ? record::entry_payload_bit : 0, words, has_payload ? 2 : 1);
      if (written == Fast::no) return written;
      ++writer.next_range;
      record::live_start(*writer.live, id, site.entry, ticks);
      return written;
    }
  };
  id = 0;
  return fast_event(handle_bits(handle), input, Start{id}) != Fast::no;
}

inline bool fast_end(nvtxDomainHandle_t handle, nvtxRangeId_t id, std::uint64_t& ticks) noexcept {
  bool dropped = false;
  record::ThreadWriter* writer = enter_fast(dropped);
  if (writer == nullptr) return dropped;
  bool done = writer->is(record::RecordMode::armed);
  if (!done) {
    ticks = record::ticks_now();
    record::DomainCell* domain = writer->find_domain(handle_bits(handle));
    if (__builtin_expect(domain != nullptr, 1)) {
      if (domain->hidden) {
        done = true;
      } else if (writer->is(record::RecordMode::stats)) {
        done = count_started(*writer, id, ticks);
      } else {
        done =
            put_or_drop(*writer, record::EntryKind::end, domain->id, ticks, 0, &id, 1) != Fast::no;
      }
    }
  }
  if (done) {
    if (!writer->is(record::RecordMode::stats)) end_started(id);
    record::live_touch(*writer->live);
  }
  writer->leave();
  return done;
}

}  // namespace nvspan::inject
