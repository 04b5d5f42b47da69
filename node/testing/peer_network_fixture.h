// A node's PeerNetwork with neighbours 2 and 3, driven by hand. A test fixture.
#ifndef BANYAN_NODE_TESTING_PEER_NETWORK_FIXTURE_H_
#define BANYAN_NODE_TESTING_PEER_NETWORK_FIXTURE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "node/peers/peer_network.h"
#include "node/testing/step_fixture.h"

namespace banyan {

inline constexpr ConnectionId kInboundOf3 = ConnectionId(kInboundConnection.value() + 99);
inline constexpr ConnectionId kInbound(kInboundConnection.value() + 1);
inline constexpr ConnectionId kControlTo2 = kFirstPeerConnection;
inline constexpr ConnectionId kDataTo2(kFirstPeerConnection.value() + 1);
inline constexpr ConnectionId kControlTo3(kFirstPeerConnection.value() + 2);
inline constexpr ConnectionId kDataTo3(kFirstPeerConnection.value() + 3);

class PeerNetworkFixture : public StepFixture, private PeerNetwork::Listener {
 protected:
  PeerNetworkFixture() { config_.connections_per_link = 1; }

  PeerNetwork::Verdict OnChunk(StepContext&, ChunkMessage message, Payload) override {
    received_.push_back(message.id.chunk.value());
    return verdict_;
  }
  void OnStateMessage(StepContext&, const Message& message) override { state_messages_.push_back(message); }
  void OnPeerLost(StepContext&, const PeerLost& lost) override { lost_.push_back(lost.peer.value()); }

  // Neighbours 2 and 3, all connections up; 2 has said hello.
  void AddNeighbours() {
    StepContext step = Now();
    network_.AddPolicy(step, Policy({2, 3}));
    for (uint64_t connection = kControlTo2.value(); connection <= kDataTo3.value(); ++connection) {
      network_.OnConnectionUp(step, ConnectionId(connection));
    }
    Hello(HelloOf(2));
  }
  void Hello(PeerHello hello, ConnectionId connection = kInbound) { Receive(std::move(hello), connection); }
  void Receive(Message message, ConnectionId connection = kInbound, int64_t size_bytes = 0) {
    StepContext step = Now();
    network_.OnMessage(step, {connection, std::move(message), size_bytes > 0 ? Bytes(size_bytes) : Payload()});
    if (network_.NextDeadline() <= now_) network_.OnDeadline(step);
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
  // With an auxiliary path to 2 over 3.
  void AddAuxiliaryPath() {
    StepContext step = Now();
    network_.AddPolicy(step, PolicyWithAuxiliaryPath());
    for (uint64_t connection = kControlTo2.value(); connection <= kDataTo3.value(); ++connection) {
      network_.OnConnectionUp(step, ConnectionId(connection));
    }
    Hello(HelloOf(2));
    Hello(HelloOf(3), kInboundOf3);
  }
  // Sends chunks of 1000 bytes to 2. Returns those of them that take an auxiliary path.
  std::vector<uint32_t> SendTo2(uint32_t first, uint32_t last) {
    StepContext step = Now();
    for (uint32_t chunk = first; chunk <= last; ++chunk) {
      network_.SendChunk(step, FullChunk(chunk, {1, 2}), Bytes(1000));
    }
    return OnAuxiliaryPath();
  }
  // Returns what the last call sent on an auxiliary path.
  std::vector<uint32_t> OnAuxiliaryPath() {
    std::vector<uint32_t> on_auxiliary_path;
    for (const auto& [connection, chunk] : Sent<ChunkMessage>()) {
      if (chunk.is_auxiliary) on_auxiliary_path.push_back(chunk.id.chunk.value());
    }
    return on_auxiliary_path;
  }

  JobConfig config_ = [] {
    JobConfig config;
    config.connections_per_link = 1;
    return config;
  }();
  RoundRecorder recorder_;
  PeerNetwork network_{
      {"job", Term(1), NodeId(1), Incarnation(1)},
      config_,
      {.relay_bytes = 3000, .unknown_bytes = 3000, .waiting_control = 3, .inbound_connections = 2, .denied_sources = 2},
      this,
      &recorder_};
  PeerNetwork::Verdict verdict_ = PeerNetwork::Verdict::kTaken;
  std::vector<uint32_t> received_;
  std::vector<uint32_t> lost_;
  std::vector<Message> state_messages_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_TESTING_PEER_NETWORK_FIXTURE_H_
