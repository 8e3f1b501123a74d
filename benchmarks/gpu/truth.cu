// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that note when their first block began and their last block ended, and a calibration of
// the GPU's globaltimer against the time stamp counter that owes nothing to nvspan's.
//   nvcc -O2 -arch=sm_90 -shared -Xcompiler -fPIC truth.cu -o libtruth.so
#include <cuda_runtime.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cstdint>
#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Time = unsigned long long;

__device__ __forceinline__ Time globaltimer() {
  Time time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

__device__ __forceinline__ void body(Time* truth, long long ns) {
  const Time began = globaltimer();
  if (threadIdx.x == 0) atomicMin(truth, began);
  while (static_cast<long long>(globaltimer() - began) < ns) {
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(truth + 1, globaltimer());
}

__global__ void plain(Time* truth, long long ns) { body(truth, ns); }

// 1,024 threads of 64 registers: every register of a multiprocessor.
__global__ void __launch_bounds__(1024, 1) registers(Time* truth, long long ns, int* sink) {
  int values[48];
#pragma unroll
  for (int i = 0; i < 48; i++) values[i] = sink[threadIdx.x + i];
  body(truth, ns);
  int sum = 0;
#pragma unroll
  for (int i = 0; i < 48; i++) sum ^= values[i] * (i + 1);
  if (sum == 0x12345) sink[0] = sum;
}

__global__ void wait(long long ns) {
  const Time began = globaltimer();
  while (static_cast<long long>(globaltimer() - began) < ns) {
  }
}

__global__ void answer(volatile Time* out, volatile int* asked) {
  for (int i = 0; i < 256; i++) {
    while (*asked <= i) {
    }
    out[i] = globaltimer();
    __threadfence_system();
  }
}

int processors;
int* sink;
Time* truth;
int capacity;

}  // namespace

EXPORT int truth_init(int ranges) {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 1;
  processors = properties.multiProcessorCount;
  capacity = ranges;
  cudaMalloc(&sink, 4096 * sizeof(int));
  cudaMemset(sink, 0, 4096 * sizeof(int));
  return cudaMalloc(&truth, 2 * sizeof(Time) * ranges) != cudaSuccess;
}

EXPORT void truth_reset() {
  Time* host = new Time[2 * capacity];
  for (int i = 0; i < capacity; ++i) host[2 * i] = ~0ull, host[2 * i + 1] = 0;
  cudaMemcpy(truth, host, 2 * sizeof(Time) * capacity, cudaMemcpyHostToDevice);
  delete[] host;
}

EXPORT void truth_read(Time* out) {
  cudaMemcpy(out, truth, 2 * sizeof(Time) * capacity, cudaMemcpyDeviceToHost);
}

EXPORT void truth_hold(void* stream, long long ns) {
  wait<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(ns);
}

// One small block of 5 us; 8 waves of 10 us; one block on each processor with all its registers for
// 100 us; 2,048 threads on each processor for 100 us.
EXPORT void truth_launch(int kind, int index, void* handle) {
  const auto stream = static_cast<cudaStream_t>(handle);
  Time* place = truth + 2 * index;
  switch (kind) {
    case 0: plain<<<1, 32, 0, stream>>>(place, 5000); break;
    case 1: plain<<<processors * 16, 1024, 0, stream>>>(place, 10000); break;
    case 2: registers<<<processors, 1024, 0, stream>>>(place, 100000, sink); break;
    default: plain<<<processors * 2, 1024, 0, stream>>>(place, 100000); break;
  }
}

// The shortest of 256 round trips: time stamp counter, globaltimer, half the trip in ticks.
EXPORT int truth_calibrate(void* handle, unsigned long long* stamp, unsigned long long* global,
                           unsigned long long* half_trip) {
  static Time* out;
  static int* asked;
  if (!out) {
    cudaMallocHost(&out, 256 * sizeof(Time));
    cudaMallocHost(&asked, 64);
  }
  std::memset(out, 0, 256 * sizeof(Time));
  *asked = 0;
  answer<<<1, 1, 0, static_cast<cudaStream_t>(handle)>>>(out, asked);
  usleep(3000);
  Time shortest = ~0ull;
  volatile Time* answers = out;
  for (int i = 0; i < 256; i++) {
    const Time before = __rdtsc();
    *static_cast<volatile int*>(asked) = i + 1;
    while (!answers[i]) {
    }
    const Time after = __rdtsc();
    if (after - before < shortest) {
      shortest = after - before;
      *stamp = before + (after - before) / 2;
      *global = answers[i];
      *half_trip = shortest / 2;
    }
  }
  return cudaStreamSynchronize(static_cast<cudaStream_t>(handle));
}

// The system's monotonic clock, which recordings use, beside the time stamp counter.
EXPORT void truth_clock(unsigned long long* stamp, unsigned long long* monotonic) {
  Time shortest = ~0ull;
  for (int i = 0; i < 64; ++i) {
    const Time before = __rdtsc();
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const Time after = __rdtsc();
    if (after - before >= shortest) continue;
    shortest = after - before;
    *stamp = before + (after - before) / 2;
    *monotonic = static_cast<Time>(now.tv_sec) * 1000000000ull + static_cast<Time>(now.tv_nsec);
  }
}
