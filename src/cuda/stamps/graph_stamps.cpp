// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "cuda/context/range_pool.hpp"
#include "cuda/stamps/stamps.hpp"

namespace nvspan::cuda {

namespace {

Result add_node(const Driver& api, DeviceContext& context, const StreamCapture& capture,
                const std::vector<GraphNode>& after, DeviceRange& range, bool is_end,
                GraphNode& node) noexcept {
  if (range.backend == Backend::callback) {
    const HostNodeParams parameters{is_end ? end_replay_on_host : begin_replay_on_host, &range};
    return api.cuGraphAddHostNode(&node, capture.graph, after.data(), after.size(), &parameters);
  }
  const FunctionHandle function = context.clock.stamp_function(api);
  if (!function || !context.ring.prepare(api)) return error_not_supported;
  if (!is_end) range.stamp_id = context.ring.add(&range);
  DevicePointer ring = context.ring.ring_on_gpu();
  DevicePointer head = context.ring.head();
  uint64_t mask = GraphRing::size - 1;
  uint64_t what = stamp_word(0, range.stamp_id, is_end);
  void* arguments[] = {&ring, &head, &mask, &what};
  const KernelNodeParams parameters{function, 1, 1, 1, 1, 1, 1, 0, arguments, nullptr};
  return api.cuGraphAddKernelNode(&node, capture.graph, after.data(), after.size(), &parameters);
}

// The graph, its clones and what is instantiated from them hold the range; the last one releases
// it.
Result hold_by_graph(const Driver& api, const StreamCapture& capture, DeviceRange& range) noexcept {
  UserObject object = nullptr;
  retain(&range);
  Result result = api.cuUserObjectCreate(&object, &range, retire, 1, user_object_no_sync);
  if (result != success) {
    range.references.fetch_sub(1, std::memory_order_relaxed);
    return result;
  }
  result = api.cuGraphRetainUserObject(capture.graph, object, 1, graph_user_object_move);
  if (result != success) api.cuUserObjectRelease(object, 1);  // calls retire
  return result;
}

}  // namespace

Result query_capture(const Driver& api, StreamHandle stream, StreamCapture& capture) noexcept {
  capture.stream = stream;
  // Range replay of Nsight Compute refuses the queries below, and needs no more than this.
  if (api.cuStreamIsCapturing) {
    const Result result = api.cuStreamIsCapturing(stream, &capture.status);
    if (result != success || capture.status == capture_none) return result;
  }
  if (api.cuStreamGetCaptureInfo_v3) {
    const GraphEdgeData* edges = nullptr;  // not asked for, they would be an error where there are
    return api.cuStreamGetCaptureInfo_v3(stream, &capture.status, &capture.id, &capture.graph,
                                         &capture.nodes, &edges, &capture.count);
  }
  if (api.cuStreamGetCaptureInfo_v2) {
    return api.cuStreamGetCaptureInfo_v2(stream, &capture.status, &capture.id, &capture.graph,
                                         &capture.nodes, &capture.count);
  }
  return error_not_supported;
}

Result stamp_graph(const Driver& api, DeviceContext& context, const StreamCapture& capture,
                   DeviceRange& range, RangeEnd which) noexcept {
  const bool is_end = which == RangeEnd::end;
  if (!api.cuGraphAddHostNode || !api.cuGraphAddKernelNode || !api.cuUserObjectCreate ||
      !api.cuGraphRetainUserObject) {
    return error_not_supported;
  }
  if (!is_end) {
    const Result held = hold_by_graph(api, capture, range);
    if (held != success) return held;
  }
  std::vector<GraphNode> after(capture.nodes, capture.nodes + capture.count);
  if (is_end) {
    // Within a replay the beginning is sent first. An edge given twice is an error.
    bool there = false;
    for (const GraphNode node : after) there = there || node == range.begin_node;
    if (!there) after.push_back(range.begin_node);
  }
  GraphNode node = nullptr;
  Result result = add_node(api, context, capture, after, range, is_end, node);
  if (result == success && range.placement == Placement::stream &&
      api.cuStreamUpdateCaptureDependencies) {
    result =
        api.cuStreamUpdateCaptureDependencies(capture.stream, &node, 1, capture_set_dependencies);
  }
  if (result != success) return result;
  if (is_end) {
    range.submit.apply(SubmitEvent::complete_graph);
  } else {
    range.begin_node = node;
  }
  return success;
}

}  // namespace nvspan::cuda
