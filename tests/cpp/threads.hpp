// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What tests of many threads share: threads that are waited for, and a program's side of NVTX.

#pragma once

#include <string>
#include <thread>
#include <vector>

namespace nvspan_test {

// Calls work(i) in so many threads, meanwhile() here, and waits for all.
template <typename Work, typename Meanwhile>
void in_threads(int count, const Work& work, Meanwhile&& meanwhile) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  meanwhile();
  for (std::thread& thread : threads) thread.join();
}
template <typename Work>
void in_threads(int count, const Work& work) {
  in_threads(count, work, [] {});
}

}  // namespace nvspan_test
