// Messages of every kind, from every connection, in any order and with any content that decodes: the scheduler neither
// crashes nor outgrows its limits, and the same seed gives the same actions.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "gtest/gtest.h"
#include "proto/wire.h"
#include "scheduler/members/job_config_maker.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/testing/scheduler_harness.h"

namespace banyan {
namespace {

constexpr int kNodes = 5;

class Fuzzer {
 public:
  // `starts`: how many starts of nodes there were before.
  Fuzzer(uint64_t seed, StoredRecords stored, size_t least_tail_bytes = StateLog::kLeastTailBytes, uint64_t starts = 0)
      : random_(seed),
        changes_(starts),
        harness_(MeshOverlay(kNodes, "policy: {lease_seconds: 60}\n"), std::move(stored), least_tail_bytes) {}

  void Run(int steps) {
    for (int i = 0; i < steps; ++i) {
      StepOnce();
      if (i % 1000 == 0) CheckTables();
    }
  }

  SchedulerHarness& harness() { return harness_; }
  uint64_t starts() const { return changes_; }

 private:
  ConnectionId AnyConnection() {
    return SchedulerHarness::ConnectionOf(static_cast<int>(random_.Below(kNodes + 3)) + 1);
  }

  void StepOnce() {
    harness_.persists = !random_.Chance(0.05);
    harness_.computes = !random_.Chance(0.2);
    harness_.ForgetSent();
    const uint64_t dice = random_.Below(1000);
    if (dice < 4) return harness_.Step(ConnectionDown{AnyConnection()});
    if (dice < 8) return harness_.Step(MessageRejected{AnyConnection(), absl::InvalidArgumentError(AnyText())});
    if (dice < 20) return harness_.Advance(absl::Milliseconds(random_.Between(0, 300)), {1, 2, 3, 4, 5});
    const ConnectionId from = AnyConnection();
    Message message = AnyMessage();
    // What cannot be read never reaches the core.
    if (!DecodeMessage(EncodeMessage(message), {}).ok()) message = StatusRequest{};
    harness_.Receive(from, std::move(message));
  }

  void CheckTables() {
    const std::map<std::string, size_t> sizes = harness_.core().TableSizes();
    const size_t window = std::max(kMinOpenWindowRounds, kOpenWindowFactor * 3);
    const size_t keys = sizes.at("keys");
    EXPECT_LE(keys, 20u);
    EXPECT_LE(sizes.at("bindings"), keys * window);
    EXPECT_LE(sizes.at("open tallies"), keys * (window + 2));
    EXPECT_LE(sizes.at("parked"), keys * window * kNodes);
    EXPECT_LE(sizes.at("waiting keys"), 20u * 2 * kNodes);
    EXPECT_LE(sizes.at("held"), kMaxHeldMessages);
    EXPECT_LE(sizes.at("waiting joins"), kNodes * kMostWaitingStarts);
    EXPECT_LE(sizes.at("policies"), kMostLivePolicies);
  }

  std::string AnyText() {
    std::string text;
    for (uint64_t i = random_.Below(12); i > 0; --i) text += static_cast<char>(random_.Below(256));
    return text;
  }
  KeyId AnyKey() { return KeyId(static_cast<uint32_t>(random_.Below(12))); }
  // Mostly few, so that some are closed by everybody.
  Round AnyRound() {
    return Round(random_.Chance(0.01) ? random_.Next() : random_.Below(random_.Chance(0.7) ? 4 : 80));
  }

  Join AnyJoin() {
    const int node = static_cast<int>(random_.Below(kNodes)) + 1;
    Join join = SchedulerHarness::JoinOf(node, random_.Chance(0.02) ? 1 + random_.Below(50) : 1 + changes_);
    if (random_.Chance(0.05)) ++changes_;
    if (random_.Chance(0.05)) join.name = AnyText();
    if (random_.Chance(0.05)) join.address = AnyText();
    if (random_.Chance(0.05)) join.protocol_version = 0;
    return join;
  }
  RegisterKeys AnyKeys() {
    RegisterKeys keys;
    for (uint64_t i = random_.Below(3); i > 0; --i) {
      const int64_t elements = random_.Chance(0.9) ? 100 : random_.Between(-5, int64_t{1} << 50);
      keys.keys.push_back(
          {random_.Chance(0.9) ? absl::StrCat("k", random_.Below(10)) : AnyText().substr(0, 1), elements});
      if (keys.keys.back().name.size() == 1) keys.keys.back().elements = 0;
    }
    return keys;
  }
  PolicyRequest AnyRequest() {
    PolicyRequest request;
    for (uint64_t i = random_.Below(4); i > 0; --i) request.entries.push_back({AnyKey(), AnyRound()});
    return request;
  }
  RoundsClosed AnyClosed() {
    RoundsClosed closed;
    for (uint64_t i = random_.Below(4); i > 0; --i) closed.entries.push_back({AnyKey(), AnyRound(), 7});
    return closed;
  }
  LinkMeasurement AnyMeasurement() {
    LinkMeasurement measurement;
    measurement.rate_bps = random_.Chance(0.9) ? 1e6 + 1e9 * random_.Unit() : random_.Unit() - 0.5;
    measurement.is_backlogged = random_.Chance(0.5);
    measurement.delay = absl::Milliseconds(random_.Between(-1, 50));
    measurement.age = absl::Milliseconds(random_.Between(-1, 5000));
    return measurement;
  }
  Reconfigure AnyReconfiguration() {
    const char* const changes[] = {"topology: {planner: star}\n",   "topology: {planner: mst, update_seconds: 1}\n",
                                   "awareness: {enabled: false}\n", "chunks: {max_elements: 7}\n",
                                   "aggregation: {op: sum}\n",      "topology: [\n"};
    return {MeshYaml(kNodes, absl::StrCat("policy: {lease_seconds: 60}\n", changes[random_.Below(6)])), AnyText()};
  }
  NodeReport AnyReport() {
    NodeReport report;
    report.links.resize(random_.Below(8));
    for (NodeReport::Link& link : report.links) {
      link.to = NodeId(static_cast<uint32_t>(random_.Below(kNodes + 2)));
      if (random_.Chance(0.5)) link.measurement = AnyMeasurement();
    }
    report.memory.resize(random_.Below(kMaxReportMemoryRows + 4));
    report.progress.resize(random_.Below(4));
    if (!report.memory.empty()) report.memory[0].what = AnyText();
    report.loss = random_.Unit() / (random_.Chance(0.1) ? 0.0 : 1.0);
    return report;
  }
  // Rare, since they end the job.
  Message AnyEnding() {
    switch (random_.Below(5)) {
      case 0:
        return WorkerLost{WorkerId(3), AnyText()};
      case 1:
        return PeerLost{NodeId(static_cast<uint32_t>(random_.Below(kNodes + 2))), AnyText()};
      case 2:
        return RoundsClosed{{{AnyKey(), AnyRound(), random_.Next()}}};
      case 3:
        return RoundBroken{AnyKey(), AnyRound(), NodeId(static_cast<uint32_t>(random_.Below(kNodes + 2))), AnyText()};
      default:
        return WorkerLost{WorkerId(1), AnyText()};
    }
  }
  EpochReport AnyEpochReport() {
    EpochReport report;
    report.epoch = Epoch(random_.Below(30));
    // Mostly the epoch that has begun, so that some changes end.
    if (random_.Chance(0.9)) report.epoch = harness_.epoch();
    const uint32_t keys = static_cast<uint32_t>(random_.Below(8));
    for (uint32_t key = 1; key <= keys; ++key) {
      report.progress.push_back({KeyId(key), KeyId(random_.Chance(0.9) ? key : AnyKey().value()), AnyRound()});
    }
    return report;
  }
  Message AnyOfTrace() {
    const TraceId trace(random_.Below(6));
    if (random_.Chance(0.3)) return TraceRounds{1 + static_cast<uint32_t>(random_.Below(3)), absl::Seconds(5)};
    if (random_.Chance(0.5)) return TraceReady{trace, AnyRound(), random_.Chance(0.9) ? "" : AnyText()};
    const NodeId node(static_cast<uint32_t>(1 + random_.Below(kNodes)));
    return TracePiece{trace, {"n", node, {}}, random_.Chance(0.7)};
  }
  Message AnyMessage() {
    const uint64_t dice = random_.Below(10000);
    if (dice < 20) return AnyEnding();
    if (dice < 21) return StopJob{AnyText()};
    if (dice < 30) return VetoLowBit{{AnyText()}, random_.Chance(0.5)};
    if (dice < 60) return AnyOfTrace();
    if (dice < 100) return RemoveNode{absl::StrCat("n", random_.Below(kNodes + 2))};
    if (dice < 130) return Leave{AnyText(), random_.Chance(0.8)};
    if (dice < 600) return AnyEpochReport();
    switch (dice % 25) {
      case 0:
        return ChunkMessage{};
      case 1:
        return PeerHello{};
      case 2:
        return LinkAck{};
      case 3:
        return JoinAccepted{};
      case 4:
        return KeysAssigned{};
      case 5:
        return PolicyPublished{};
      case 6:
        return JobFailed{};
      case 7:
        return StatusRequest{};
      case 8:
      case 9:
        return Heartbeat{};
      case 10:
        return AnyReport();
      case 11:
        return BarrierEntered{random_.Below(3)};
      case 12:
      case 13:
        return AnyJoin();
      case 14:
      case 15:
        return AnyKeys();
      case 16:
      case 17:
      case 18:
      case 19:
        return AnyRequest();
      case 24:
        return AnyReconfiguration();
      default:
        return AnyClosed();
    }
  }

  Random random_;
  uint64_t changes_;
  SchedulerHarness harness_;
};

absl::StatusOr<RecoveredState> Recover(const StoredRecords& stored) {
  return ReplayStateRecords(stored, "test", NodeNames(MeshOverlay(kNodes)));
}

TEST(SchedulerCoreFuzzTest, AnythingInAnyOrder) {
  constexpr int kSeeds = 50;
  constexpr int kStarts = 8;
  constexpr int kSteps = 250;
  int restarted = 0, removed = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    StoredRecords stored;
    std::vector<std::string> history;
    uint64_t starts = 0;
    for (int start = 0; start < kStarts; ++start) {
      // Every other seed makes snapshots as often as it can.
      Fuzzer fuzzer(seed + 1000 * start, stored, seed % 2 == 0 ? 0 : StateLog::kLeastTailBytes, starts);
      SchedulerHarness& harness = fuzzer.harness();
      // The records of whatever happened are always good for another start.
      ASSERT_FALSE(harness.stopped().has_value()) << "seed " << seed << ": " << *harness.stopped();
      fuzzer.Run(kSteps);
      harness.PersistWaiting();
      if (harness.HasLog("back with")) ++restarted;
      if (harness.HasLog("an operator has removed")) ++removed;
      stored = harness.stored();
      starts = fuzzer.starts();
      history.insert(history.end(), harness.history().begin(), harness.history().end());
    }
    // Snapshot and tail lead where all records lead.
    const absl::StatusOr<RecoveredState> brief = Recover(stored);
    const absl::StatusOr<RecoveredState> full = Recover(StoredRecords{"", history, ""});
    ASSERT_TRUE(brief.ok() && full.ok()) << brief.status() << full.status();
    EXPECT_EQ(*brief, *full) << "seed " << seed;
  }
  EXPECT_GT(restarted, kSeeds);
  EXPECT_GT(removed, kSeeds / 2);
}

TEST(SchedulerCoreFuzzTest, SameSeedGivesTheSameRecords) {
  Fuzzer first(77, {});
  Fuzzer second(77, {});
  first.Run(5000);
  second.Run(5000);
  EXPECT_EQ(first.harness().stored(), second.harness().stored());
  ASSERT_EQ(first.harness().logs().size(), second.harness().logs().size());
  for (size_t i = 0; i < first.harness().logs().size(); ++i) {
    EXPECT_EQ(first.harness().logs()[i].text, second.harness().logs()[i].text);
  }
}

}  // namespace
}  // namespace banyan
