// A test that calls parts of a NodeCore by hand and looks at the actions of its last call. A test fixture.
#ifndef BANYAN_NODE_TESTING_STEP_FIXTURE_H_
#define BANYAN_NODE_TESTING_STEP_FIXTURE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/time.h"
#include "gtest/gtest.h"
#include "node/step_context.h"
#include "proto/chunk_message.h"
#include "proto/policy_slice.h"
#include "protocol/action.h"

namespace banyan {

class StepFixture : public ::testing::Test {
 protected:
  // Begins a call: forgets the actions of the one before.
  StepContext Now() {
    actions_.clear();
    return {now_, actions_, rejections_};
  }
  // Returns what the last call sent of this kind, and to where.
  template <typename Kind>
  std::vector<std::pair<ConnectionId, Kind>> Sent() {
    std::vector<std::pair<ConnectionId, Kind>> sent;
    for (const Action& action : actions_) {
      const auto* send = std::get_if<Send>(&action);
      if (send == nullptr || !std::holds_alternative<Kind>(send->message)) continue;
      sent.emplace_back(send->connection, std::get<Kind>(send->message));
    }
    return sent;
  }

  static NeighbourSlice SliceOf(uint32_t node) {
    NeighbourSlice neighbour;
    neighbour.node = NodeId(node);
    neighbour.name = "n" + std::to_string(node);
    neighbour.incarnation = Incarnation(node);
    return neighbour;
  }
  // Returns a policy of version 1 with these neighbours and chunks of 1000 bytes.
  static PolicySlice Policy(std::vector<uint32_t> neighbours) {
    PolicySlice slice;
    slice.version = PolicyVersion(1);
    slice.chunk_max_elements = 250;
    for (uint32_t node : neighbours) slice.neighbours.push_back(SliceOf(node));
    return slice;
  }
  // Returns the same with neighbours 2 and 3, and an auxiliary path to 2 over 3. The primary path is busy with more
  // than one chunk, the auxiliary path takes two at once.
  static PolicySlice PolicyWithAuxiliaryPath() {
    PolicySlice slice = Policy({2, 3});
    slice.neighbours[0].rate_bps = 8e6;
    slice.auxiliary = {{{NodeId(1), NodeId(3), NodeId(2)}, 80e6, absl::ZeroDuration(), 0.5, 0, true}};
    slice.transmission.primary_busy_bound = 1;
    slice.transmission.auxiliary_queue_length = 2;
    return slice;
  }
  static PeerHello HelloOf(uint32_t node) {
    return {kProtocolVersion, "job", Term(1), NodeId(node), Incarnation(node)};
  }
  // Returns a chunk without payload at the start of `path`.
  static ChunkMessage Chunk(uint32_t chunk, std::vector<uint32_t> path) {
    ChunkMessage message;
    message.id.chunk = ChunkIndex(chunk);
    message.link_sequence = chunk;
    for (uint32_t node : path) message.route.path.push_back(NodeId(node));
    return message;
  }
  // Returns the header and the payload of a chunk of 1000 bytes under the policies above.
  static ChunkMessage FullChunk(uint32_t chunk, std::vector<uint32_t> path) {
    ChunkMessage message = Chunk(chunk, std::move(path));
    message.policy = PolicyVersion(1);
    message.frames = {{CodecId::kFp32, 0, 250, 1000}};
    return message;
  }
  static Payload Bytes(int64_t size_bytes) { return {Buffer::Allocate(size_bytes, DataType::kByte)}; }

  Timestamp now_ = Timestamp::FromNanoseconds(1'000'000'000);
  Actions actions_;
  RejectionLog rejections_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_TESTING_STEP_FIXTURE_H_
