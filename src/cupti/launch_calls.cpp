// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "cupti/launch_calls.hpp"

namespace nvspan::cupti {
namespace {

// Those of one name differ in the version of their parameters, or in what stands for the default
// stream. tests/cpp/cupti_types_test.cpp compares the numbers with cupti_driver_cbid.h and
// cupti_runtime_cbid.h of CUDA 13.0; CUPTI keeps them.
constexpr LaunchFunction functions[] = {
    {CuptiDomain::driver, "cuLaunchKernel", {307, 442}},
    {CuptiDomain::driver, "cuLaunchCooperativeKernel", {477, 478}},
    {CuptiDomain::driver, "cuLaunchCooperativeKernelMultiDevice", {480}},
    {CuptiDomain::driver, "cuGraphLaunch", {514, 515}},
    {CuptiDomain::driver, "cuLaunchKernelEx", {652, 653}},
    {CuptiDomain::driver, "cuMemsetD8Async", {216, 428}},
    {CuptiDomain::driver, "cuMemsetD16Async", {218, 429}},
    {CuptiDomain::driver, "cuMemsetD32Async", {220, 430}},
    {CuptiDomain::driver, "cuMemsetD2D8Async", {222, 431}},
    {CuptiDomain::driver, "cuMemsetD2D16Async", {224, 432}},
    {CuptiDomain::driver, "cuMemsetD2D32Async", {226, 433}},
    {CuptiDomain::driver, "cuMemcpy", {248, 305, 408}},
    {CuptiDomain::driver, "cuMemsetD8", {249, 411}},
    {CuptiDomain::driver, "cuMemsetD16", {250, 412}},
    {CuptiDomain::driver, "cuMemsetD32", {251, 413}},
    {CuptiDomain::driver, "cuMemsetD2D8", {252, 414}},
    {CuptiDomain::driver, "cuMemsetD2D16", {253, 415}},
    {CuptiDomain::driver, "cuMemsetD2D32", {254, 416}},
    {CuptiDomain::driver, "cuMemcpyHtoD", {276, 397}},
    {CuptiDomain::driver, "cuMemcpyHtoDAsync", {277, 421}},
    {CuptiDomain::driver, "cuMemcpyDtoH", {278, 398}},
    {CuptiDomain::driver, "cuMemcpyDtoHAsync", {279, 422}},
    {CuptiDomain::driver, "cuMemcpyDtoD", {280, 399}},
    {CuptiDomain::driver, "cuMemcpyDtoDAsync", {281, 423}},
    {CuptiDomain::driver, "cuMemcpyAtoH", {282, 403}},
    {CuptiDomain::driver, "cuMemcpyAtoHAsync", {283, 420}},
    {CuptiDomain::driver, "cuMemcpyAtoD", {284, 401}},
    {CuptiDomain::driver, "cuMemcpyDtoA", {285, 400}},
    {CuptiDomain::driver, "cuMemcpyAtoA", {286, 404}},
    {CuptiDomain::driver, "cuMemcpy2D", {287, 405}},
    {CuptiDomain::driver, "cuMemcpy2DUnaligned", {288, 406}},
    {CuptiDomain::driver, "cuMemcpy2DAsync", {289, 424}},
    {CuptiDomain::driver, "cuMemcpy3D", {290, 407}},
    {CuptiDomain::driver, "cuMemcpy3DAsync", {291, 425}},
    {CuptiDomain::driver, "cuMemcpyHtoA", {292, 402}},
    {CuptiDomain::driver, "cuMemcpyHtoAAsync", {293, 419}},
    {CuptiDomain::driver, "cuMemcpyAsync", {306, 418}},
    {CuptiDomain::driver, "cuMemcpyPeer", {318, 409}},
    {CuptiDomain::driver, "cuMemcpyPeerAsync", {319, 426}},
    {CuptiDomain::driver, "cuMemcpy3DPeer", {320, 410}},
    {CuptiDomain::driver, "cuMemcpy3DPeerAsync", {321, 427}},
    {CuptiDomain::driver, "cuMemcpyBatchAsync", {776, 777, 796, 797}},
    {CuptiDomain::driver, "cuMemcpy3DBatchAsync", {778, 779, 798, 799}},
    {CuptiDomain::runtime, "cudaLaunchKernel", {211, 214, 505, 506}},
    {CuptiDomain::runtime, "cudaLaunchCooperativeKernel", {269, 270}},
    {CuptiDomain::runtime, "cudaLaunchCooperativeKernelMultiDevice", {272}},
    {CuptiDomain::runtime, "cudaGraphLaunch", {311, 312}},
    {CuptiDomain::runtime, "cudaLaunchKernelExC", {430, 431}},
    {CuptiDomain::runtime, "cudaMemcpy", {31, 215}},
    {CuptiDomain::runtime, "cudaMemcpy2D", {32, 216}},
    {CuptiDomain::runtime, "cudaMemcpyToArray", {33, 217}},
    {CuptiDomain::runtime, "cudaMemcpy2DToArray", {34, 218}},
    {CuptiDomain::runtime, "cudaMemcpyFromArray", {35, 219}},
    {CuptiDomain::runtime, "cudaMemcpy2DFromArray", {36, 220}},
    {CuptiDomain::runtime, "cudaMemcpyArrayToArray", {37, 221}},
    {CuptiDomain::runtime, "cudaMemcpy2DArrayToArray", {38, 222}},
    {CuptiDomain::runtime, "cudaMemcpyToSymbol", {39, 223}},
    {CuptiDomain::runtime, "cudaMemcpyFromSymbol", {40, 224}},
    {CuptiDomain::runtime, "cudaMemcpyAsync", {41, 225}},
    {CuptiDomain::runtime, "cudaMemcpyToArrayAsync", {42, 226}},
    {CuptiDomain::runtime, "cudaMemcpyFromArrayAsync", {43, 227}},
    {CuptiDomain::runtime, "cudaMemcpy2DAsync", {44, 228}},
    {CuptiDomain::runtime, "cudaMemcpy2DToArrayAsync", {45, 229}},
    {CuptiDomain::runtime, "cudaMemcpy2DFromArrayAsync", {46, 230}},
    {CuptiDomain::runtime, "cudaMemcpyToSymbolAsync", {47, 231}},
    {CuptiDomain::runtime, "cudaMemcpyFromSymbolAsync", {48, 232}},
    {CuptiDomain::runtime, "cudaMemset", {49, 233}},
    {CuptiDomain::runtime, "cudaMemset2D", {50, 234}},
    {CuptiDomain::runtime, "cudaMemsetAsync", {51, 235}},
    {CuptiDomain::runtime, "cudaMemset2DAsync", {52, 236}},
    {CuptiDomain::runtime, "cudaMemset3D", {142, 243}},
    {CuptiDomain::runtime, "cudaMemset3DAsync", {143, 244}},
    {CuptiDomain::runtime, "cudaMemcpy3D", {144, 245}},
    {CuptiDomain::runtime, "cudaMemcpy3DAsync", {145, 246}},
    {CuptiDomain::runtime, "cudaMemcpyPeer", {160}},
    {CuptiDomain::runtime, "cudaMemcpyPeerAsync", {161}},
    {CuptiDomain::runtime, "cudaMemcpy3DPeer", {162, 249}},
    {CuptiDomain::runtime, "cudaMemcpy3DPeerAsync", {163, 250}},
    {CuptiDomain::runtime, "cudaMemcpyBatchAsync", {482, 483, 509, 510}},
    {CuptiDomain::runtime, "cudaMemcpy3DBatchAsync", {484, 485, 511, 512}},
};

}  // namespace

LaunchFunctions launch_functions() noexcept {
  return LaunchFunctions{functions, functions + sizeof functions / sizeof *functions};
}

}  // namespace nvspan::cupti
