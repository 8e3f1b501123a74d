// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lines/copier.hpp"
#include "lines/python_thread.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace nvspan::lines {

// The threads of all interpreters, from their own lists, without the lock of these: a link counts
// where both of its ends agree.
class PythonThreads {
 public:
  PythonThreads(MemoryCopier& copier, const nvspan_layout& layout);

  // Whether the layout leads to the threads' ids of the operating system; `ident` is the caller's.
  bool can_tell_threads(std::uint64_t ident);

  // The threads at this look, which the list keeps. False: it could not be read to its end.
  bool read(std::vector<PythonThread*>& found);
  // The numbers of threads that have ended since the last call; only after a read() that was true.
  void take_ended(std::vector<std::uint32_t>& numbers);
  // Nobody looks at them any more: the numbers of all.
  void end_all(std::vector<std::uint32_t>& numbers);

 private:
  // A thread's state in the order of the lists at the last look, which hardly changes.
  struct Listed {
    Address state;
    PythonThread* thread;
  };

  void copy_known();
  const Listed* find_listed(Address state);
  const char* state_at(Address address, const Listed* listed);
  bool next_interpreter(std::size_t number, Address interpreter, Address& next, Address& first);
  bool read_threads(Address interpreter, Address first, std::vector<PythonThread*>& found,
                    std::vector<Listed>& listed);
  void adopt(PythonThread& thread, Address address, std::uint64_t id, std::uint64_t ident,
             const char* state);

  MemoryCopier& copier_;
  const nvspan_layout& layout_;
  std::size_t state_bytes_;
  std::int32_t tid_offset_ = -1;  // in the thread's descriptor, where PyThreadState has no tid
  std::uint32_t look_ = 0;
  std::uint32_t next_turn_ = 0;
  std::vector<std::uint32_t> ended_;  // another one has its PyThreadState
  std::unordered_map<Address, PythonThread> threads_;
  std::vector<Address> interpreters_;
  std::vector<iovec> ranges_;
  std::vector<char> copy_;
  std::vector<Listed> listed_;
  std::size_t next_listed_ = 0;    // that the lists have not come to
  std::size_t listed_offset_ = 0;  // of the first one in the copy
  std::vector<char> one_;
};

}  // namespace nvspan::lines
