// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a C++ program does with nvtx3.hpp: domains, registered strings, categories, payloads,
// colors, nesting, threads, and a range that another thread ends.

#include <nvtx3/nvtx3.hpp>

#include <unistd.h>

#include <thread>

namespace {

struct library {
  static constexpr char const* name{"a library"};
};
struct io {
  static constexpr char const* name{"io"};
  static constexpr std::uint32_t id{3};
};
struct kept_message {
  static constexpr char const* message{"kept"};
};

void rest() { usleep(200); }

void step(int number) {
  nvtx3::scoped_range_in<library> step{"step", nvtx3::payload{std::int64_t{number}},
                                       nvtx3::rgb{10, 20, 30}};
  rest();
  for (int i = 0; i < 3; ++i) {
    nvtx3::scoped_range read{"read", nvtx3::category{2}};
    rest();
    nvtx3::mark_in<library>("found", nvtx3::payload{1.5});
    rest();
  }
  nvtx3::scoped_range_in<library> kept{nvtx3::registered_string_in<library>::get<kept_message>(),
                                       nvtx3::named_category_in<library>::get<io>()};
  rest();
}

}  // namespace

int main() {
  for (int i = 0; i < 3; ++i) step(i);
  const nvtx3::range_handle handle = nvtx3::start_range_in<library>("shared");
  rest();
  std::thread([&] {
    NVTX3_FUNC_RANGE();
    rest();
    nvtx3::end_range_in<library>(handle);
    rest();
  }).join();
  nvtx3::mark(L"wide \u20ac");
}
