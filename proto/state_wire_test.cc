// Every field of a message about training states that a peer can get wrong, one at a time.
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/envelope.pb.h"
#include "proto/testing/wire_samples.h"
#include "proto/wire.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class StateWireTest : public ::testing::Test {
 protected:
  StateWireTest() {
    for (const WireSample& sample : WireSamples()) {
      wire::Envelope envelope;
      EXPECT_TRUE(envelope.ParseFromString(EncodeMessage(sample.message)));
      samples_[envelope.message_case()] = envelope;
    }
  }

  // Spoils the sample of one kind of message and expects this error about it.
  void Refuses(wire::Envelope::MessageCase kind, const std::string& error,
               const std::function<void(wire::Envelope&)>& spoil) {
    wire::Envelope envelope = samples_[kind];
    spoil(envelope);
    const absl::StatusOr<Message> message = DecodeMessage(envelope.SerializeAsString(), payload_);
    ASSERT_FALSE(message.ok()) << error << " accepted in " << envelope.DebugString();
    EXPECT_EQ(message.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(message.status().message()), HasSubstr("malformed " + error));
  }

  std::map<int, wire::Envelope> samples_;
  Payload payload_;  // of a chunk
};

TEST_F(StateWireTest, StatesForJoiners) {
  const auto held = wire::Envelope::kBoundaryHeld;
  Refuses(held, "BoundaryHeld: transfer: a number", [](auto& e) { e.mutable_boundary_held()->clear_transfer(); });
  Refuses(held, "BoundaryHeld: pushed[1].first_key: above 3 expected, 2 came",
          [](auto& e) { e.mutable_boundary_held()->mutable_pushed(1)->set_first_key(2); });
  Refuses(wire::Envelope::kStateSought, "StateSought: transfer: a number above 0",
          [](auto& e) { e.mutable_state_sought()->clear_transfer(); });
  Refuses(wire::Envelope::kNoState, "NoState: transfer: ", [](auto& e) { e.mutable_no_state()->clear_transfer(); });
  const auto holders = wire::Envelope::kStateHolders;
  Refuses(holders, "StateHolders: transfer: ", [](auto& e) { e.mutable_state_holders()->clear_transfer(); });
  Refuses(holders, "StateHolders: paths[1].nodes: each node once expected, a node twice came",
          [](auto& e) { e.mutable_state_holders()->mutable_paths(1)->set_nodes(2, 4); });
  Refuses(holders, "StateHolders: paths[2].nodes: 1 to 1024 entries expected, 0 came",
          [](auto& e) { e.mutable_state_holders()->mutable_paths(2)->clear_nodes(); });
  Refuses(wire::Envelope::kStateReleased, "StateReleased: code: 0 to 16 expected, 17 came",
          [](auto& e) { e.mutable_state_released()->set_code(17); });
  Refuses(wire::Envelope::kFetchEnded, "FetchEnded: reason: at most 4096",
          [](auto& e) { e.mutable_fetch_ended()->set_reason(std::string(kMaxWireReasonBytes + 1, 'x')); });
}

TEST_F(StateWireTest, ManifestsAndRequestsOfStates) {
  const auto manifest = wire::Envelope::kStateManifest;
  Refuses(manifest, "StateManifest: parts[1].name: names in rising order expected, another one came",
          [](auto& e) { e.mutable_state_manifest()->mutable_parts(1)->set_name("adam.step"); });
  Refuses(manifest, "StateManifest: parts[0].name: a name",
          [](auto& e) { e.mutable_state_manifest()->mutable_parts(0)->clear_name(); });
  Refuses(manifest, "StateManifest: parts[0].size_bytes: 1 to",
          [](auto& e) { e.mutable_state_manifest()->mutable_parts(0)->clear_size_bytes(); });
  Refuses(manifest, "StateManifest: parts[0].size_bytes: 1 to", [](auto& e) {
    e.mutable_state_manifest()->mutable_parts(0)->set_size_bytes(std::numeric_limits<int64_t>::max());
  });
  Refuses(manifest, "StateManifest: parts[1].size_bytes: 1 to 8 expected, 9 came", [](auto& e) {
    e.mutable_state_manifest()->mutable_parts(0)->set_size_bytes((int64_t{1} << 39) - 8);
    e.mutable_state_manifest()->mutable_parts(1)->set_size_bytes(9);
  });
  Refuses(manifest, "StateManifest: hashes: 2 to 2 entries expected, 3 came",
          [](auto& e) { e.mutable_state_manifest()->add_hashes(1); });
  const auto request = wire::Envelope::kStateRequest;
  Refuses(request, "StateRequest: route.path: 2 to", [](auto& e) { e.mutable_state_request()->clear_route(); });
  Refuses(request, "StateRequest: chunks[1].first: 5 to 32767 expected, 4 came",
          [](auto& e) { e.mutable_state_request()->mutable_chunks(1)->set_first(4); });
  Refuses(request, "StateRequest: chunks[0].last: 1 to 32767 expected, 0 came",
          [](auto& e) { e.mutable_state_request()->mutable_chunks(0)->set_last(0); });
  Refuses(request, "StateRequest: chunks[1].last: 7 to 32767 expected, 4294967295 came",
          [](auto& e) { e.mutable_state_request()->mutable_chunks(1)->set_last(0xffffffff); });
  Refuses(wire::Envelope::kStateRefused, "StateRefused: route.path: 2 to",
          [](auto& e) { e.mutable_state_refused()->clear_route(); });
  Refuses(wire::Envelope::kStateManifestWanted, "StateManifestWanted: transfer: a",
          [](auto& e) { e.mutable_state_manifest_wanted()->clear_transfer(); });
  Refuses(wire::Envelope::kStateManifestWanted, "StateManifestWanted: pushed[1]",
          [](auto& e) { e.mutable_state_manifest_wanted()->mutable_pushed(1)->set_first_key(3); });
  Refuses(request, "StateRequest: pushed[1]",
          [](auto& e) { e.mutable_state_request()->mutable_pushed(1)->set_first_key(3); });
}

TEST_F(StateWireTest, ChunksOfStates) {
  const WireSample sample = SampleStateChunk();
  wire::Envelope envelope;
  ASSERT_TRUE(envelope.ParseFromString(EncodeMessage(sample.message)));
  samples_[wire::Envelope::kChunk] = envelope;
  payload_ = sample.payload;
  Refuses(wire::Envelope::kChunk, "ChunkMessage: frames[0].size_bytes: 1 bytes for each of 100 elements expected, 99",
          [](auto& e) { e.mutable_chunk()->mutable_frames(0)->set_size_bytes(99); });
  payload_.clear();
  Refuses(wire::Envelope::kChunk, "ChunkMessage: frames: at least 1 of a state expected, 0 came",
          [](auto& e) { e.mutable_chunk()->clear_frames(); });
}

}  // namespace
}  // namespace banyan
