// A node's PeerNetwork with neighbours 2 and 3, driven by hand. A test fixture.
#ifndef BANYAN_NODE_PEER_NETWORK_FIXTURE_H_
#define BANYAN_NODE_PEER_NETWORK_FIXTURE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "node/peer_network.h"
#include "node/rejection_log.h"

namespace banyan {

inline constexpr ConnectionId kInboundOf3 = ConnectionId(kInboundConnection.value() + 99);
inline constexpr ConnectionId kInbound(kInboundConnection.value() + 1);
inline constexpr ConnectionId kControlTo2(16);  // data: 17
inline constexpr ConnectionId kControlTo3(18);  // data: 19

class PeerNetworkFixture : public ::testing::Test, private PeerNetwork::Listener {
 protected:
  PeerNetworkFixture() { config_.connections_per_link = 1; }

  PeerNetwork::Verdict OnChunk(StepContext&, ChunkMessage message, Payload) override {
    received_.push_back(message.id.chunk.value());
    return verdict_;
  }
  void OnPeerLost(StepContext&, NodeId peer, const std::string&) override { lost_.push_back(peer.value()); }

  StepContext Now() {
    actions_.clear();
    return {now_, actions_, rejections_};
  }
  static NeighbourSlice Neighbour(uint32_t node) {
    NeighbourSlice neighbour;
    neighbour.node = NodeId(node);
    neighbour.name = "n" + std::to_string(node);
    neighbour.incarnation = Incarnation(node);
    return neighbour;
  }
  static PolicySlice Policy(std::vector<uint32_t> neighbours) {
    PolicySlice slice;
    slice.version = PolicyVersion(1);
    slice.chunk_max_elements = 250;
    for (uint32_t node : neighbours) slice.neighbours.push_back(Neighbour(node));
    return slice;
  }
  // Neighbours 2 and 3, all connections up; 2 has said hello.
  void AddNeighbours() {
    StepContext step = Now();
    network_.AddPolicy(step, Policy({2, 3}));
    for (uint64_t connection = 16; connection < 20; ++connection) {
      network_.OnConnectionUp(step, ConnectionId(connection));
    }
    Hello({kProtocolVersion, "job", Term(1), NodeId(2), Incarnation(2)});
  }
  void Hello(PeerHello hello, ConnectionId connection = kInbound) { Receive(std::move(hello), connection); }
  void Receive(Message message, ConnectionId connection = kInbound, int64_t size_bytes = 0) {
    StepContext step = Now();
    Payload payload;
    if (size_bytes > 0) payload.push_back(Buffer::Allocate(size_bytes, DataType::kByte));
    network_.OnMessage(step, {connection, std::move(message), std::move(payload)});
  }
  void ReceiveFrom2(uint32_t number, bool ack_may_wait) {
    ChunkMessage chunk = Chunk(number, {2, 1});
    chunk.ack_may_wait = ack_may_wait;
    Receive(std::move(chunk));
  }
  void Deadline(int64_t seconds_later) {
    now_ = now_ + absl::Seconds(seconds_later);
    StepContext step = Now();
    network_.OnDeadline(step);
  }
  // With a detour to 2 over 3. The primary path is busy with more than one chunk, the detour takes two at once.
  void AddDetour() {
    PolicySlice slice = Policy({2, 3});
    slice.neighbours[0].rate_bps = 8e6;
    slice.auxiliary = {{{NodeId(1), NodeId(3), NodeId(2)}, 80e6, absl::ZeroDuration(), 0.5, 0, true}};
    slice.transmission.primary_busy_bound = 1;
    slice.transmission.auxiliary_queue_length = 2;
    StepContext step = Now();
    network_.AddPolicy(step, slice);
    for (uint64_t connection = 16; connection < 20; ++connection) {
      network_.OnConnectionUp(step, ConnectionId(connection));
    }
    Hello({kProtocolVersion, "job", Term(1), NodeId(2), Incarnation(2)});
    Hello({kProtocolVersion, "job", Term(1), NodeId(3), Incarnation(3)}, kInboundOf3);
  }
  // Sends chunks of 1000 bytes to 2; those of them that take a detour.
  std::vector<uint32_t> SendTo2(uint32_t first, uint32_t last) {
    StepContext step = Now();
    for (uint32_t chunk = first; chunk <= last; ++chunk) {
      ChunkMessage message = Chunk(chunk, {1, 2});
      message.policy = PolicyVersion(1);
      message.frames = {{CodecId::kFp32, 0, 250, 1000}};
      network_.SendChunk(step, std::move(message), {Buffer::Allocate(1000, DataType::kByte)});
    }
    return Detoured();
  }
  // Of what the last call sent, the chunks on a detour.
  std::vector<uint32_t> Detoured() {
    std::vector<uint32_t> detoured;
    for (const auto& [connection, chunk] : Sent<ChunkMessage>()) {
      if (chunk.is_auxiliary) detoured.push_back(chunk.id.chunk.value());
    }
    return detoured;
  }
  static ChunkMessage Chunk(uint32_t chunk, std::vector<uint32_t> path) {
    ChunkMessage message;
    message.id.chunk = ChunkIndex(chunk);
    message.link_sequence = chunk;
    for (uint32_t node : path) message.route.path.push_back(NodeId(node));
    return message;
  }
  // What the last call sent of this kind, and to where.
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

  Timestamp now_ = Timestamp::FromNanoseconds(1'000'000'000);
  JobConfig config_ = [] {
    JobConfig config;
    config.connections_per_link = 1;
    return config;
  }();
  Actions actions_;
  RejectionLog rejections_;
  PeerNetwork network_{
      {"job", Term(1), NodeId(1), Incarnation(1)},
      config_,
      {.relay_bytes = 3000, .unknown_bytes = 3000, .waiting_control = 3, .inbound_connections = 2, .denied_sources = 2},
      this};
  PeerNetwork::Verdict verdict_ = PeerNetwork::Verdict::kTaken;
  std::vector<uint32_t> received_;
  std::vector<uint32_t> lost_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEER_NETWORK_FIXTURE_H_
