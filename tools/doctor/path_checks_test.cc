#include "tools/doctor/path_checks.h"

#include <functional>
#include <string>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using Answerer = PathFacts::Answerer;

PathFacts Healthy() {
  PathFacts facts;
  facts.name = "n2";
  facts.address = "tcp://10.0.0.2:7702";
  facts.answerer = Answerer::kDoctor;
  facts.answered_name = "n2";
  facts.own_end = facts.seen_as = "10.0.0.1";
  facts.round_trip = absl::Milliseconds(30);
  facts.path_mtu = 1500;
  facts.congestion_control = "cubic";
  facts.call_back = "ok";
  return facts;
}

PathExpectation Expected() {
  return {.round_trip = absl::Milliseconds(30), .rate_there_bps = 100e6, .rate_back_bps = 50e6};
}

TEST(PathChecksTest, AHealthyPathHasNoFaults) {
  PathFacts facts = Healthy();
  facts.rate_there_bps = 90e6;
  facts.rate_back_bps = 45e6;
  facts.idle = absl::OkStatus();
  const CheckResults results = CheckPath(facts, Expected());
  EXPECT_EQ(results.size(), 9u);
  for (const CheckResult& result : results) EXPECT_TRUE(result.ok) << result.name << ": " << result.text;
}

TEST(PathChecksTest, ANatIsNoFaultAndIsNamed) {
  PathFacts facts = Healthy();
  facts.seen_as = "192.0.2.7";
  const CheckResults results = CheckPath(facts, Expected());
  EXPECT_TRUE(results[0].ok);
  EXPECT_THAT(results[0].text, HasSubstr("a NAT shows this site there as 192.0.2.7"));
}

TEST(PathChecksTest, ADaemonThatRunsIsReached) {
  PathFacts facts = Healthy();
  facts.answerer = Answerer::kBanyan;
  const CheckResults results = CheckPath(facts, Expected());
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].ok);
}

struct Fault {
  std::string check;
  std::string says;
  std::function<void(PathFacts&)> make;
};

class PathFaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(PathFaultTest, IsTheOneThatIsFound) {
  PathFacts facts = Healthy();
  GetParam().make(facts);
  CheckResults bad;
  for (const CheckResult& result : CheckPath(facts, Expected())) {
    if (!result.ok) bad.push_back(result);
  }
  ASSERT_EQ(bad.size(), 1u);
  EXPECT_EQ(bad[0].name, GetParam().check + ":n2");
  EXPECT_THAT(bad[0].text, HasSubstr(GetParam().says));
  EXPECT_TRUE(absl::StrContains(bad[0].text, "; ")) << "no advice: " << bad[0].text;
}

INSTANTIATE_TEST_SUITE_P(
    All, PathFaultTest,
    ::testing::Values(
        Fault{"name", "no such name", [](auto& facts) { facts.lookup = absl::NotFoundError("no such name"); }},
        Fault{"name", "/etc/hosts", [](auto& facts) { facts.is_here_alone = true; }},
        Fault{"reach", "nothing listens", [](auto& facts) { facts.connect = absl::UnavailableError("refused"); }},
        Fault{"reach", "firewall drops", [](auto& facts) { facts.connect = absl::DeadlineExceededError("silence"); }},
        Fault{"reach", "no way there",
              [](auto& facts) { facts.connect = absl::FailedPreconditionError("No route to host"); }},
        Fault{"reach", "not Banyan", [](auto& facts) { facts.answerer = Answerer::kStranger; }},
        Fault{"reach", "leads to n3", [](auto& facts) { facts.answered_name = "n3"; }},
        Fault{"round-trip", "carries nothing",
              [](auto& facts) { facts.talk = absl::DeadlineExceededError("nothing moved"); }},
        Fault{"round-trip", "overlay says 30.0 ms", [](auto& facts) { facts.round_trip = absl::Milliseconds(90); }},
        Fault{"clock", "2000 ms behind", [](auto& facts) { facts.clock_ahead = -absl::Seconds(2); }},
        Fault{"call-back", "--advertise", [](auto& facts) { facts.call_back = "connection refused"; }},
        Fault{"large", "tcp_mtu_probing",
              [](auto& facts) { facts.large_there = absl::DeadlineExceededError("nothing moved"); }},
        Fault{"large", "do not come from there",
              [](auto& facts) { facts.large_back = absl::DeadlineExceededError("nothing moved"); }},
        Fault{"large", "up to 576 bytes", [](auto& facts) { facts.path_mtu = 576; }},
        Fault{"loss", "2.0% of the packets", [](auto& facts) { facts.resent_fraction = 0.02; }},
        Fault{"rate-there", "overlay says 100.0 Mbit/s", [](auto& facts) { facts.rate_there_bps = 20e6; }},
        Fault{"rate-back", "overlay says 50.0 Mbit/s", [](auto& facts) { facts.rate_back_bps = 20e6; }},
        Fault{"idle", "forgets connections",
              [](auto& facts) { facts.idle = absl::DeadlineExceededError("nothing moved"); }}));

TEST(PathChecksTest, PacketsThatOvertakeEachOtherAreAHint) {
  PathFacts facts = Healthy();
  facts.overtakings = 3;
  bool is_told = false;
  for (const CheckResult& result : CheckPath(facts, Expected())) {
    EXPECT_TRUE(result.ok) << result.text;
    is_told = is_told || (result.name == "loss:n2" && result.value == "0.0%, reordered" &&
                          absl::StrContains(result.text, "packets overtook each other (3 times seen)"));
  }
  EXPECT_TRUE(is_told);
}

TEST(PathChecksTest, LossesHurtNobodyUnderBbrOrOnAShortPath) {
  PathFacts facts = Healthy();
  facts.resent_fraction = 0.02;
  facts.congestion_control = "bbr";
  for (const CheckResult& result : CheckPath(facts, Expected())) EXPECT_TRUE(result.ok) << result.text;
  facts.congestion_control = "cubic";
  facts.round_trip = absl::Milliseconds(1);
  for (const CheckResult& result : CheckPath(facts, Expected())) EXPECT_TRUE(result.ok) << result.text;
}

}  // namespace
}  // namespace banyan
