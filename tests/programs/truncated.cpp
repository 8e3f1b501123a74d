// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Makes events before and after its recording is cut: truncated FILE SIZE THREADS EVENTS HOW, where
// HOW is what it does about SIGBUS itself and with which event: see main().

#include <nvtx3/nvToolsExt.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::uintptr_t page = 4096;
volatile sig_atomic_t handled;
bool on_stack;
bool blocked[3];  // SIGUSR1, SIGUSR2, SIGBUS, as the handler finds them
std::uintptr_t fault;
char alternate[64 * 1024];

void look() {
  char here = 0;
  on_stack = &here >= alternate && &here < alternate + sizeof alternate;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  blocked[0] = sigismember(&mask, SIGUSR1) == 1;
  blocked[1] = sigismember(&mask, SIGUSR2) == 1;
  blocked[2] = sigismember(&mask, SIGBUS) == 1;
}

// Makes the page whole again, as a program does that uses SIGBUS for itself.
void repair(std::uintptr_t address) {
  mmap(reinterpret_cast<void*>(address & ~(page - 1)), page, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
void with_info(int, siginfo_t* info, void*) {
  ++handled;
  look();
  fault = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (info->si_code > 0) repair(fault);
}
char* own_page;
void plain(int) {
  ++handled;
  look();
  if (own_page != nullptr) repair(reinterpret_cast<std::uintptr_t>(own_page));
}

// A page of a file that is then made empty: touching it raises SIGBUS.
char* broken_page() {
  char name[] = "/tmp/nvspan-truncated-XXXXXX";
  const int fd = mkstemp(name);
  if (fd < 0 || ftruncate(fd, page) != 0) std::exit(3);
  unlink(name);
  void* at = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED || ftruncate(fd, 0) != 0) std::exit(4);
  close(fd);
  return static_cast<char*>(at);
}

void install(const std::string& how) {
  stack_t stack = {};
  stack.ss_sp = alternate;
  stack.ss_size = sizeof alternate;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  if (how == "info") {
    action.sa_sigaction = with_info;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaddset(&action.sa_mask, SIGUSR1);
  } else if (how == "plain") {
    action.sa_handler = plain;
    action.sa_flags = SA_NODEFER;
    sigaddset(&action.sa_mask, SIGUSR2);
  } else if (how == "once") {
    action.sa_handler = plain;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
  } else if (how == "ignore") {
    action.sa_handler = SIG_IGN;
  } else {
    return;
  }
  sigaction(SIGBUS, &action, nullptr);
}

void events(long count) {
  for (long i = 0; i < count; ++i) {
    nvtxRangePushA("range");
    nvtxMarkA("mark");
    nvtxRangePop();
  }
}
void events_in_threads(int threads, long count) {
  std::vector<std::thread> running;
  for (int i = 1; i < threads; ++i) running.emplace_back(events, count);
  events(count);
  for (std::thread& thread : running) thread.join();
}

void show(const char* what) {
  std::printf("%s: handled %d, stack %d, blocked %d%d%d\n", what, static_cast<int>(handled),
              on_stack, blocked[0], blocked[1], blocked[2]);
  handled = 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const std::string how = argv[5];
  const int threads = std::atoi(argv[3]);
  const long count = std::atol(argv[4]);
  const bool late = argc > 6;  // the handler comes after the recording began
  if (!late) install(how);
  events_in_threads(threads, count);
  if (late) install(how);
  if (late) std::thread(events, 1).join();  // a new thread takes the recorder's careful path
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open(argv[1], O_WRONLY);
    _exit(fd >= 0 && ftruncate(fd, std::atol(argv[2])) == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) return 5;
  events_in_threads(threads, count);
  show("recording");
  std::fflush(stdout);
  if (how == "ignore") {
    raise(SIGBUS);
    show("sent");
    std::fflush(stdout);
  }
  own_page = broken_page();
  own_page[1] = 1;
  show("own");
  if (how == "once") {
    struct sigaction now = {};
    sigaction(SIGBUS, nullptr, &now);
    std::printf("default %d\n", now.sa_handler == SIG_DFL);
    return 0;
  }
  own_page = nullptr;
  raise(SIGBUS);
  show("sent");
}
