// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "nccl/communicator.hpp"

#include <algorithm>
#include <cstdio>

#include "cuda/model/outcome_counts.hpp"

namespace nvspan::nccl {

namespace {

constexpr uint32_t color = 0x76B900;

annotate::Domain& nccl_domain() {
  const std::string name = "NCCL";  // the domain of NCCL's own ranges
  return annotate::Domain::get(&name);
}

// For people: readers have the rank and size of the ranges' payload.
std::string category_name(uint64_t id, int ranks, int rank) {
  char text[96];
  std::snprintf(text, sizeof text, "communicator %016llx, rank %d of %d",
                static_cast<unsigned long long>(id), rank, ranks);
  return text;
}

}  // namespace

Communicator::Communicator(cuda::DeviceContext& context, uint64_t id, int ranks, int rank)
    : context_(context),
      domain_(nccl_domain()),
      id_(id),
      rank_(static_cast<uint32_t>(rank)),
      ranks_(static_cast<uint32_t>(ranks)),
      category_(domain_.category_id(category_name(id, ranks, rank))) {}

Communicator::~Communicator() {
  while (Operation* operation = newest_) {
    operation->give_up();
    forget(operation);
  }
}

Communicator::Function& Communicator::function_of(const char* function) {
  for (const std::unique_ptr<Function>& known : functions_) {
    if (known->address == function) return *known;
  }
  functions_.push_back(std::make_unique<Function>());
  Function& made = *functions_.back();
  made.address = function;
  made.name = function ? function : "operation";
  made.event.domain = &domain_;
  made.event.attributes.category = category_;
  made.event.attributes.color = color;
  made.event.set_text(made.name.data(), made.name.size());
  domain_.request_message(made.name);
  return made;
}

Operation* Communicator::begin_collective(const char* function, uint64_t sequence,
                                          unsigned channels) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  Function& of = function_of(function);
  const uint64_t number = std::max(sequence, of.next);
  of.next = number + 1;
  return begin(of, number, channels);
}

Operation* Communicator::begin_pair(const char* function, uint64_t peer,
                                    unsigned channels) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  return begin(function_of(function), peer, channels);
}

Operation* Communicator::begin(Function& function, uint64_t number, unsigned channels) noexcept {
  if (channels == 0 || channels > Operation::most_channels) return nullptr;
  if (open_ >= most_open) {
    cuda::outcome_counts().add(cuda::Outcome::full);
    return nullptr;
  }
  cuda::DeviceRange* range =
      cuda::begin_external(function.event, number, context_, id_,
                           annotate::GroupPlace{static_cast<uint32_t>(number), rank_, ranks_});
  if (!range) return nullptr;
  auto* operation = new Operation(*this, range, context_, channels);
  operation->after = newest_;
  if (newest_) newest_->before = operation;
  newest_ = operation;
  ++open_;
  return operation;
}

void Communicator::forget(Operation* operation) noexcept {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    (operation->before ? operation->before->after : newest_) = operation->after;
    if (operation->after) operation->after->before = operation->before;
    --open_;
  }
  delete operation;
}

namespace {

template <class Better>
void keep(std::atomic<uint64_t>& kept, uint64_t time, Better better) noexcept {
  uint64_t now = kept.load(std::memory_order_relaxed);
  while (better(time, now) && !kept.compare_exchange_weak(now, time, std::memory_order_relaxed)) {
  }
}

}  // namespace

Handle* Operation::channel_began(uint64_t time) noexcept {
  const uint32_t number = begun_.fetch_add(1, std::memory_order_relaxed);
  if (number >= channels_) return nullptr;
  if (number == 0) cuda::external_began(range_);
  keep(begin_, time, [](uint64_t a, uint64_t b) { return a < b; });
  channel_handles_[number] = {this, true};
  return &channel_handles_[number];
}

void Operation::channel_stopped(uint64_t time) noexcept {
  keep(end_, time, [](uint64_t a, uint64_t b) { return a > b; });
  if (stopped_.fetch_add(1, std::memory_order_acq_rel) + 1 != channels_) return;
  cuda::end_external(range_, context_, static_cast<int64_t>(begin_.load()),
                     static_cast<int64_t>(end_.load()));
  range_ = nullptr;
}

void Operation::give_up() noexcept {
  if (range_) cuda::drop_external(range_);
  range_ = nullptr;
}

}  // namespace nvspan::nccl
