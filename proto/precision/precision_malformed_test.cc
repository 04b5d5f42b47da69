// Every field about low-bit rounds that a peer can get wrong, one at a time.
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

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class PrecisionMalformedTest : public ::testing::Test {
 protected:
  PrecisionMalformedTest() {
    for (const WireSample& sample : WireSamples()) {
      wire::Envelope envelope;
      EXPECT_TRUE(envelope.ParseFromString(EncodeMessage(sample.message)));
      samples_[envelope.message_case()] = envelope;
    }
  }
  void Refuses(wire::Envelope::MessageCase kind, const std::string& error,
               const std::function<void(wire::Envelope&)>& spoil) {
    wire::Envelope envelope = samples_[kind];
    spoil(envelope);
    const Payload payload = kind == wire::Envelope::kChunk ? SampleChunk().payload : Payload();
    const absl::StatusOr<Message> message = DecodeMessage(envelope.SerializeAsString(), payload);
    ASSERT_FALSE(message.ok()) << error << " accepted in " << envelope.DebugString();
    EXPECT_THAT(std::string(message.status().message()), HasSubstr("malformed " + error));
  }
  void RefusesReport(const std::string& error, const std::function<void(wire::HealthReport&)>& spoil) {
    Refuses(wire::Envelope::kHealthReport, "HealthReport: " + error,
            [&spoil](wire::Envelope& envelope) { spoil(*envelope.mutable_health_report()); });
  }
  void RefusesRules(const std::string& error, const std::function<void(wire::VoteRules&)>& spoil) {
    Refuses(wire::Envelope::kJoinAccepted, "JoinAccepted: config.low_bit." + error, [&spoil](wire::Envelope& envelope) {
      spoil(*envelope.mutable_join_accepted()->mutable_config()->mutable_low_bit());
    });
  }

  std::map<int, wire::Envelope> samples_;
};

TEST_F(PrecisionMalformedTest, Routes) {
  const auto unknown = static_cast<wire::PrecisionRoute>(3);
  Refuses(wire::Envelope::kChunk, "ChunkMessage: precision: 0 to 2 expected, 3 came",
          [&](auto& e) { e.mutable_chunk()->set_precision(unknown); });
  Refuses(wire::Envelope::kPolicyAnswer,
          "PolicyAnswer: bindings[0].route: a precision route for each slice expected, 3 came",
          [&](auto& e) { e.mutable_policy_answer()->mutable_bindings(0)->set_route(3); });
  Refuses(wire::Envelope::kEpochPlan,
          "EpochPlan: bindings[1].route: a precision route for each slice expected, 12 came",
          [&](auto& e) { e.mutable_epoch_plan()->mutable_bindings(1)->set_route(12); });
}

TEST_F(PrecisionMalformedTest, BordersOfSlices) {
  const auto refuses = [this](const std::string& error, int64_t border) {
    Refuses(wire::Envelope::kKeysAssigned, "KeysAssigned: keys[0].borders: " + error,
            [border](auto& e) { e.mutable_keys_assigned()->mutable_keys(0)->set_borders(1, border); });
  };
  refuses("129 to 401407 expected, 128 came", 128);
  refuses("129 to 401407 expected, 401408 came", 401408);
  Refuses(wire::Envelope::kKeysAssigned, "KeysAssigned: keys[0].borders: 0 to 31 entries expected, 32 came",
          [](auto& e) {
            for (int i = 0; i < 30; ++i) e.mutable_keys_assigned()->mutable_keys(0)->add_borders(5000 + i);
          });
}

TEST_F(PrecisionMalformedTest, HealthOfATraining) {
  RefusesReport("worker: 0 to 255 expected, 256 came", [](auto& report) { report.set_worker(256); });
  RefusesReport("step: 0 to", [](auto& report) { report.set_step(-1); });
  RefusesReport("loss: ", [](auto& report) { report.set_loss(std::nan("")); });
  RefusesReport("loss: ", [](auto& report) { report.set_loss(-1.7e308); });
  RefusesReport("progress: ", [](auto& report) { report.set_progress(1.5); });
  RefusesReport("learning_rate_fraction: ", [](auto& report) { report.set_learning_rate_fraction(-0.5); });
  RefusesReport("metric: ", [](auto& report) { report.set_metric(kInfinity); });
  RefusesReport("metric: ", [](auto& report) { report.set_metric(1.7e308); });
}

TEST_F(PrecisionMalformedTest, ReportsOfNodes) {
  const auto refuses = [this](const std::string& error, const std::function<void(wire::PrecisionReport&)>& spoil) {
    Refuses(wire::Envelope::kNodeReport, "NodeReport: precision." + error,
            [&spoil](wire::Envelope& e) { spoil(*e.mutable_node_report()->mutable_precision()); });
  };
  refuses("services[0].kind: 0 to 2 expected, 3 came", [](auto& report) { report.mutable_services(0)->set_kind(3); });
  refuses("services[1].time_ns: 0 to", [](auto& report) { report.mutable_services(1)->set_time_ns(-1); });
  refuses("services: 0 to 3 entries expected, 4 came", [](auto& report) {
    while (report.services_size() < 4) report.add_services();
  });
  refuses("threads: 0 to 4096 expected, 4097 came", [](auto& report) { report.set_threads(4097); });
}

TEST_F(PrecisionMalformedTest, Vetoes) {
  const auto veto = wire::Envelope::kVetoLowBit;
  Refuses(veto, "VetoLowBit: scopes: a name", [](auto& e) { e.mutable_veto_low_bit()->set_scopes(0, ""); });
  Refuses(veto, "VetoLowBit: scopes: 0 to 64 entries expected, 65 came", [](auto& e) {
    while (e.veto_low_bit().scopes_size() < 65) e.mutable_veto_low_bit()->add_scopes("a");
  });
}

TEST_F(PrecisionMalformedTest, RulesOfVotes) {
  RefusesRules("family: ", [](auto& rules) { rules.set_family(static_cast<wire::LowBitFamily>(2)); });
  RefusesRules("gate: ", [](auto& rules) { rules.set_gate(static_cast<wire::ZeroGate>(2)); });
  RefusesRules("sender_threshold: ", [](auto& rules) { rules.set_sender_threshold(-1); });
  RefusesRules("result_margin: ", [](auto& rules) { rules.set_result_margin(1.5); });
  RefusesRules("aggregate: ", [](auto& rules) { rules.set_aggregate(static_cast<wire::VoteAggregate>(2)); });
  RefusesRules("tie: ", [](auto& rules) { rules.set_tie(static_cast<wire::TieRule>(2)); });
}

// A smoothed loss that takes a very large number for one would hide what comes after it for thousands of steps.
TEST_F(PrecisionMalformedTest, ALossThatIsNoNumberArrivesAsInfinite) {
  const auto arrived = [](double loss) {
    const absl::StatusOr<Message> message = DecodeMessage(EncodeMessage(HealthReport{WorkerId(0), {1, loss}}), {});
    EXPECT_TRUE(message.ok()) << message.status();
    return std::get<HealthReport>(message.value()).health.loss;
  };
  EXPECT_EQ(arrived(std::nan("")), kInfinity);
  EXPECT_EQ(arrived(kInfinity), kInfinity);
  EXPECT_EQ(arrived(-kInfinity), -kInfinity);
  EXPECT_EQ(arrived(1e300), 1e300);
}

}  // namespace
}  // namespace banyan
