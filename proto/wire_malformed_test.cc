// Every field that a peer can get wrong, one at a time: the error names message and field, what was expected and what
// came.
#include <cmath>
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
using ::testing::StartsWith;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class WireMalformedTest : public ::testing::Test {
 protected:
  WireMalformedTest() {
    for (const WireSample& sample : WireSamples()) {
      wire::Envelope envelope;
      EXPECT_TRUE(envelope.ParseFromString(EncodeMessage(sample.message)));
      samples_[envelope.message_case()] = envelope;
    }
    payload_ = SampleChunk().payload;
  }

  // Spoils the sample of one kind of message and expects this error about it.
  void Refuses(wire::Envelope::MessageCase kind, const std::string& error,
               const std::function<void(wire::Envelope&)>& spoil) {
    wire::Envelope envelope = samples_[kind];
    spoil(envelope);
    const Payload payload = kind == wire::Envelope::kChunk ? payload_ : Payload();
    const absl::StatusOr<Message> message = DecodeMessage(envelope.SerializeAsString(), payload);
    ASSERT_FALSE(message.ok()) << error << " accepted in " << envelope.DebugString();
    EXPECT_EQ(message.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(message.status().message()), HasSubstr(error));
    EXPECT_THAT(std::string(message.status().message()), StartsWith("malformed "));
  }

  void RefusesChunk(const std::string& error, const std::function<void(wire::ChunkMessage&)>& spoil) {
    Refuses(wire::Envelope::kChunk, "malformed ChunkMessage: " + error,
            [&](wire::Envelope& envelope) { spoil(*envelope.mutable_chunk()); });
  }

  void RefusesConfig(const std::string& error, const std::function<void(wire::JobConfig&)>& spoil) {
    Refuses(wire::Envelope::kJoinAccepted, "malformed JoinAccepted: config." + error,
            [&](wire::Envelope& envelope) { spoil(*envelope.mutable_join_accepted()->mutable_config()); });
  }

  void RefusesSlice(const std::string& error, const std::function<void(wire::PolicySlice&)>& spoil) {
    Refuses(wire::Envelope::kPolicyPublished, "malformed PolicyPublished: slice." + error,
            [&](wire::Envelope& envelope) { spoil(*envelope.mutable_policy_published()->mutable_slice()); });
  }

  std::map<int, wire::Envelope> samples_;
  Payload payload_;
};

TEST_F(WireMalformedTest, ChunkIds) {
  RefusesChunk("id.key: a number above 0 expected, 0 came", [](auto& chunk) { chunk.clear_id(); });
  RefusesChunk("id.half: 0 to 2 expected, 3 came",
               [](auto& chunk) { chunk.mutable_id()->set_half(static_cast<wire::Half>(3)); });
  RefusesChunk("id.half: 0 to 2 expected, -1 came",
               [](auto& chunk) { chunk.mutable_id()->set_half(static_cast<wire::Half>(-1)); });
  RefusesChunk("policy: a number above 0", [](auto& chunk) { chunk.set_policy(0); });
  RefusesChunk("kind: 0 to 3 expected, 7 came", [](auto& chunk) { chunk.set_kind(static_cast<wire::RoundKind>(7)); });
  RefusesChunk("source_incarnation: a number above 0", [](auto& chunk) { chunk.set_source_incarnation(0); });
  RefusesChunk("sent_at: 0 to 4611686018427387904 expected, -1 came", [](auto& chunk) { chunk.set_sent_at_ns(-1); });
  RefusesChunk("sent_at: 0 to", [](auto& chunk) { chunk.set_sent_at_ns(std::numeric_limits<int64_t>::max()); });
}

TEST_F(WireMalformedTest, ResultsAndAbstentions) {
  RefusesChunk("made_in: an epoch in a broadcast half expected, 0 came", [](auto& chunk) { chunk.clear_made_in(); });
  RefusesChunk("frames: 0 of an abstention expected, more came",
               [](auto& chunk) { chunk.set_kind(wire::ROUND_KIND_ABSTENTION); });
  RefusesChunk("cut_frames: 0 but of a contribution to a sum", [](auto& chunk) { chunk.set_cut_frames(1); });
  RefusesChunk("cut_frames: 0 to 256 expected, 257 came", [](auto& chunk) { chunk.set_cut_frames(257); });
  RefusesChunk("cuts[0].frames: 1 to 256 expected, 0 came", [](auto& chunk) { chunk.add_cuts()->set_node(1); });
  RefusesChunk("frames[0].level: 0 to 31", [](auto& chunk) { chunk.mutable_frames(0)->set_level(32); });
}

TEST_F(WireMalformedTest, EpochChanges) {
  const auto begin = wire::Envelope::kEpochBegin;
  Refuses(begin, "EpochBegin: epoch: a number above 0", [](auto& e) { e.mutable_epoch_begin()->clear_epoch(); });
  const auto report = wire::Envelope::kEpochReport;
  Refuses(report, "EpochReport: epoch: a number above 0", [](auto& e) { e.mutable_epoch_report()->clear_epoch(); });
  Refuses(report, "EpochReport: progress[1].first_key: above 3 expected, 3 came",
          [](auto& e) { e.mutable_epoch_report()->mutable_progress(1)->set_first_key(3); });
  Refuses(report, "EpochReport: progress[0].last_key: a number above 0",
          [](auto& e) { e.mutable_epoch_report()->mutable_progress(0)->clear_last_key(); });
  const auto plan = wire::Envelope::kEpochPlan;
  Refuses(plan, "EpochPlan: policy: a number above 0", [](auto& e) { e.mutable_epoch_plan()->clear_policy(); });
  Refuses(plan, "EpochPlan: frontiers[1].first_key: above 3 expected, 1 came",
          [](auto& e) { e.mutable_epoch_plan()->mutable_frontiers(1)->set_first_key(1); });
  Refuses(plan, "EpochPlan: bindings[0].last_key: 9 or above expected, 3 came",
          [](auto& e) { e.mutable_epoch_plan()->mutable_bindings(0)->set_first_key(9); });
  Refuses(plan, "EpochPlan: bindings[1].last_round: 0 to 65535 rounds after round 16 expected, round 3 came",
          [](auto& e) { e.mutable_epoch_plan()->mutable_bindings(1)->set_last_round(3); });
  Refuses(plan, "EpochPlan: bindings[1].chunk_max_elements: 1 to",
          [](auto& e) { e.mutable_epoch_plan()->mutable_bindings(1)->clear_chunk_max_elements(); });
  Refuses(wire::Envelope::kRemoveNode, "RemoveNode: name: ", [](auto& e) { e.mutable_remove_node()->clear_name(); });
}

TEST_F(WireMalformedTest, CutsOfLeases) {
  const auto sought = wire::Envelope::kCutSought;
  Refuses(sought, "CutSought: term: a number above 0", [](auto& e) { e.mutable_cut_sought()->clear_term(); });
  Refuses(sought, "CutSought: epoch: a number above 0", [](auto& e) { e.mutable_cut_sought()->clear_epoch(); });
  Refuses(sought, "CutSought: cut: a number above 0", [](auto& e) { e.mutable_cut_sought()->clear_cut(); });
  const auto bound = wire::Envelope::kCutBound;
  Refuses(bound, "CutBound: epoch: a number above 0", [](auto& e) { e.mutable_cut_bound()->clear_epoch(); });
  Refuses(bound, "CutBound: cut: a number above 0", [](auto& e) { e.mutable_cut_bound()->clear_cut(); });
  Refuses(bound, "CutBound: rounds[0].key: a number above 0",
          [](auto& e) { e.mutable_cut_bound()->mutable_rounds(0)->clear_key(); });
  Refuses(bound, "CutBound: rounds[0].more_keys: at most",
          [](auto& e) { e.mutable_cut_bound()->mutable_rounds(0)->set_more_keys(0xffffffff); });
  Refuses(wire::Envelope::kPolicyAnswer, "PolicyAnswer: bindings[0].chunk_max_elements: 0 to",
          [](auto& e) { e.mutable_policy_answer()->mutable_bindings(0)->set_chunk_max_elements(-1); });
}

TEST_F(WireMalformedTest, Routes) {
  RefusesChunk("route.path: 2 to 1024 entries expected, 0 came", [](auto& chunk) { chunk.clear_route(); });
  RefusesChunk("route.path: 2 to 1024 entries expected, 1 came", [](auto& chunk) {
    chunk.mutable_route()->clear_path();
    chunk.mutable_route()->add_path(1);
  });
  RefusesChunk("route.path: 2 to 1024 entries expected, 1025 came", [](auto& chunk) {
    chunk.mutable_route()->clear_path();
    for (int node = 1; node <= 1025; ++node) chunk.mutable_route()->add_path(node);
  });
  RefusesChunk("route.path: a number above 0", [](auto& chunk) { chunk.mutable_route()->set_path(1, 0); });
  RefusesChunk("route.path: each node once expected, a node twice came",
               [](auto& chunk) { chunk.mutable_route()->set_path(2, 3); });
  RefusesChunk("route.hop: 0 to 1 expected, 2 came", [](auto& chunk) { chunk.mutable_route()->set_hop(2); });
  RefusesChunk("route.hop: 0 to 1 expected, 4294967295 came",
               [](auto& chunk) { chunk.mutable_route()->set_hop(0xffffffff); });
}

TEST_F(WireMalformedTest, ResultRatios) {
  for (double ratio : {-0.5, 1e-12, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    RefusesChunk("result_ratio: ", [ratio](auto& chunk) { chunk.set_result_ratio(ratio); });
  }
}

TEST_F(WireMalformedTest, Frames) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  RefusesChunk("elements: 1 to 16777216 expected, 0 came", [](auto& chunk) { chunk.clear_elements(); });
  RefusesChunk("elements: 1 to 16777216", [](auto& chunk) { chunk.set_elements(kLargest); });
  RefusesChunk("elements: 1 to 16777216", [](auto& chunk) { chunk.set_elements(kLowest); });
  RefusesChunk("frames[0].codec: 0 to 255 expected, 256 came",
               [](auto& chunk) { chunk.mutable_frames(0)->set_codec(static_cast<wire::CodecId>(256)); });
  RefusesChunk("frames[1].first_element: 0 to 99 expected, 100 came",
               [](auto& chunk) { chunk.mutable_frames(1)->set_first_element(100); });
  RefusesChunk("frames[1].first_element: 0 to 99 expected, -1 came",
               [](auto& chunk) { chunk.mutable_frames(1)->set_first_element(-1); });
  RefusesChunk("frames[0].elements: 1 to 60 expected, 61 came",
               [](auto& chunk) { chunk.mutable_frames(0)->set_elements(61); });
  RefusesChunk("frames[0].elements: 1 to 60", [](auto& chunk) { chunk.mutable_frames(0)->set_elements(kLargest); });
  RefusesChunk("frames[0].elements: 1 to 60", [](auto& chunk) { chunk.mutable_frames(0)->set_elements(0); });
  RefusesChunk("frames[0].size_bytes: 4 bytes for each of 60 elements expected, 241 came",
               [](auto& chunk) { chunk.mutable_frames(0)->set_size_bytes(241); });
  RefusesChunk("frames[0].size_bytes: 4 bytes for each",
               [](auto& chunk) { chunk.mutable_frames(0)->set_size_bytes(kLowest); });
  RefusesChunk("frames[0].size_bytes: the 240 bytes of the frame that arrived expected, 236 came", [](auto& chunk) {
    chunk.mutable_frames(0)->set_elements(59);
    chunk.mutable_frames(0)->set_size_bytes(236);
  });
  RefusesChunk("frames: as many as the 2 frames that arrived expected, 3 came",
               [](auto& chunk) { *chunk.add_frames() = chunk.frames(0); });
  RefusesChunk("frames: 0 to 256 entries expected, 257 came", [](auto& chunk) {
    while (chunk.frames_size() < 257) chunk.add_frames();
  });
}

TEST_F(WireMalformedTest, PayloadsOtherThanTheHeaderSays) {
  payload_.pop_back();
  RefusesChunk("frames: as many as the 1 frames that arrived expected, 2 came", [](auto&) {});
  payload_ = {Buffer::Allocate(60), Buffer::Allocate(155, DataType::kByte)};
  RefusesChunk("frames[1].size_bytes: the 155 bytes of the frame that arrived expected, 156 came", [](auto&) {});
}

TEST_F(WireMalformedTest, EmptyChunks) {
  payload_.clear();
  for (wire::RoundKind kind : {wire::ROUND_KIND_BROADCAST, wire::ROUND_KIND_AGGREGATE, wire::ROUND_KIND_FLUSH}) {
    RefusesChunk("frames: at least 1 in a result that has a kind expected, 0 came", [kind](auto& chunk) {
      chunk.clear_frames();
      chunk.set_weight(0);
      chunk.set_kind(kind);
    });
  }
  for (wire::RoundKind kind : {wire::ROUND_KIND_ABSTENTION, wire::ROUND_KIND_AGGREGATE}) {
    RefusesChunk("weight: 0 with 0 frames expected, 9 came", [kind](auto& chunk) {
      chunk.clear_frames();
      chunk.set_kind(kind);
      if (kind == wire::ROUND_KIND_ABSTENTION) return;
      chunk.mutable_id()->set_half(wire::HALF_REDUCE);
      chunk.clear_made_in();
    });
  }
}

TEST_F(WireMalformedTest, PeerMessages) {
  Refuses(wire::Envelope::kPeerHello, "PeerHello: job: at most 1024 bytes expected, 1025 came",
          [](auto& envelope) { envelope.mutable_peer_hello()->set_job(std::string(1025, 'x')); });
  Refuses(wire::Envelope::kPeerHello, "PeerHello: term: a number above 0",
          [](auto& envelope) { envelope.mutable_peer_hello()->set_term(0); });
  Refuses(wire::Envelope::kPeerHello, "PeerHello: node: a number above 0",
          [](auto& envelope) { envelope.mutable_peer_hello()->set_node(0); });
  Refuses(wire::Envelope::kPeerHello, "PeerHello: incarnation: a number above 0",
          [](auto& envelope) { envelope.mutable_peer_hello()->set_incarnation(0); });
  Refuses(wire::Envelope::kLinkAck, "LinkAck: entries[1].sent_at: 0 to",
          [](auto& envelope) { envelope.mutable_link_ack()->mutable_entries(1)->set_sent_at_ns(-5); });
  Refuses(wire::Envelope::kLinkAck, "LinkAck: entries[0].received_at: 0 to",
          [](auto& envelope) { envelope.mutable_link_ack()->mutable_entries(0)->set_received_at_ns(-5); });
  Refuses(wire::Envelope::kDeliveryAck, "DeliveryAck: route.hop: 0 to 1 expected, 9 came",
          [](auto& envelope) { envelope.mutable_delivery_ack()->mutable_route()->set_hop(9); });
  Refuses(wire::Envelope::kDeliveryAck, "DeliveryAck: chunks[1].key: a number above 0",
          [](auto& envelope) { envelope.mutable_delivery_ack()->mutable_chunks(1)->set_key(0); });
  Refuses(wire::Envelope::kBusy, "Busy: route.path: 2 to 1024 entries",
          [](auto& envelope) { envelope.mutable_busy()->clear_route(); });
  Refuses(wire::Envelope::kBusy, "Busy: chunks[0].half: 0 to 2",
          [](auto& envelope) { envelope.mutable_busy()->mutable_chunks(0)->set_half(static_cast<wire::Half>(9)); });
  Refuses(wire::Envelope::kGrant, "Grant: route.path: each node once",
          [](auto& envelope) { envelope.mutable_grant()->mutable_route()->set_path(0, 7); });
  Refuses(wire::Envelope::kPeerHeartbeat, "PeerHeartbeat: sent_at: 0 to",
          [](auto& envelope) { envelope.mutable_peer_heartbeat()->set_sent_at_ns(-1); });
}

TEST_F(WireMalformedTest, MessagesToTheScheduler) {
  const std::string long_name(1025, 'x');
  Refuses(wire::Envelope::kJoin, "Join: job: at most 1024", [&](auto& e) { e.mutable_join()->set_job(long_name); });
  Refuses(wire::Envelope::kJoin, "Join: name: at most 1024", [&](auto& e) { e.mutable_join()->set_name(long_name); });
  Refuses(wire::Envelope::kJoin, "Join: address: at", [&](auto& e) { e.mutable_join()->set_address(long_name); });
  Refuses(wire::Envelope::kJoin, "Join: version: at", [&](auto& e) { e.mutable_join()->set_version(long_name); });
  Refuses(wire::Envelope::kJoin, "Join: incarnation: a", [](auto& e) { e.mutable_join()->set_incarnation(0); });
  Refuses(wire::Envelope::kHeartbeat, "Heartbeat: sent_at: 0 to",
          [](auto& e) { e.mutable_heartbeat()->set_sent_at_ns(-1); });
  Refuses(wire::Envelope::kRegisterKeys, "RegisterKeys: keys[1].name: a name expected, no character came",
          [](auto& e) { e.mutable_register_keys()->mutable_keys(1)->clear_name(); });
  Refuses(wire::Envelope::kRegisterKeys, "keys[0].name: no control character expected, one with code 10 came",
          [](auto& e) { e.mutable_register_keys()->mutable_keys(0)->set_name("a\nb"); });
  Refuses(wire::Envelope::kRegisterKeys, "RegisterKeys: keys[0].elements: 0 to 1099511627776 expected, -1 came",
          [](auto& e) { e.mutable_register_keys()->mutable_keys(0)->set_elements(-1); });
  Refuses(wire::Envelope::kRegisterKeys, "RegisterKeys: keys[1].parts[1].name: a name expected",
          [](auto& e) { e.mutable_register_keys()->mutable_keys(1)->mutable_parts(1)->clear_name(); });
  Refuses(wire::Envelope::kRegisterKeys,
          "RegisterKeys: keys[1].parts[0].elements: 0 to 1099511627776 expected, -1 came",
          [](auto& e) { e.mutable_register_keys()->mutable_keys(1)->mutable_parts(0)->set_elements(-1); });
  Refuses(wire::Envelope::kRegisterKeys, "RegisterKeys: keys[1].parts: 12 elements in all expected, 13 came",
          [](auto& e) { e.mutable_register_keys()->mutable_keys(1)->mutable_parts(0)->set_elements(5); });
  Refuses(wire::Envelope::kPolicyRequest, "PolicyRequest: entries[0].key: a number above 0",
          [](auto& e) { e.mutable_policy_request()->mutable_entries(0)->set_key(0); });
  Refuses(wire::Envelope::kPolicyRequest, "PolicyRequest: entries[0].more_keys: at most",
          [](auto& e) { e.mutable_policy_request()->mutable_entries(0)->set_more_keys(1u << 31); });
  Refuses(wire::Envelope::kRoundsClosed, "RoundsClosed: entries[1].key: a number above 0",
          [](auto& e) { e.mutable_rounds_closed()->mutable_entries(1)->clear_key(); });
  Refuses(wire::Envelope::kRoundsClosed, "RoundsClosed: entries[1].more_keys: at most",
          [](auto& e) { e.mutable_rounds_closed()->mutable_entries(1)->set_more_keys(65535); });
  Refuses(wire::Envelope::kNodeReport, "NodeReport: progress[0].more_keys: at most",
          [](auto& e) { e.mutable_node_report()->mutable_progress(0)->set_more_keys(1u << 31); });
  Refuses(wire::Envelope::kRoundBroken, "RoundBroken: key: a", [](auto& e) { e.mutable_round_broken()->clear_key(); });
  Refuses(wire::Envelope::kPeerLost, "PeerLost: peer: a", [](auto& e) { e.mutable_peer_lost()->clear_peer(); });
}

TEST_F(WireMalformedTest, ReasonsAndReports) {
  const std::string long_reason(kMaxWireReasonBytes + 1, 'x');
  Refuses(wire::Envelope::kPeerLost, "PeerLost: reason: at most 4096 bytes expected, 4097 came",
          [&](auto& e) { e.mutable_peer_lost()->set_reason(long_reason); });
  Refuses(wire::Envelope::kWorkerLost, "WorkerLost: reason: at most",
          [&](auto& e) { e.mutable_worker_lost()->set_reason(long_reason); });
  Refuses(wire::Envelope::kLeave, "Leave: reason: at", [&](auto& e) { e.mutable_leave()->set_reason(long_reason); });
  Refuses(wire::Envelope::kNodeReport, "NodeReport: links[1].to: a number above 0",
          [](auto& e) { e.mutable_node_report()->mutable_links(1)->clear_to(); });
  Refuses(wire::Envelope::kNodeReport, "NodeReport: memory[0].what: a name",
          [](auto& e) { e.mutable_node_report()->mutable_memory(0)->clear_what(); });
  Refuses(wire::Envelope::kNodeReport, "NodeReport: memory: 0 to 64 entries expected, 65 came", [](auto& e) {
    while (e.node_report().memory_size() < 65) e.mutable_node_report()->add_memory()->set_what("x");
  });
  Refuses(wire::Envelope::kNodeReport, "NodeReport: missing: 0 to 2 entries expected, 3 came", [](auto& e) {
    while (e.node_report().missing_size() < 3) e.mutable_node_report()->add_missing();
  });
  Refuses(wire::Envelope::kNodeReport, "NodeReport: missing[0].workers: 0 to 16 entries expected, 17 came",
          [](auto& e) {
            auto& missing = *e.mutable_node_report()->mutable_missing(0);
            while (missing.workers_size() < 17) missing.add_workers(1);
          });
  Refuses(wire::Envelope::kNodeReport, "NodeReport: not_finite: 0 to 64 entries expected, 65 came", [](auto& e) {
    while (e.node_report().not_finite_size() < 65) e.mutable_node_report()->add_not_finite();
  });
  Refuses(wire::Envelope::kNodeReport, "NodeReport: progress[0].key: a number above 0",
          [](auto& e) { e.mutable_node_report()->mutable_progress(0)->clear_key(); });
  Refuses(wire::Envelope::kNodeReport, "NodeReport: loss: a finite number expected, nan came",
          [](auto& e) { e.mutable_node_report()->set_loss(std::nan("")); });
  Refuses(wire::Envelope::kNodeReport, "links[0].measurement.source: 0 to 1 expected, 9 came", [](auto& e) {
    e.mutable_node_report()->mutable_links(0)->mutable_measurement()->set_source(
        static_cast<wire::MeasurementSource>(9));
  });
  Refuses(wire::Envelope::kNodeReport, "links[1].measurement.rate_bps: ", [](auto& e) {
    e.mutable_node_report()->mutable_links(1)->mutable_measurement()->set_rate_bps(0);
  });
  Refuses(wire::Envelope::kNodeReport, "links[1].measurement.age: 0 to 8784h expected, -1ns came",
          [](auto& e) { e.mutable_node_report()->mutable_links(1)->mutable_measurement()->set_age_ns(-1); });
  Refuses(wire::Envelope::kNodeReport, "NodeReport: links[0].busy_share: 0 to 1 expected, 1.5 came",
          [](auto& e) { e.mutable_node_report()->mutable_links(0)->set_busy_share(1.5); });
  Refuses(wire::Envelope::kNodeReport, "NodeReport: last_sync.duration: 0 to 8784h expected, -1ns came",
          [](auto& e) { e.mutable_node_report()->mutable_last_sync()->set_duration_ns(-1); });
  Refuses(wire::Envelope::kNodeReport, "NodeReport: last_sync.elements: 0 to",
          [](auto& e) { e.mutable_node_report()->mutable_last_sync()->set_elements(-1); });
}

TEST_F(WireMalformedTest, ChangesOfPolicy) {
  Refuses(wire::Envelope::kPoliciesRetired, "PoliciesRetired: oldest: a number above 0 expected, 0 came",
          [](auto& e) { e.mutable_policies_retired()->clear_oldest(); });
  Refuses(wire::Envelope::kPolicyPublished, "slice.transmission.estimator", [](auto& e) {
    e.mutable_policy_published()->mutable_slice()->mutable_transmission()->set_estimator(
        static_cast<wire::RateEstimator>(2));
  });
  Refuses(wire::Envelope::kPolicyPublished, "slice.transmission.probe_chunks: 1 to 1048576 expected, 0 came",
          [](auto& e) { e.mutable_policy_published()->mutable_slice()->mutable_transmission()->clear_probe_chunks(); });
  Refuses(wire::Envelope::kPolicyPublished, "slice.auxiliary[0].rate_bps: ", [](auto& e) {
    e.mutable_policy_published()->mutable_slice()->mutable_auxiliary(0)->set_rate_bps(-1);
  });
  Refuses(wire::Envelope::kReconfigure,
          "Reconfigure: file_name: ", [](auto& e) { e.mutable_reconfigure()->set_file_name(std::string(1025, 'x')); });
}

TEST_F(WireMalformedTest, TermsOfTheScheduler) {
  const auto refuses_term = [this](wire::Envelope::MessageCase kind) {
    Refuses(kind, ": term: a number above 0 expected, 0 came", [kind](wire::Envelope& envelope) {
      const auto* field = wire::Envelope::descriptor()->FindFieldByNumber(kind);
      google::protobuf::Message* inner = envelope.GetReflection()->MutableMessage(&envelope, field);
      inner->GetReflection()->ClearField(inner, inner->GetDescriptor()->FindFieldByName("term"));
    });
  };
  int with_term = 0;
  for (const auto& [kind, sample] : samples_) {
    const auto* field = wire::Envelope::descriptor()->FindFieldByNumber(kind);
    if (field->message_type()->FindFieldByName("term") == nullptr) continue;
    refuses_term(static_cast<wire::Envelope::MessageCase>(kind));
    ++with_term;
  }
  EXPECT_EQ(with_term, 24);
}

TEST_F(WireMalformedTest, MessagesFromTheScheduler) {
  const std::string long_reason(kMaxWireReasonBytes + 1, 'x');
  Refuses(wire::Envelope::kJoinAccepted, "JoinAccepted: node: a",
          [](auto& e) { e.mutable_join_accepted()->clear_node(); });
  Refuses(wire::Envelope::kJoinRefused, "JoinRefused: reason: at most",
          [&](auto& e) { e.mutable_join_refused()->set_reason(long_reason); });
  Refuses(wire::Envelope::kMembershipUpdate, "MembershipUpdate: waiting_for: 0 to 16 entries expected, 17 came",
          [](auto& e) {
            while (e.membership_update().waiting_for_size() < 17) e.mutable_membership_update()->add_waiting_for("n");
          });
  Refuses(wire::Envelope::kMembershipUpdate, "MembershipUpdate: waiting_for: no control character",
          [](auto& e) { e.mutable_membership_update()->set_waiting_for(0, "\x1b[2J"); });
  Refuses(wire::Envelope::kHeartbeatReply, "HeartbeatReply: sent_at: 0 to",
          [](auto& e) { e.mutable_heartbeat_reply()->set_sent_at_ns(-1); });
  Refuses(wire::Envelope::kKeyRefused, "KeyRefused: name: a", [](auto& e) { e.mutable_key_refused()->clear_name(); });
  Refuses(wire::Envelope::kKeyRefused, "KeyRefused: reason: at",
          [&](auto& e) { e.mutable_key_refused()->set_reason(long_reason); });
  Refuses(wire::Envelope::kWaitAnswer, "WaitAnswer: term: a", [](auto& e) { e.mutable_wait_answer()->clear_term(); });
  Refuses(wire::Envelope::kWaitAnswer, "WaitAnswer: text: at",
          [&](auto& e) { e.mutable_wait_answer()->set_text(long_reason); });
  Refuses(wire::Envelope::kClosedEverywhere, "ClosedEverywhere: entries[0].key: a",
          [](auto& e) { e.mutable_closed_everywhere()->mutable_entries(0)->clear_key(); });
  Refuses(wire::Envelope::kClosedEverywhere, "ClosedEverywhere: entries[0].more_keys: at most",
          [](auto& e) { e.mutable_closed_everywhere()->mutable_entries(0)->set_more_keys(~0u); });
  Refuses(wire::Envelope::kJobFailed, "JobFailed: code: 1 to 16 expected, 0 came",
          [](auto& e) { e.mutable_job_failed()->clear_code(); });
  Refuses(wire::Envelope::kJobFailed, "JobFailed: code: 1 to 16 expected, 17 came",
          [](auto& e) { e.mutable_job_failed()->set_code(17); });
  Refuses(wire::Envelope::kJobFailed, "JobFailed: reason: at",
          [&](auto& e) { e.mutable_job_failed()->set_reason(long_reason); });
}

TEST_F(WireMalformedTest, KeysAndBindings) {
  Refuses(wire::Envelope::kKeysAssigned, "KeysAssigned: keys[0].key: a",
          [](auto& e) { e.mutable_keys_assigned()->mutable_keys(0)->clear_key(); });
  Refuses(wire::Envelope::kKeysAssigned, "KeysAssigned: keys[1].key: 2, without a gap expected, 3 came",
          [](auto& e) { e.mutable_keys_assigned()->mutable_keys(1)->set_key(3); });
  Refuses(wire::Envelope::kKeysAssigned, "KeysAssigned: keys[1].name: at most 1024",
          [](auto& e) { e.mutable_keys_assigned()->mutable_keys(1)->set_name(std::string(1025, 'x')); });
  Refuses(wire::Envelope::kKeysAssigned, "KeysAssigned: keys[0].elements: 1 to",
          [](auto& e) { e.mutable_keys_assigned()->mutable_keys(0)->set_elements((int64_t{1} << 40) + 1); });
  Refuses(wire::Envelope::kPolicyAnswer, "PolicyAnswer: bindings[0].key: a",
          [](auto& e) { e.mutable_policy_answer()->mutable_bindings(0)->clear_key(); });
  Refuses(wire::Envelope::kPolicyAnswer, "PolicyAnswer: bindings[0].more_keys: at most",
          [](auto& e) { e.mutable_policy_answer()->mutable_bindings(0)->set_more_keys(~0u); });
  Refuses(wire::Envelope::kPolicyAnswer, "PolicyAnswer: bindings[0].policy: a",
          [](auto& e) { e.mutable_policy_answer()->mutable_bindings(0)->clear_policy(); });
  Refuses(wire::Envelope::kPolicyAnswer,
          "bindings[0].last_round: 0 to 65535 rounds after round 18 expected, round 17 came",
          [](auto& e) { e.mutable_policy_answer()->mutable_bindings(0)->set_last_round(17); });
  Refuses(wire::Envelope::kPolicyAnswer, "round 65554 came",
          [](auto& e) { e.mutable_policy_answer()->mutable_bindings(0)->set_last_round(65554); });
}

TEST_F(WireMalformedTest, JobConfigs) {
  RefusesConfig("job: a name", [](auto& config) { config.clear_job(); });
  RefusesConfig("aggregation.op: 0 to 5 expected, 6 came",
                [](auto& config) { config.mutable_aggregation()->set_op(static_cast<wire::AggregationOp>(6)); });
  for (const char* field : {"learning_rate", "momentum", "beta1", "beta2", "epsilon", "weight_decay"}) {
    RefusesConfig(std::string("aggregation.") + field + ": a finite number expected, inf came", [&](auto& config) {
      wire::AggregationConfig* aggregation = config.mutable_aggregation();
      aggregation->GetReflection()->SetDouble(aggregation, aggregation->GetDescriptor()->FindFieldByName(field),
                                              kInfinity);
    });
  }
  RefusesConfig("chunk_max_elements: 1 to 16777216", [](auto& config) { config.set_chunk_max_elements(0); });
  RefusesConfig("workers: 1 to 256", [](auto& config) { config.set_workers(0); });
  RefusesConfig("rounds_in_flight: 1 to 1024", [](auto& config) { config.set_rounds_in_flight(1025); });
  RefusesConfig("connections_per_link: 1 to 1024", [](auto& config) { config.set_connections_per_link(0); });
  RefusesConfig("bytes_per_connection: 0 to", [](auto& config) { config.set_bytes_per_connection(-1); });
  RefusesConfig("window_bytes: 0 to", [](auto& config) { config.set_window_bytes(-1); });
  RefusesConfig("early_bytes: 0 to", [](auto& config) { config.set_early_bytes(-1); });
  RefusesConfig("relay_bytes: 0 to", [](auto& config) { config.set_relay_bytes(std::numeric_limits<int64_t>::max()); });
  RefusesConfig("heartbeat: 1ns to 8784h expected, 0 came", [](auto& config) { config.set_heartbeat_ns(0); });
  RefusesConfig("lost_after: 1ns to", [](auto& config) { config.set_lost_after_ns(-1); });
  RefusesConfig("schedulers: 0 to 16 entries expected, 17 came", [](auto& config) {
    while (config.schedulers_size() < 17) config.add_schedulers("tcp://a:1");
  });
  RefusesConfig("schedulers: a name", [](auto& config) { config.set_schedulers(1, ""); });
  RefusesConfig("resend_after: 1ns to",
                [](auto& config) { config.set_resend_after_ns(std::numeric_limits<int64_t>::max()); });
}

TEST_F(WireMalformedTest, Compression) {
  using Rule = wire::CompressionRule;
  const auto refuses_rule = [this](const std::string& error, const std::function<void(Rule&)>& spoil) {
    RefusesConfig("compression.rules[1]." + error,
                  [&](auto& config) { spoil(*config.mutable_compression()->mutable_rules(1)); });
  };
  refuses_rule("keys: a name", [](Rule& rule) { rule.clear_keys(); });
  refuses_rule("keys: no control character", [](Rule& rule) { rule.set_keys("a\nb"); });
  refuses_rule("keys: at most 1024 bytes expected, 1025 came", [](Rule& r) { r.set_keys(std::string(1025, '*')); });
  refuses_rule("codec: 0 to 15 expected, 16 came", [](Rule& rule) { rule.set_codec(static_cast<wire::CodecId>(16)); });
  refuses_rule("controller: 0 to 7 expected, 8 came",
               [](Rule& rule) { rule.set_controller(static_cast<wire::RatioController>(8)); });
  refuses_rule("selection: 0 to 1 expected, -1 came",
               [](Rule& rule) { rule.set_selection(static_cast<wire::TopKSelection>(-1)); });
  refuses_rule("numbers: 0 to 64 entries expected, 65 came", [](Rule& rule) {
    while (rule.numbers_size() < 65) *rule.add_numbers() = rule.numbers(0);
  });
  refuses_rule("numbers[0].name: a name", [](Rule& rule) { rule.mutable_numbers(0)->clear_name(); });
  refuses_rule("numbers[0].value: a finite number expected, inf came",
               [](Rule& rule) { rule.mutable_numbers(0)->set_value(kInfinity); });
  refuses_rule("seconds: a number from 0.001 to 3600 expected, -1 came",
               [](Rule& rule) { rule.mutable_numbers(0)->set_value(-1); });
  refuses_rule("seconds: each number once", [](Rule& rule) { *rule.add_numbers() = rule.numbers(0); });
  refuses_rule("ratio: a number of budget", [](Rule& rule) { rule.mutable_numbers(0)->set_name("ratio"); });
  refuses_rule("controller: none with codec int8", [](Rule& rule) { rule.set_codec(wire::CODEC_ID_INT8); });
  refuses_rule("selection: none with codec randomk", [](Rule& rule) { rule.set_codec(wire::CODEC_ID_RANDOM_K); });
  RefusesConfig("compression.rules: 0 to 256 entries expected, 257 came", [](auto& config) {
    while (config.compression().rules_size() < 257) config.mutable_compression()->add_rules();
  });
  RefusesConfig("compression.least_elements: 0 to", [](auto& c) { c.mutable_compression()->set_least_elements(-1); });
}

TEST_F(WireMalformedTest, PolicySlices) {
  RefusesSlice("version: a", [](auto& slice) { slice.clear_version(); });
  RefusesSlice("chunk_max_elements: 1 to", [](auto& slice) { slice.clear_chunk_max_elements(); });
  RefusesSlice("relayed[1].node: a number above 0", [](auto& slice) { slice.mutable_relayed(1)->clear_node(); });
  RefusesSlice("relayed[0].incarnation: a", [](auto& slice) { slice.mutable_relayed(0)->clear_incarnation(); });
  RefusesSlice("member_count: 1 to", [](auto& slice) { slice.clear_member_count(); });
  RefusesSlice("source: a", [](auto& slice) { slice.clear_source(); });
  RefusesSlice("trees: 1 to 65536 entries expected, 0 came", [](auto& slice) { slice.clear_trees(); });
  RefusesSlice("trees[1].root: a", [](auto& slice) { slice.mutable_trees(1)->clear_root(); });
  RefusesSlice("trees[0].share: 0 to 1 expected, 1.5 came", [](auto& s) { s.mutable_trees(0)->set_share(1.5); });
  RefusesSlice("trees[0].share: 0 to 1 expected, -0.5 came", [](auto& s) { s.mutable_trees(0)->set_share(-0.5); });
  RefusesSlice("trees[0].share: a finite", [](auto& slice) { slice.mutable_trees(0)->set_share(std::nan("")); });
  RefusesSlice("trees[0].reduce_parent: a", [](auto& slice) { slice.mutable_trees(0)->set_reduce_parent(0); });
  RefusesSlice("trees[0].broadcast_parent: a", [](auto& slice) { slice.mutable_trees(0)->set_broadcast_parent(0); });
  RefusesSlice("trees[0].broadcast_parent: a parent in both halves, or in none",
               [](auto& slice) { slice.mutable_trees(0)->clear_reduce_parent(); });
  RefusesSlice("trees[0].reduce_children: ids in rising order",
               [](auto& slice) { slice.mutable_trees(0)->set_reduce_children(0, 6); });
  RefusesSlice("trees[1].broadcast_children: a number above 0",
               [](auto& slice) { slice.mutable_trees(1)->set_broadcast_children(0, 0); });
  RefusesSlice("routes[0].path: 2 to 1024 entries", [](auto& slice) { slice.mutable_routes(0)->clear_path(); });
  RefusesSlice("auxiliary[1].path: each node once", [](auto& s) { s.mutable_auxiliary(1)->set_path(0, 8); });
  RefusesSlice("neighbours[0].node: a", [](auto& slice) { slice.mutable_neighbours(0)->clear_node(); });
  RefusesSlice("neighbours[0].name: a name", [](auto& slice) { slice.mutable_neighbours(0)->clear_name(); });
  RefusesSlice("neighbours[0].address: no control",
               [](auto& s) { s.mutable_neighbours(0)->set_address("tcp://\x01"); });
  RefusesSlice("neighbours[0].incarnation: a", [](auto& s) { s.mutable_neighbours(0)->clear_incarnation(); });
  RefusesSlice("neighbours[0].rate_bps: 0 to", [](auto& slice) { slice.mutable_neighbours(0)->set_rate_bps(-1); });
  RefusesSlice("neighbours[0].rate_bps: a", [](auto& s) { s.mutable_neighbours(0)->set_rate_bps(kInfinity); });
  RefusesSlice("neighbours[0].budget_share: ", [](auto& s) { s.mutable_neighbours(0)->set_budget_share(1.5); });
  RefusesSlice("neighbours[0].budget_share: ", [](auto& s) { s.mutable_neighbours(0)->set_budget_share(-0.5); });
  RefusesSlice("neighbours[0].capped_bps: ", [](auto& s) { s.mutable_neighbours(0)->set_capped_bps(-1); });
  RefusesSlice("neighbours[0].capped_bps: ", [](auto& s) { s.mutable_neighbours(0)->set_capped_bps(kInfinity); });
  RefusesSlice("neighbours[0].round_trip: 0 to", [](auto& s) { s.mutable_neighbours(0)->set_round_trip_ns(-1); });
}

}  // namespace
}  // namespace banyan
