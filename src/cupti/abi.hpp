// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// As much of CUPTI's callback and activity interfaces as is used here. Names, numbers and layouts
// are those of cupti_callbacks.h, cupti_activity.h and cupti_result.h. Of a record, what is
// declared is the same from CUDA 11.0 on: CUPTI makes records longer and keeps what they begin
// with. tests/cpp/cupti_types_test.cpp compares all of it with NVIDIA's headers.

#pragma once

#include <cstddef>
#include <cstdint>

namespace nvspan::cupti {

using CuptiResult = int;
constexpr CuptiResult cupti_success = 0;
constexpr CuptiResult cupti_max_limit_reached = 12;
constexpr CuptiResult cupti_insufficient_privileges = 35;
constexpr CuptiResult cupti_multiple_subscribers = 39;

enum class CuptiDomain : int { driver = 1, runtime = 2, resource = 3 };
enum class CuptiSite : int { enter = 0, exit = 1 };

// What a callback of the domains of the driver's and the runtime's calls is given.
struct CuptiCall {
  CuptiSite site;
  const char* function_name;
  const void* parameters;
  void* return_value;
  const char* symbol_name;  // of a launch: the kernel; null: there is none
  void* context;
  std::uint32_t context_uid;
  std::uint64_t* correlation_data;
  std::uint32_t correlation_id;
};

// Of the driver's domain: cuStreamBeginCapture, its second version and cuStreamBeginCaptureToGraph,
// each also for the default stream of a thread; cuStreamEndCapture.
inline constexpr std::uint32_t begin_capture_ids[] = {495, 496, 539, 540, 720, 721};
inline constexpr std::uint32_t end_capture_ids[] = {497, 498};
// Of the domain of resources.
constexpr std::uint32_t graph_node_created = 13, graph_node_destroyed = 14, graph_node_cloned = 20;
// What a callback of that domain is given; `descriptor` is a CuptiGraph where it is of a graph.
struct CuptiResource {
  void* context;
  void* handle;
  const void* descriptor;
};
struct CuptiGraph {
  void* graph;
  void* original_graph;
  void* node;
  void* original_node;  // of a clone
  int node_type;
  void* dependency;
  void* executable;
};

using CuptiCallback = void (*)(void* user, CuptiDomain domain, std::uint32_t id, const void* data);

// --- activity records ----------------------------------------------------------------------------

enum class ActivityKind : std::uint32_t {
  copy = 1,
  set = 2,
  kernel = 3,
  device = 8,
  concurrent_kernel = 10,
  peer_copy = 22,
  memory = 49,
  graph = 51,
};

struct ActivityRecord {
  ActivityKind kind;
};

struct KernelRecord {  // CUpti_ActivityKernel5 and later
  ActivityKind kind;
  std::uint8_t cache_config;
  std::uint8_t shared_memory_config;
  std::uint16_t registers_per_thread;
  std::uint32_t partitioned_cache_requested;
  std::uint32_t partitioned_cache_executed;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t static_shared_memory;
  std::int32_t dynamic_shared_memory;
  std::uint32_t local_memory_per_thread;
  std::uint32_t local_memory_total;
  std::uint32_t correlation;
  std::int64_t grid_id;
  const char* name;
  void* reserved;
  std::uint64_t queued;
  std::uint64_t submitted;
  std::uint8_t launch_type;
  std::uint8_t carveout[3];
  std::uint32_t shared_memory_executed;
  std::uint64_t graph_node;  // 0: not of a graph
};

struct CopyRecord {  // CUpti_ActivityMemcpy3 and later
  ActivityKind kind;
  std::uint8_t copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint32_t runtime_correlation;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
};

struct PeerCopyRecord {  // CUpti_ActivityMemcpyPtoP2 and later
  ActivityKind kind;
  std::uint8_t copy_kind;
  std::uint8_t source_kind;
  std::uint8_t destination_kind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t source_device;
  std::uint32_t source_context;
  std::uint32_t destination_device;
  std::uint32_t destination_context;
  std::uint32_t correlation;
  void* reserved;
  std::uint64_t graph_node;
};

struct SetRecord {  // CUpti_ActivityMemset2 and later
  ActivityKind kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint16_t flags;
  std::uint16_t memory_kind;
  void* reserved;
  std::uint64_t graph_node;
};

enum class MemoryOperation : std::uint32_t { allocation = 1, release = 2 };

struct MemoryRecord {  // CUpti_ActivityMemory2 and later
  ActivityKind kind;
  MemoryOperation operation;
  std::uint32_t memory_kind;
  std::uint32_t correlation;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t time;
  std::uint64_t program_counter;
  std::uint32_t process;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
};

struct DeviceRecord {  // CUpti_ActivityDevice2 and later
  ActivityKind kind;
  std::uint32_t flags;
  std::uint64_t memory_bandwidth;
  std::uint64_t memory_bytes;
  std::uint32_t constant_bytes;
  std::uint32_t cache_bytes;
  std::uint32_t threads_of_warp;
  std::uint32_t clock_rate;
  std::uint32_t copy_engines;
  std::uint32_t processors;
  std::uint32_t instructions_per_cycle;
  // The most that a processor has at once.
  std::uint32_t warps;
  std::uint32_t blocks;
  std::uint32_t shared_bytes;
  std::uint32_t registers;
  std::uint32_t of_block[9];
  std::uint32_t major_capability;
  std::uint32_t minor_capability;
  std::uint32_t id;
  std::uint32_t has_error_correction;
  char uuid[16];
  const char* name;
};

struct GraphRecord {  // CUpti_ActivityGraphTrace and later
  ActivityKind kind;
  std::uint32_t correlation;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t graph;
  std::uint32_t context;
  std::uint32_t stream;
};

// --- functions -----------------------------------------------------------------------------------

using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                                 std::size_t size, std::size_t valid);
constexpr std::uint32_t flush_forced = 1;

// The first version, CUPTI_API_VERSION, that drops records where a request for a buffer gets none;
// older ones write to it.
constexpr std::uint32_t first_without_buffers = 27;

// library.cpp has the names that CUPTI gives them.
struct CuptiFunctions {
  CuptiResult (*version)(std::uint32_t* version);
  CuptiResult (*subscribe)(void** subscriber, CuptiCallback callback, void* user);
  CuptiResult (*unsubscribe)(void* subscriber);
  CuptiResult (*enable_callback)(std::uint32_t enable, void* subscriber, CuptiDomain domain,
                                 std::uint32_t id);
  CuptiResult (*enable_domain)(std::uint32_t enable, void* subscriber, CuptiDomain domain);
  CuptiResult (*result_string)(CuptiResult result, const char** text);
  CuptiResult (*register_buffers)(BufferRequested requested, BufferCompleted completed);
  CuptiResult (*register_clock)(std::uint64_t (*clock)());
  CuptiResult (*timestamp)(std::uint64_t* time);
  CuptiResult (*enable)(ActivityKind kind);
  CuptiResult (*disable)(ActivityKind kind);
  CuptiResult (*next_record)(std::uint8_t* buffer, std::size_t valid, ActivityRecord** record);
  CuptiResult (*dropped_records)(void* context, std::uint32_t stream, std::size_t* dropped);
  CuptiResult (*flush)(std::uint32_t flag);
  // Null: CUPTI has none, before CUDA 11.
  CuptiResult (*graph_node)(void* node, std::uint64_t* id);
};

}  // namespace nvspan::cupti
