// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "nccl/communicator.hpp"

#include <cstdio>

#include "cuda/model/outcome_counts.hpp"

namespace nvspan::nccl {

namespace {

constexpr uint32_t color = 0x76B900;

annotate::Domain& nccl_domain() {
  const std::string name = "NCCL";  // the domain of NCCL's own ranges
  return annotate::Domain::get(&name);
}

// What a reader tells communicators and ranks apart by: docs/distributed.md.
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
      category_(domain_.category_id(category_name(id, ranks, rank))) {}

Communicator::~Communicator() {
  while (Operation* operation = newest_) {
    operation->give_up();
    forget(operation);
  }
}

annotate::ReadyEvent& Communicator::event_of(const char* function) {
  for (const std::unique_ptr<Function>& known : functions_) {
    if (known->address == function) return known->event;
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
  return made.event;
}

Operation* Communicator::begin(const char* function, uint64_t sequence,
                               unsigned channels) noexcept {
  if (channels == 0 || channels > Operation::most_channels) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  if (open_ >= most_open) {
    cuda::outcome_counts().add(cuda::Outcome::full);
    return nullptr;
  }
  cuda::DeviceRange* range = cuda::begin_given(event_of(function), sequence, context_, id_);
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

}  // namespace nvspan::nccl
