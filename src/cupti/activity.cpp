// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "cupti/activity.hpp"

#include "cupti/buffers.hpp"
#include "cupti/flusher.hpp"
#include "cupti/graph_nodes.hpp"
#include "cupti/launch_calls.hpp"
#include "cupti/library.hpp"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>

namespace nvspan::cupti {
namespace {

constexpr std::size_t most_ids = SeenCall::places / 2;
constexpr std::uint8_t no_function = 0xFF;

// Never destroyed: CUPTI's thread may call until the very end of the process.
struct TakenActivity {
  const CuptiFunctions* functions = nullptr;  // not null from the first time that it began
  ActivityTaker taker = {};
  ActivityBuffers buffers;
  GraphNodes nodes;
  std::atomic<std::uint64_t> capture_began{0};  // the last one that goes on; 0: none does
  Flusher flusher;
  void* subscriber = nullptr;  // null: it has not begun
  std::atomic<pid_t> pid{0};   // of the process in which it has
  bool needs_buffers = false;  // first_without_buffers
  std::atomic<bool> all_calls{false};
  bool graphs_whole = false;  // unless somebody asked for nodes
  std::mutex asking;
  unsigned askers = 0;                  // for nodes
  std::atomic<std::uint32_t> begun{0};  // how often it has
  std::atomic<bool> takes{false};
  std::atomic<std::uint64_t> delivered{0};  // when the last buffer came, or the taking began
  std::uint8_t function_of[SeenCall::places] = {};  // by domain and id

  // Of one that launches work, as all of its versions are called; null: of another one.
  const char* name_of(std::uint32_t place) const {
    const std::uint8_t function = function_of[place];
    return function == no_function ? nullptr : launch_functions().first[function].name;
  }
};

TakenActivity& activity() noexcept {
  alignas(TakenActivity) static unsigned char storage[sizeof(TakenActivity)];
  static TakenActivity* const instance = ::new (storage) TakenActivity;
  return *instance;
}

// In a forked child there is no CUPTI, whatever its memory says.
bool is_in_child(const TakenActivity& self) noexcept { return self.pid != ::getpid(); }

// --- launches ------------------------------------------------------------------------------------

// The calls of a thread that have not returned: one of the runtime calls one of the driver.
struct OpenCalls {
  static constexpr unsigned most = 4;
  struct {
    std::uint64_t begin;
    std::uint32_t correlation;
  } calls[most];
  unsigned depth;
  std::uint32_t begun;  // of TakenActivity: what is open in an earlier taking never returns
};
__thread OpenCalls open_calls __attribute__((tls_model("initial-exec")));

// nvspan's own kernels are not the program's work.
bool is_own(const char* kernel) noexcept {
  return kernel != nullptr && std::strncmp(kernel, "nvspan_", 7) == 0;
}

void end_call(const TakenActivity& self, std::uint32_t place, const CuptiCall& call) {
  OpenCalls& open = open_calls;
  if (open.depth == 0 || open.begun != self.begun) return;  // it began before the taking did
  if (--open.depth >= OpenCalls::most) return;
  const auto& own = open.calls[open.depth];
  if (own.correlation != call.correlation_id || is_own(call.symbol_name)) return;
  // The call around it stands for both where CUPTI gives both one number.
  if (!self.all_calls && open.depth != 0 &&
      open.calls[open.depth - 1].correlation == own.correlation) {
    return;
  }
  const char* const name = place == SeenCall::no_place ? nullptr : self.name_of(place);
  self.taker.called(SeenCall{place, name == nullptr ? call.function_name : name, own.begin,
                             self.taker.clock(), own.correlation});
}

// --- graphs --------------------------------------------------------------------------------------

bool is_one_of(std::uint32_t id, const std::uint32_t* begin, const std::uint32_t* end) {
  return std::find(begin, end, id) != end;
}

// When the capture of this thread began. Threads of autograd launch into one that began on another.
__thread std::uint64_t own_capture_began __attribute__((tls_model("initial-exec")));

void see_capture(TakenActivity& self, std::uint32_t id, CuptiSite site) {
  if (is_one_of(id, std::begin(begin_capture_ids), std::end(begin_capture_ids))) {
    if (site != CuptiSite::enter) return;
    own_capture_began = self.taker.clock();
    self.capture_began.store(own_capture_began);
  } else if (is_one_of(id, std::begin(end_capture_ids), std::end(end_capture_ids))) {
    if (site != CuptiSite::exit) return;
    self.capture_began.compare_exchange_strong(own_capture_began, 0);
    own_capture_began = 0;
  }
}

void see_node(TakenActivity& self, std::uint32_t id, const CuptiGraph& graph) {
  const auto number_of = [&](void* node) {
    std::uint64_t number = 0;
    const bool is_known = self.functions->graph_node(node, &number) == cupti_success;
    return is_known ? number : 0;
  };
  const std::uint64_t number = number_of(graph.node);
  if (number == 0) return;
  if (id == graph_node_cloned) return self.nodes.cloned(number_of(graph.original_node), number);
  if (id == graph_node_destroyed) return self.nodes.destroyed(number);
  if (id != graph_node_created) return;
  SeenNode node;
  node.tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  node.made = self.taker.clock();
  node.capture_began = own_capture_began != 0 ? own_capture_began : self.capture_began.load();
  self.nodes.made(number, node);
}

void on_resource(TakenActivity& self, std::uint32_t id, const CuptiResource& resource) {
  if (resource.descriptor == nullptr || self.functions->graph_node == nullptr) return;
  try {
    see_node(self, id, *static_cast<const CuptiGraph*>(resource.descriptor));
  } catch (...) {
    return;  // no memory: as a node that was captured before the recording
  }
}

void on_call(void*, CuptiDomain domain, std::uint32_t id, const void* data) {
  TakenActivity& self = activity();
  if (!self.takes.load(std::memory_order_acquire)) return;
  if (domain == CuptiDomain::resource) {
    return on_resource(self, id, *static_cast<const CuptiResource*>(data));
  }
  const bool is_driver = domain == CuptiDomain::driver;
  if (!is_driver && domain != CuptiDomain::runtime) return;
  const std::uint32_t place = id < most_ids ? (is_driver ? 0 : most_ids) + id : SeenCall::no_place;
  const bool is_launch = place != SeenCall::no_place && self.function_of[place] != no_function;
  const auto& call = *static_cast<const CuptiCall*>(data);
  if (is_driver && !is_launch) see_capture(self, id, call.site);
  if (!is_launch && !self.all_calls) return;
  if (call.site == CuptiSite::exit) return end_call(self, place, call);
  OpenCalls& open = open_calls;
  const std::uint32_t begun = self.begun;
  if (open.begun != begun) open = OpenCalls{{}, 0, begun};
  if (open.depth < OpenCalls::most) {
    open.calls[open.depth] = {self.taker.clock(), call.correlation_id};
  }
  ++open.depth;
}

template <typename Use>
void each_launch_id(Use&& use) {
  std::uint8_t number = 0;
  for (const LaunchFunction& function : launch_functions()) {
    for (const std::uint16_t id : function.ids) {
      if (id != 0) use(function.domain, id, number);
    }
    ++number;
  }
}

// An older CUPTI knows fewer ids.
void enable_calls(const TakenActivity& self) {
  const auto enable = [&](CuptiDomain domain, std::uint32_t id) {
    self.functions->enable_callback(1, self.subscriber, domain, id);
  };
  for (const std::uint32_t id : {graph_node_created, graph_node_destroyed, graph_node_cloned}) {
    enable(CuptiDomain::resource, id);
  }
  if (self.all_calls) {
    self.functions->enable_domain(1, self.subscriber, CuptiDomain::driver);
    self.functions->enable_domain(1, self.subscriber, CuptiDomain::runtime);
    return;
  }
  each_launch_id([&](CuptiDomain domain, std::uint16_t id, std::uint8_t) { enable(domain, id); });
  for (const std::uint32_t id : begin_capture_ids) enable(CuptiDomain::driver, id);
  for (const std::uint32_t id : end_capture_ids) enable(CuptiDomain::driver, id);
}

// Once: callbacks that are under way when a taking ends may still look at it.
void prepare(TakenActivity& self, const CuptiFunctions& functions, const ActivityTaker& taker) {
  if (self.functions != nullptr) return;
  std::memset(self.function_of, no_function, sizeof self.function_of);
  each_launch_id([&](CuptiDomain domain, std::uint16_t id, std::uint8_t number) {
    self.function_of[(domain == CuptiDomain::driver ? 0 : most_ids) + id] = number;
  });
  std::uint32_t version = 0;
  functions.version(&version);
  self.needs_buffers = version < first_without_buffers;
  self.functions = &functions;
  self.taker = taker;
}

// --- records -------------------------------------------------------------------------------------

void on_request(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  TakenActivity& self = activity();
  ActivityBuffers::Buffer taken = self.buffers.take();
  if (taken.begin == nullptr && self.needs_buffers) taken = self.buffers.take_spare();
  *buffer = taken.begin;
  *size = taken.size;
  *records = 0;  // as many as fit
}

void on_completion(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                   std::size_t valid) {
  TakenActivity& self = activity();
  if (is_in_child(self)) return;
  constexpr std::size_t at_once = 128;
  SeenWork works[at_once];
  std::size_t count = 0;
  std::uint64_t since = self.delivered.load();  // of what is missing
  ActivityRecord* record = nullptr;
  while (valid != 0 && self.functions->next_record(buffer, valid, &record) == cupti_success) {
    SeenDevice device;
    if (read_device(*record, device)) self.taker.met(device);
    if (!read_record(*record, works[count]) || is_own(works[count].name)) continue;
    if (works[count].start != 0) since = std::min(since, works[count].start);
    if (works[count].graph_node != 0) works[count].node = self.nodes.find(works[count].graph_node);
    if (++count < at_once) continue;
    self.taker.took(works, count);
    count = 0;
  }
  if (count != 0) self.taker.took(works, count);
  std::size_t dropped = 0;
  if (self.functions->dropped_records(context, stream, &dropped) == cupti_success && dropped != 0) {
    self.taker.missed(dropped, since);
  }
  self.delivered.store(self.taker.clock());
  self.buffers.give_back({buffer, size});
}

constexpr ActivityKind work_kinds[] = {ActivityKind::concurrent_kernel, ActivityKind::copy,
                                       ActivityKind::peer_copy, ActivityKind::set};

CuptiResult enable_records(const TakenActivity& self, const ActivityChoice& choice) {
  CuptiResult result = self.functions->register_buffers(on_request, on_completion);
  // Before all others, else no GPU comes; a recording without them is one, too.
  if (result == cupti_success) self.functions->enable(ActivityKind::device);
  for (const ActivityKind kind : work_kinds) {
    if (result == cupti_success) result = self.functions->enable(kind);
  }
  // Before CUDA 11.7 there is no such record, and kernels of graphs are recorded one by one.
  if (result == cupti_success && !choice.graph_nodes) self.functions->enable(ActivityKind::graph);
  // Before CUDA 11.2 there is none of this one.
  if (result == cupti_success && choice.memory) self.functions->enable(ActivityKind::memory);
  return result;
}

void disable_records(const TakenActivity& self) {
  for (const ActivityKind kind : work_kinds) self.functions->disable(kind);
  self.functions->disable(ActivityKind::graph);
  self.functions->disable(ActivityKind::memory);
  self.functions->disable(ActivityKind::device);
}

// Whether CUPTI's times are those of the taker's clock.
bool has_clock(const TakenActivity& self) {
  std::uint64_t time = 0;
  const std::uint64_t before = self.taker.clock();
  return self.functions->timestamp(&time) == cupti_success && time >= before &&
         time <= self.taker.clock();
}

const char* text_that_stays(const std::string& text) {
  static std::string* const kept = new std::string;  // immortal
  *kept = text;
  return kept->c_str();
}

}  // namespace

const char* begin_activity(const ActivityTaker& taker, const ActivityChoice& choice) {
  TakenActivity& self = activity();
  if (self.pid != 0 && is_in_child(self)) return "this process was forked from one that used CUDA";
  if (self.subscriber != nullptr) return "it is on already";
  const CuptiLibrary& library = cupti_library();
  if (!library.problem.empty()) return library.problem.c_str();
  const auto refuse = [&](const char* step, CuptiResult result) {
    return text_that_stays(library.path + ": " + step + ": " +
                           result_text(library.functions, result));
  };
  prepare(self, library.functions, taker);
  // Whoever does not get the subscription leaves everything else alone.
  CuptiResult result = library.functions.subscribe(&self.subscriber, on_call, nullptr);
  if (result != cupti_success) {
    self.subscriber = nullptr;
    if (result == cupti_multiple_subscribers) return "another tool uses CUPTI in this process";
    return refuse("cuptiSubscribe", result);
  }
  self.pid = ::getpid();
  if (!has_clock(self)) result = self.functions->register_clock(taker.clock);
  if (result == cupti_success) result = enable_records(self, choice);
  if (result != cupti_success) {
    disable_records(self);
    self.functions->unsubscribe(self.subscriber);
    self.subscriber = nullptr;
    if (result == cupti_insufficient_privileges) {
      return "the driver lets only root profile (NVreg_RestrictProfilingToAdminUsers)";
    }
    return refuse("cannot record kernels", result);
  }
  ++self.begun;
  self.all_calls = choice.all_calls;
  {
    const std::lock_guard<std::mutex> lock(self.asking);  // a sample of the taking before may end
    self.graphs_whole = !choice.graph_nodes;
  }
  self.delivered.store(taker.clock());
  enable_calls(self);
  self.takes.store(true, std::memory_order_release);
  self.flusher.begin(flush_activity);
  return nullptr;
}

bool is_taking_activity() noexcept {
  const TakenActivity& self = activity();
  return self.takes.load(std::memory_order_acquire) && !is_in_child(self);
}

bool begin_node_records() {
  TakenActivity& self = activity();
  if (!is_taking_activity()) return false;
  const std::lock_guard<std::mutex> lock(self.asking);
  if (!is_taking_activity()) return false;
  if (self.askers++ == 0 && self.graphs_whole) self.functions->disable(ActivityKind::graph);
  return true;
}

// Where the taking has ended since, the kind is not enabled for whoever has CUPTI now.
void end_node_records() {
  TakenActivity& self = activity();
  if (is_in_child(self)) return;  // where nobody gives the lock back
  const std::lock_guard<std::mutex> lock(self.asking);
  if (--self.askers != 0 || !self.graphs_whole || !is_taking_activity()) return;
  self.functions->enable(ActivityKind::graph);
}

void flush_activity() {
  if (is_taking_activity()) activity().functions->flush(0);
}

void flush_last_activity() {
  if (!is_taking_activity()) return;
  activity().flusher.end();
  activity().functions->flush(flush_forced);
}

void end_activity() {
  TakenActivity& self = activity();
  if (self.subscriber == nullptr || is_in_child(self)) return;
  self.flusher.end();
  self.takes.store(false, std::memory_order_release);
  // From here on nobody enables or disables kinds for nodes.
  {
    const std::lock_guard<std::mutex> lock(self.asking);
  }
  disable_records(self);
  self.functions->flush(flush_forced);
  self.functions->unsubscribe(self.subscriber);
  self.subscriber = nullptr;
}

}  // namespace nvspan::cupti
