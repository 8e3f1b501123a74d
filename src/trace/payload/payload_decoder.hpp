// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Payload bytes as named fields. Nothing that a program says of its payloads is believed: what does
// not fit into the bytes that there are, nests deeper than most_payload_depth or has more than
// most_payload_values values is refused, and costs no more than that.

#pragma once

#include "core/immovable.hpp"
#include "trace/payload/payload.hpp"
#include "trace/payload/payload_schema.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::trace {

constexpr unsigned most_payload_depth = 16;
constexpr std::size_t most_payload_values = 128 * 1024;
constexpr std::size_t most_payload_text = 4 * 1024 * 1024;  // of names and texts together

struct PayloadValue {
  enum class Kind : std::uint8_t { integer, count, real, text, bytes };
  Kind kind = Kind::count;
  union {
    std::int64_t integer;
    std::uint64_t count = 0;
    double real;
  };
  std::string_view text;   // of text and bytes
  std::string_view label;  // what a number is called; absent: nothing
  std::uint64_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t offset = 0;             // in its piece
  const PayloadEntry* entry = nullptr;  // null: of a predefined type
};

// Takes the fields in their order. False: that is enough, the rest is not read.
class PayloadVisitor : public core::Immovable {
 public:
  virtual ~PayloadVisitor() = default;

  // Elements of a list have no name. Text is valid during the call.
  virtual bool value(std::string_view, const PayloadValue&) { return true; }
  virtual bool begin(std::string_view, bool /* is_list */) { return true; }
  virtual bool end(bool /* is_list */) { return true; }
  // Whether it is told of what is not to be shown.
  virtual bool takes_hidden() const { return false; }
};

// What numbers in a payload stand for; absent: not known.
class PayloadNames : public core::Immovable {
 public:
  virtual ~PayloadNames() = default;

  virtual std::string_view string(std::uint64_t /* domain */, std::uint64_t /* handle */) const {
    return {};
  }
  virtual std::string_view category(std::uint64_t /* domain */, std::uint32_t /* number */) const {
    return {};
  }
};

// What a payload is read with. With `own_fields` those are left out that say when a deferred event
// was, and what it is called.
struct PayloadReading {
  std::uint64_t domain;
  const PayloadNames& names;
  PayloadVisitor& visitor;
  bool own_fields = false;
};

enum class PayloadResult : std::uint8_t {
  whole,
  stopped,  // by the visitor
  unknown,  // a schema that was not registered
  does_not_fit,
  too_deep,
  too_large,
  unsupported,
};
std::string_view payload_result_text(PayloadResult result);

class PayloadDecoder {
 public:
  PayloadDecoder(const SchemaTable& table, core::PagePool& pool)
      : table_(table), room_(pool), text_(pool), positions_(pool) {}

  // A place for pieces that is not on the stack, which may be that of a signal handler.
  core::PoolVector<PayloadPiece>& room() noexcept { return room_; }

  // The fields of all pieces, one after the other. Throws std::bad_alloc.
  PayloadResult decode(const PayloadReading& reading, const PayloadPiece* pieces,
                       std::size_t count);

  // The first of the events that lie in `data` one after the other; `used` is its size, never 0.
  PayloadResult decode_first(const PayloadReading& reading, std::uint64_t schema,
                             std::string_view data, std::uint64_t& used);

 private:
  static constexpr std::size_t most_dimensions = 8;
  struct Lengths {
    std::uint64_t sizes[most_dimensions];
    std::size_t count = 0;
  };

  struct Place {
    std::uint64_t at;
    std::string_view name;
    unsigned depth;
  };

  void start(const PayloadReading& reading);
  bool fail(PayloadResult why) {
    result_ = why;
    return false;
  }
  bool unless_stopped(bool goes_on) { return goes_on || fail(PayloadResult::stopped); }
  bool fits(std::uint64_t at, std::uint64_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }
  bool step(std::size_t text);

  bool piece(const PayloadPiece& piece);
  bool predefined(std::uint64_t type);
  bool fields(const PayloadSchema& schema, std::uint64_t base, unsigned depth, std::uint64_t& end);
  bool entry(const PayloadSchema& schema, std::size_t index, std::size_t frame, const Place& place,
             std::uint64_t& end);
  bool one(const PayloadEntry* entry, std::uint64_t type, const Place& place, std::uint64_t& end);
  bool member(const PayloadSchema& chosen, std::uint64_t selected, const Place& place,
              std::uint64_t& end);
  bool list(const PayloadEntry& entry, const Lengths& lengths, std::size_t dimension, Place& place);
  bool text(const PayloadEntry* entry, std::uint64_t type, std::uint64_t at, std::uint64_t units,
            std::string_view name);
  bool scalar(const PayloadEntry* entry, std::uint64_t type, std::uint64_t at,
              std::string_view name, std::uint64_t size);
  bool labelled(const PayloadEntry* entry, const PayloadEnum& known, std::uint64_t at,
                std::string_view name);
  bool lengths_of(const PayloadSchema& schema, const PayloadEntry& entry, std::size_t index,
                  std::size_t frame, Lengths& lengths);
  bool lengths_at(const PayloadEntry& entry, std::uint64_t at, Lengths& lengths);
  bool integer_at(std::uint64_t type, std::uint64_t at, std::uint64_t& value) const;
  bool terminated(std::uint64_t unit, std::uint64_t at, std::uint64_t& count) const;
  bool is_left_out(const PayloadSchema& schema, const PayloadEntry& entry) const;

  const SchemaTable& table_;
  core::PoolVector<PayloadPiece> room_;
  std::uint64_t domain_ = 0;
  const PayloadPiece* pieces_ = nullptr;
  std::size_t piece_count_ = 0;
  const PayloadNames* names_ = nullptr;
  PayloadVisitor* visitor_ = nullptr;
  bool own_fields_ = false;
  PayloadResult result_ = PayloadResult::whole;
  std::string_view bytes_;
  std::size_t values_ = 0;
  std::size_t text_bytes_ = 0;
  core::PoolString text_;
  core::PoolVector<std::uint64_t> positions_;  // of the entries of the structs that are being read
};

}  // namespace nvspan::trace
