#include "tracing/critical_path.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "tracing/path_sentence.h"

namespace banyan {
namespace {

using Step = RoundRecords::Step;

constexpr Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1000000); }

// A round of one key, whose times are milliseconds.
class CriticalPathTest : public testing::Test {
 protected:
  CriticalPathTest() {
    for (uint32_t node = 1; node <= 4; ++node) trace_.names[NodeId(node)] = "n" + std::to_string(node);
  }

  void Contribute(uint32_t node, int64_t at) { AddMark(node, Step::kContributed, at); }
  void Complete(uint32_t node, int64_t at) { AddMark(node, Step::kCompleted, at); }
  void AddMark(uint32_t node, Step step, int64_t at) {
    trace_.marks.push_back({NodeId(node), step, Round(17), KeyId(1), At(at)});
  }
  void Send(uint32_t from, uint32_t to, uint32_t chunk, bool is_result, int64_t ready, int64_t sent, int64_t received) {
    const ChunkJourney journey{Round(17), KeyId(1), ChunkIndex(chunk), is_result, NodeId(from), NodeId(to)};
    trace_.hops.push_back({journey, NodeId(from), NodeId(to), 100000, At(ready), At(sent), At(received)});
  }
  std::string Sentence() {
    const std::optional<CriticalPath> path = PathFinder(trace_).Find(Round(17));
    return path.has_value() ? SentenceOf(*path, trace_, rates_) : "";
  }

  JobTrace trace_;
  LinkRates rates_;
};

// n4 sends ten chunks to n5's place, n3, one after the other; n3 passes each on at once.
TEST_F(CriticalPathTest, NamesTheLinkThatWasFull) {
  for (const uint32_t node : {1, 3, 4}) Contribute(node, 0);
  for (uint32_t chunk = 0; chunk < 10; ++chunk) {
    const int64_t received = 400 + 350 * chunk;
    Send(4, 3, chunk, false, 50, received - 360, received);
    Send(3, 1, chunk, false, received + 1, received + 1, received + 31);
    Send(1, 3, chunk, true, received + 32, received + 32, received + 62);
  }
  Complete(3, 3700);
  EXPECT_EQ(Sentence(), "round 17 took 3.7 s: n4 to n3 was full from 0.1 s to 3.5 s; then 0.1 s for two hops");
}

TEST_F(CriticalPathTest, PartsCoverTheRoundWithoutGaps) {
  for (const uint32_t node : {1, 2}) Contribute(node, 10 * node);
  Send(2, 1, 0, false, 30, 40, 500);
  Send(1, 2, 0, true, 510, 520, 900);
  Complete(2, 1000);
  const std::optional<CriticalPath> path = PathFinder(trace_).Find(Round(17));
  ASSERT_TRUE(path.has_value());
  Timestamp end = path->begin;
  for (const PathPart& part : path->parts) {
    EXPECT_EQ(part.begin, end);
    end = part.end;
  }
  EXPECT_EQ(path->begin, At(10));
  EXPECT_EQ(path->end, At(1000));
  EXPECT_EQ(end, path->end);
  ASSERT_EQ(path->parts.size(), 6u);
  EXPECT_EQ(path->parts[0].kind, PathPart::Kind::kContribution);
  EXPECT_EQ(path->parts[0].from, NodeId(2));
}

TEST_F(CriticalPathTest, NamesWorkersThatWereLate) {
  Contribute(1, 0);
  Contribute(2, 3000);
  Send(2, 1, 0, false, 3010, 3010, 3100);
  Send(1, 2, 0, true, 3110, 3110, 3200);
  Complete(2, 3210);
  EXPECT_EQ(Sentence(), "round 17 took 3.2 s: n2 waited for its workers until 3.0 s; then 0.2 s for two hops");
}

// n2 gets the result of round 16 when the others have begun round 17.
TEST_F(CriticalPathTest, NamesANodeThatWasInTheRoundBefore) {
  Contribute(1, 0);
  trace_.marks.push_back({NodeId(2), Step::kCompleted, Round(16), KeyId(1), At(400)});
  Contribute(2, 500);
  Send(2, 1, 0, false, 500, 500, 600);
  Send(1, 2, 0, true, 600, 600, 1000);
  Complete(2, 1000);
  EXPECT_EQ(Sentence(),
            "round 17 took 1000 ms: n2 was in the round before until 400 ms; then 200 ms for one hop; then n1 to n2 "
            "took 400 ms");
}

TEST_F(CriticalPathTest, NamesANodeThatComputedAndAPolicyThatCameLate) {
  Contribute(1, 0);
  Contribute(2, 0);
  AddMark(2, Step::kPolicyCame, 400);
  Send(2, 1, 0, false, 410, 410, 500);
  Send(1, 2, 0, true, 1400, 1400, 1490);
  Complete(2, 1500);
  EXPECT_EQ(Sentence(),
            "round 17 took 1500 ms: n2 waited for its policy until 400 ms; then 100 ms for one hop; then n1 computed "
            "from 500 ms to 1400 ms; then 100 ms for one hop");
}

TEST_F(CriticalPathTest, NamesALinkWithALongDelay) {
  Contribute(1, 0);
  Contribute(2, 0);
  Send(2, 1, 0, false, 10, 10, 900);
  Send(1, 2, 0, true, 910, 910, 950);
  Complete(2, 1000);
  EXPECT_EQ(Sentence(), "round 17 took 1000 ms: n2 to n1 took 890 ms; then 100 ms for one hop");
}

// n1 relays what n2 sends to n3.
TEST_F(CriticalPathTest, GoesOnThroughRelays) {
  Contribute(2, 0);
  Contribute(3, 0);
  const ChunkJourney journey{Round(17), KeyId(1), ChunkIndex(0), false, NodeId(2), NodeId(3)};
  trace_.hops.push_back({journey, NodeId(2), NodeId(1), 1000, At(0), At(0), At(700)});
  trace_.hops.push_back({journey, NodeId(1), NodeId(3), 1000, At(700), At(700), At(800)});
  Complete(3, 1000);
  const std::string sentence = Sentence();
  EXPECT_EQ(
      sentence,
      "round 17 took 1000 ms: n2 to n1 took 700 ms; then 100 ms for one hop; then n3 computed from 800 ms to 1000 ms");
}

// Both links of n1 carry half of what they can.
TEST_F(CriticalPathTest, NamesAHostWhoseLinksCouldCarryMore) {
  for (const uint32_t node : {1, 2, 3}) {
    Contribute(node, 0);
    if (node != 1) rates_[{NodeId(1), NodeId(node)}] = 16e6;
  }
  for (uint32_t chunk = 0; chunk < 20; ++chunk) {
    Send(1, 2 + chunk % 2, chunk, false, 0, 100 * chunk / 2, 100 * (chunk / 2 + 1));
  }
  Complete(3, 1000);
  EXPECT_EQ(Sentence(), "round 17 took 1000 ms: n1 sent to n2 and n3 as fast as it could from 0.0 ms to 1000 ms");
  for (auto& [link, rate_bps] : rates_) rate_bps = 8e6;
  EXPECT_EQ(Sentence(), "round 17 took 1000 ms: n1 to n3 was full from 0.0 ms to 1000 ms");
}

TEST_F(CriticalPathTest, SaysNothingOfARoundWithoutAnEnd) {
  Contribute(1, 0);
  EXPECT_EQ(Sentence(), "");
}

}  // namespace
}  // namespace banyan
