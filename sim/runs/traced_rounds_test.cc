// What a trace says that a round waited for, in jobs of which that is known.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/runs/simulation.h"
#include "tracing/chrome_trace.h"
#include "tracing/clock_alignment.h"
#include "tracing/critical_path.h"
#include "tracing/job_trace.h"
#include "tracing/path_sentence.h"
#include "tracing/round_recorder.h"
#include "tracing/testing/trace_schema.h"

namespace banyan {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kLinkBps = 100e6;
constexpr double kSlowBps = 10e6;
constexpr int64_t kElements = 1250000;
const Round kTraced = Round(2);

using Pairs = std::vector<std::pair<int, int>>;
const Pairs kLine = {{1, 2}, {2, 3}, {3, 4}};
const Pairs kStar = {{1, 2}, {1, 3}, {1, 4}, {1, 5}};
const Pairs kTree = {{1, 2}, {1, 3}, {3, 4}, {3, 5}};
const Pairs kRing = {{1, 2}, {2, 3}, {3, 4}, {4, 1}};

struct Case {
  std::string name;
  Pairs pairs;
  std::function<void(ClusterOptions&)> change;
  std::string expected;  // the name of what took longest
};

LinkConfig& LinkOf(ClusterOptions& options, int a, int b) {
  for (LinkConfig& link : *options.overlay.links) {
    if (link.a == absl::StrCat("n", a) && link.b == absl::StrCat("n", b)) return link;
  }
  ADD_FAILURE() << "there is no link from " << a << " to " << b;
  return options.overlay.links->front();
}

Case SlowLink(const std::string& name, const Pairs& pairs, int a, int b, bool is_back) {
  const auto change = [=](ClusterOptions& options) {
    (is_back ? LinkOf(options, a, b).b_to_a_bps : LinkOf(options, a, b).a_to_b_bps) = kSlowBps;
  };
  return {name, pairs, change,
          is_back ? absl::StrCat("n", b, " to n", a, " was full") : absl::StrCat("n", a, " to n", b, " was full")};
}

// The planner believes the link to be as fast as the others.
Case SlowerThanTold(const std::string& name, int a, int b) {
  const auto change = [=](ClusterOptions& options) {
    options.told = options.overlay;
    LinkOf(options, a, b).a_to_b_bps = kSlowBps;
  };
  return {name, kRing, change, absl::StrCat("n", a, " to n", b, " was full")};
}

Case SlowHost(const std::string& name, const Pairs& pairs, int node, bool is_up, const std::string& expected) {
  const auto change = [=](ClusterOptions& options) {
    NodeConfig& config = options.overlay.nodes[static_cast<size_t>(node - 1)];
    (is_up ? config.up_cap_bps : config.down_cap_bps) = 4 * kSlowBps;
  };
  return {name, pairs, change, expected};
}

Case LongDelay(const std::string& name, const Pairs& pairs, int a, int b) {
  const auto change = [=](ClusterOptions& options) {
    options.plan.tensors[0].elements /= 25;  // one chunk
    LinkOf(options, a, b).delay = absl::Milliseconds(400);
  };
  return {name, pairs, change, absl::StrCat("n", a, " to n", b, " took")};
}

Case LateWorkers(const std::string& name, const Pairs& pairs, int node) {
  const auto change = [=](ClusterOptions& options) {
    options.plan.compute_time = absl::Milliseconds(100);
    options.plan.slowness[NodeId(static_cast<uint32_t>(node))] = 30;
  };
  return {name, pairs, change, absl::StrCat("n", node, " waited for its workers")};
}

Case SlowNode(const std::string& name, const Pairs& pairs, int node) {
  const auto change = [=](ClusterOptions& options) {
    options.slow_computing[NodeId(static_cast<uint32_t>(node))] = 3000;
  };
  return {name, pairs, change, absl::StrCat("n", node, " computed")};
}

std::vector<Case> AllCases() {
  return {SlowLink("LineMiddle", kLine, 2, 3, false),
          SlowLink("LineMiddleBack", kLine, 2, 3, true),
          SlowLink("LineFirst", kLine, 1, 2, false),
          SlowLink("LineLastBack", kLine, 3, 4, true),
          SlowLink("StarToLeaf", kStar, 1, 4, false),
          SlowLink("StarFromLeaf", kStar, 1, 3, true),
          SlowLink("TreeInner", kTree, 1, 3, true),
          SlowLink("TreeToLeaf", kTree, 3, 5, false),
          SlowerThanTold("ToldRing", 1, 2),
          SlowerThanTold("ToldRingToo", 3, 4),
          SlowHost("StarUp", kStar, 1, true, "n1 sent to n2, n3, n4 and n5 as fast as it could"),
          SlowHost("StarDown", kStar, 1, false, "n1 took from n2, n3, n4 and n5 as fast as it could"),
          SlowHost("TreeUp", kTree, 3, true, "n3 sent to n1, n4 and n5 as fast as it could"),
          SlowHost("TreeDown", kTree, 3, false, "n3 took from n1, n4 and n5 as fast as it could"),
          LongDelay("LineDelay", kLine, 2, 3),
          LongDelay("StarDelay", kStar, 1, 4),
          LongDelay("TreeDelay", kTree, 3, 5),
          LateWorkers("LineLate", kLine, 3),
          LateWorkers("TreeLate", kTree, 5),
          SlowNode("LineComputing", kLine, 2),
          SlowNode("TreeComputing", kTree, 4)};
}

ClusterOptions OptionsOf(const Case& c, std::map<NodeId, RoundRecorder>* recorders, uint64_t rounds = 2) {
  SimulationOptions options;
  int nodes = 0;
  options.overlay.links.emplace();
  for (const auto& [a, b] : c.pairs) {
    LinkConfig& link = options.overlay.links->emplace_back();
    link.a = absl::StrCat("n", a);
    link.b = absl::StrCat("n", b);
    link.a_to_b_bps = link.b_to_a_bps = kLinkBps;
    link.delay = absl::Milliseconds(5);
    nodes = std::max({nodes, a, b});
  }
  for (int node = 1; node <= nodes; ++node) options.overlay.nodes.emplace_back().name = absl::StrCat("n", node);
  options.overlay.awareness.enabled = false;
  options.tensor_elements = {kElements};
  options.rounds = rounds;
  options.most_drift_ppm = 50;
  options.recorders = recorders;
  ClusterOptions cluster = MakeClusterOptions(options);
  cluster.told.reset();
  c.change(cluster);
  for (int node = 1; recorders != nullptr && node <= nodes; ++node) {
    (*recorders)[NodeId(static_cast<uint32_t>(node))].Begin(Round(1), Round(2));
  }
  return cluster;
}

class TracedRoundsTest : public testing::TestWithParam<Case> {};

TEST_P(TracedRoundsTest, TheSentenceNamesWhatTheRoundWaitedFor) {
  std::map<NodeId, RoundRecorder> recorders;
  Cluster cluster(OptionsOf(GetParam(), &recorders));
  ASSERT_TRUE(cluster.RunUntilTrained(Timestamp() + absl::Hours(1))) << cluster.violations()->Report();

  std::map<NodeId, RoundRecords> records;
  std::map<NodeId, std::string> names;
  for (auto& [node, recorder] : recorders) {
    records[node] = recorder.End();
    names[node] = cluster.overlay().nodes[node.value() - 1].name;
  }
  LinkRates rates;
  for (const auto& [ends, link] : cluster.simulator()->network()->links()) rates[ends] = link.rate_bps();
  const JobTrace trace = MakeJobTrace(records, names, cluster.scale());
  EXPECT_EQ(trace.left_out, 0u);
  const std::optional<CriticalPath> path = PathFinder(trace).Find(kTraced);
  ASSERT_TRUE(path.has_value());
  EXPECT_THAT(SentenceOf(*path, trace, rates), HasSubstr(GetParam().expected));
  absl::Duration longest = absl::ZeroDuration();
  absl::Duration expected = absl::ZeroDuration();
  for (const PathPart& part : path->parts) {
    longest = std::max(longest, part.duration());
    if (NameOf(part, trace, rates) == GetParam().expected) expected = std::max(expected, part.duration());
  }
  EXPECT_GE(expected, 0.9 * longest) << SentenceOf(*path, trace, rates);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(path->end - path->begin),
              absl::ToDoubleMilliseconds(path->parts.back().end - path->parts.front().begin), 1);
  EXPECT_THAT(TraceFaults(ChromeTrace(trace, PathFinder(trace).FindAll(), rates)), IsEmpty());

  const ClockAlignment clocks(records);
  const Timestamp now = cluster.simulator()->process(NodeId(1))->LocalNow();
  for (const auto& [node, of_node] : records) {
    ASSERT_TRUE(clocks.Knows(node));
    const Timestamp common = clocks.ToCommon(node, cluster.simulator()->process(node)->LocalNow());
    EXPECT_NEAR(absl::ToDoubleMilliseconds(common - now), 0, 1) << names[node];
  }
}

// Somebody asks a job of rounds of 4 s for the inside of two of them.
class AskedTraceTest : public testing::Test {
 protected:
  static ClusterOptions Options() {
    ClusterOptions options = OptionsOf(SlowLink("", kLine, 2, 3, false), nullptr, 8);
    options.orders = {{absl::Seconds(6), "", 2}};
    options.membership_changes = true;
    return options;
  }
  // Runs until the answer has come; returns it.
  TraceEnd RunUntilTraced() {
    cluster_.simulator()->RunUntil([this] { return !cluster_.job_operator()->trace_ends().empty(); },
                                   Timestamp() + absl::Minutes(5));
    EXPECT_EQ(cluster_.job_operator()->trace_ends().size(), 1u);
    return cluster_.job_operator()->trace_ends().empty() ? TraceEnd() : cluster_.job_operator()->trace_ends().front();
  }
  std::vector<std::string> Sentences() {
    std::map<NodeId, RoundRecords> records;
    std::map<NodeId, std::string> names;
    for (const TracePiece& piece : cluster_.job_operator()->pieces()) {
      names[piece.of_node.node] = piece.of_node.name;
      AddPiece(piece.of_node.records, records[piece.of_node.node]);
    }
    const JobTrace trace = MakeJobTrace(records, names, cluster_.scale());
    std::vector<std::string> sentences;
    for (const CriticalPath& path : PathFinder(trace).FindAll()) sentences.push_back(SentenceOf(path, trace, {}));
    return sentences;
  }

  Cluster cluster_{Options()};
};

TEST_F(AskedTraceTest, TheNextRoundsAreThoseThatAllNodesNoteFromTheirBeginning) {
  const TraceEnd end = RunUntilTraced();
  EXPECT_THAT(end.missing, IsEmpty());
  EXPECT_GE(end.first, Round(2));
  EXPECT_EQ(end.last, end.first.Next());
  EXPECT_GE(cluster_.rounds_done(), end.last.value());
  const std::vector<std::string> sentences = Sentences();
  ASSERT_EQ(sentences.size(), 2u);
  for (const std::string& sentence : sentences) EXPECT_THAT(sentence, HasSubstr("n2 to n3 was full from"));
  EXPECT_TRUE(cluster_.RunUntilTrained(Timestamp() + absl::Hours(1))) << cluster_.violations()->Report();
}

TEST_F(AskedTraceTest, ANodeThatDiesIsNamedAndTheOthersTell) {
  cluster_.simulator()->RunUntil([] { return false; }, Timestamp() + absl::Seconds(8));
  cluster_.processes()->KillNode(NodeId(4), false);
  const TraceEnd end = RunUntilTraced();
  ASSERT_EQ(end.missing.size(), 1u);
  EXPECT_EQ(end.missing[0].node, "n4");
  EXPECT_THAT(end.missing[0].reason, HasSubstr("connection was lost"));
  std::set<NodeId> nodes;
  for (const TracePiece& piece : cluster_.job_operator()->pieces()) nodes.insert(piece.of_node.node);
  EXPECT_THAT(nodes, testing::ElementsAre(NodeId(1), NodeId(2), NodeId(3)));
}

INSTANTIATE_TEST_SUITE_P(Cases, TracedRoundsTest, testing::ValuesIn(AllCases()),
                         [](const testing::TestParamInfo<Case>& info) { return info.param.name; });

}  // namespace
}  // namespace banyan
