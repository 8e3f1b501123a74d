// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads, contexts and graphs of device ranges, on the fake driver. Made to run under the
// sanitizers:
//   device_ranges_test PATH_OF_libnvspan_inject.so PATH_OF_fake_libcuda.so

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "annotate/event/event.hpp"
#include "cuda/device_ranges.hpp"
#include "expect.hpp"
#include "threads.hpp"

using nvspan::annotate::Domain;
using nvspan::annotate::ReadyEvent;
namespace cuda = nvspan::cuda;

using nvspan_test::expect;
using nvspan_test::failures;

namespace {

// The program's own use of CUDA.
struct Program {
  void* library = nullptr;
  void* context = nullptr;
  void* spin = nullptr;

  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    return reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name))(arguments...);
  }

  explicit Program(const char* path) : library(dlopen(path, RTLD_NOW)) {
    call("cuInit", 0u);
    use_primary();
    void* module = nullptr;
    call("cuModuleLoadData", &module, static_cast<const void*>("spin"));
    call("cuModuleGetFunction", &spin, module, "spin");
  }

  void use_primary() {
    call("cuDevicePrimaryCtxRetain", &context, 0);
    call("cuCtxSetCurrent", context);
  }

  void* stream() const {
    void* made = nullptr;
    call("cuStreamCreate", &made, 1u);
    return made;
  }

  void launch(void* stream, uint64_t ns) const {
    void* arguments[] = {&ns};
    call("cuLaunchKernel", spin, 1u, 1u, 1u, 1u, 1u, 1u, 0u, stream, arguments,
         static_cast<void**>(nullptr));
  }
};

struct Message {
  std::string text;
  ReadyEvent event;

  Message(Domain& domain, std::string given) : text(std::move(given)) {
    event.domain = &domain;
    event.set_text(text.c_str(), text.size());
  }
};

cuda::DeviceRange* begin(ReadyEvent& event, void* stream, cuda::Backend backend,
                         bool timed = false) {
  cuda::Options options;
  options.backend = backend;
  options.timed = timed;
  const cuda::Target target{static_cast<cuda::StreamHandle>(stream), -1};
  return cuda::begin_range(&event, nvspan::annotate::listening_tool(), options, target);
}

void end(cuda::DeviceRange* range) {
  if (!range) return;
  cuda::end_range(range, nullptr);
  cuda::release(range);
}

uint64_t sent() {
  return cuda::outcome_counts().get(cuda::Outcome::sent_callback) +
         cuda::outcome_counts().get(cuda::Outcome::sent_exact);
}

void hammer(const Program& program, ReadyEvent& event, cuda::Backend backend, int rounds) {
  program.call("cuCtxSetCurrent", program.context);
  void* stream = program.stream();
  for (int i = 0; i < rounds; ++i) {
    cuda::DeviceRange* range = begin(event, stream, backend, i % 3 == 0);
    program.launch(stream, 1000);
    end(range);
  }
}

void threads_share_everything(const Program& program, ReadyEvent& event) {
  const uint64_t before = sent();
  constexpr int rounds = 60;
  const auto work = [&](int i) {
    const auto backend = i % 2 == 0 ? cuda::Backend::exact : cuda::Backend::callback;
    hammer(program, event, backend, rounds);
  };
  nvspan_test::in_threads(6, work, [] {
    for (int i = 0; i < 5; ++i) cuda::flush(0.01);
  });
  expect(cuda::flush(60), "flushed");
  expect(sent() - before == 6 * rounds, "every range is told: " + std::to_string(sent() - before));
}

void graphs_come_and_go(const Program& program, ReadyEvent& event, cuda::Backend backend) {
  const uint64_t before = sent();
  void* stream = program.stream();
  constexpr int rounds = 20;
  for (int i = 0; i < rounds; ++i) {
    program.call("cuStreamBeginCapture_v2", stream, 0);
    end(begin(event, stream, backend));
    program.launch(stream, 1000);
    end(begin(event, stream, backend));
    void* graph = nullptr;
    expect(program.call("cuStreamEndCapture", stream, &graph) == 0, "the capture is not spoiled");
    void* executable = nullptr;
    program.call("cuGraphInstantiateWithFlags", &executable, graph, 0ull);
    program.call("cuGraphDestroy", graph);
    for (int replay = 0; replay < 3; ++replay) program.call("cuGraphLaunch", executable, stream);
    program.call("cuGraphExecDestroy", executable);
  }
  program.call("cuStreamSynchronize", stream);
  expect(cuda::flush(60), "flushed");
  expect(sent() - before == rounds * 2 * 3, "every replay: " + std::to_string(sent() - before));
}

void contexts_come_and_go(Program& program, ReadyEvent& event) {
  for (const auto backend : {cuda::Backend::exact, cuda::Backend::callback}) {
    for (int i = 0; i < 5; ++i) {
      void* context = nullptr;
      program.call("cuCtxCreate_v2", &context, 0u, 0);
      void* stream = program.stream();
      end(begin(event, stream, backend));
      cuda::DeviceRange* open = begin(event, stream, backend);
      cuda::flush(30);  // our thread is not in a context that is being destroyed
      program.call("cuCtxDestroy_v2", context);
      end(open);
      program.call("cuDevicePrimaryCtxReset_v2", 0);
      program.use_primary();
      stream = program.stream();
      end(begin(event, stream, backend));
      expect(cuda::flush(30), "flushed after a reset");
    }
  }
}

// A context dies while our thread reads what its ranges left, and both find that out at once.
// Between its question whether the context lives and its next call our thread may use a dead
// handle, so misuses are not counted from here on.
void contexts_die_while_they_are_read(const Program& program, ReadyEvent& event) {
  std::thread([&] {
    for (int i = 0; i < 40; ++i) {
      void* context = nullptr;
      program.call("cuCtxCreate_v2", &context, 0u, 0);
      void* stream = program.stream();
      const auto backend = i % 2 ? cuda::Backend::exact : cuda::Backend::callback;
      for (int k = 0; k < 20; ++k) end(begin(event, stream, backend));
      cuda::DeviceRange* open = begin(event, stream, backend);
      // Host functions that the driver drops with their context keep what they would have let go.
      if (backend == cuda::Backend::callback) program.call("cuCtxSynchronize");
      if (i % 3) program.call("cuStreamSynchronize", stream);
      program.call("cuCtxDestroy_v2", context);
      end(open);
    }
  }).join();
  expect(cuda::flush(30), "flushed after contexts died");
}

}  // namespace

int main(int count, char** values) {
  if (count != 3) return 2;
  setenv("NVSPAN_LIBCUDA", values[2], 1);
  const std::string problem =
      nvspan::annotate::attach_tool(values[1], "format=jsonl;file=/dev/null");
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    return 2;
  }
  Program program(values[2]);
  const std::string name = "device";
  Message message(Domain::get(&name), "work");
  threads_share_everything(program, message.event);
  graphs_come_and_go(program, message.event, cuda::Backend::exact);
  graphs_come_and_go(program, message.event, cuda::Backend::callback);
  contexts_come_and_go(program, message.event);
  const auto misuses =
      reinterpret_cast<unsigned long long (*)()>(dlsym(program.library, "fake_cuda_misuses"))();
  expect(misuses == 0, "no dead handle is used: " + std::to_string(misuses));
  contexts_die_while_they_are_read(program, message.event);
  end(begin(message.event, program.stream(), cuda::Backend::exact));
  cuda::shut_down(5);
  expect(begin(message.event, program.stream(), cuda::Backend::exact) == nullptr,
         "nothing is placed at exit");
  return failures() == 0 ? 0 : 1;
}
