// Every way in which an overlay can be wrong, with the line and the advice that the user gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Refusal {
  std::string name;
  std::string text;
  int line;
  std::string message;  // a part of it
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

constexpr char kNodes[] = "nodes: [{name: n1}, {name: n2}, {name: n3}]\n";

std::string WithLinks(const std::string& links) { return kNodes + std::string("links:\n") + links; }

std::string Chain(const std::string& rest) {
  return WithLinks("  - {between: [n1, n2]}\n  - {between: [n2, n3]}\n") + rest;
}

class OverlayRefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(OverlayRefusalTest, NamesLineAndReason) {
  const absl::Status status = ParseOverlay(GetParam().text, "o.yaml").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), StartsWith("o.yaml:" + std::to_string(GetParam().line) + ":"));
  EXPECT_THAT(std::string(status.message()), ContainsRegex("^o\\.yaml:[0-9]+:[0-9]+: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

std::string NameOf(const ::testing::TestParamInfo<Refusal>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Form, OverlayRefusalTest,
    ::testing::Values(Refusal{"Empty", "", 1, "empty"},
                      Refusal{"NoMap", "- a\n- b\n", 1, "expected a map of keys and values, got a list"},
                      Refusal{"Scalar", "hello\n", 1, "got 'hello'"},
                      Refusal{"UnknownKey", Chain("topolgy: {}\n"), 5,
                              "unknown key 'topolgy'; did you mean 'topology'?"},
                      Refusal{"UnknownNestedKey", Chain("chunks:\n  max_elments: 3\n"), 6,
                              "chunks: unknown key 'max_elments'; did you mean 'max_elements'?"},
                      Refusal{"UnknownKeyOfLink", WithLinks("  - {between: [n1, n2], bandwidth: 3}\n"), 3,
                              "links[0]: unknown key 'bandwidth'; known are between, mbps, delay_ms, loss_percent"},
                      Refusal{"DuplicateKey", Chain("job: a\njob: b\n"), 6, "the key 'job' is given twice"},
                      Refusal{"SecondDocument", Chain("---\njob: b\n"), 5, "a second document"},
                      Refusal{"AliasToItself", Chain("topology: &t {trees: *t}\n"), 5, "this alias leads to itself"},
                      Refusal{"BrokenYaml", Chain("job: [a\n"), 5, "this '[' is never closed"},
                      Refusal{"EmptySection", Chain("chunks:\n"), 5, "expected a map of keys and values, got nothing"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Numbers, OverlayRefusalTest,
    ::testing::Values(
        Refusal{"InfiniteRate", WithLinks("  - {between: [n1, n2], mbps: .inf}\n"), 3,
                "links[0].mbps: expected a number"},
        Refusal{"InfiniteWord", WithLinks("  - {between: [n1, n2], mbps: inf}\n"), 3, "got 'inf'"},
        Refusal{"NotANumberRate", WithLinks("  - {between: [n1, n2], mbps: [1, .nan]}\n"), 3, "got '.nan'"},
        Refusal{"NanWord", WithLinks("  - {between: [n1, n2], mbps: nan}\n"), 3, "got 'nan'"},
        Refusal{"OverflowRate", WithLinks("  - {between: [n1, n2], mbps: 1e999}\n"), 3, "got '1e999'"},
        Refusal{"NegativeRate", WithLinks("  - {between: [n1, n2], mbps: -3}\n"), 3, "of at least 1e-06"},
        Refusal{"ZeroRate", WithLinks("  - {between: [n1, n2], mbps: [3, 0]}\n"), 3, "of at least 1e-06"},
        Refusal{"HugeRate", WithLinks("  - {between: [n1, n2], mbps: 1e12}\n"), 3, "at most 1e+09"},
        Refusal{"QuotedRate", WithLinks("  - {between: [n1, n2], mbps: '3'}\n"), 3, "got the quoted text '3'"},
        Refusal{"CommaInARate", WithLinks("  - between: [n1, n2]\n    mbps: 1,5\n"), 4,
                "got '1,5'; write numbers with '.' and without marks between digits"},
        Refusal{"UnderscoreInACount", Chain("chunks: {max_elements: 64_000}\n"), 5, "without marks between digits"},
        Refusal{"LossInPercent", WithLinks("  - {between: [n1, n2], loss_percent: 1%}\n"), 3,
                "got '1%'; leave the % out"},
        Refusal{"QuotedBytes", Chain("transport: {early_bytes: '64MB'}\n"), 5, "'64MB'; leave the quotes out"},
        Refusal{"ThreeRates", WithLinks("  - {between: [n1, n2], mbps: [1, 2, 3]}\n"), 3, "got a list of 3"},
        Refusal{"NegativePrice", WithLinks("  - {between: [n1, n2], price_per_gb: -0.01}\n"), 3,
                "links[0].price_per_gb: expected a number"},
        Refusal{"NanPrice", WithLinks("  - {between: [n1, n2], price_per_gb: [0, .nan]}\n"), 3, "got '.nan'"},
        Refusal{"ThreePrices", WithLinks("  - {between: [n1, n2], price_per_gb: [1, 2, 3]}\n"), 3, "got a list of 3"},
        Refusal{"PriceOfANodeInDollars", "nodes:\n  - {name: n1}\n  - {name: n2, price_per_gb: $0.09}\n", 3,
                "nodes[1].price_per_gb: expected a number"},
        Refusal{"InfiniteBudget", Chain("topology: {budget_per_round: .inf}\n"), 5,
                "topology.budget_per_round: expected a number"},
        Refusal{"BudgetOfFapt", Chain("topology: {planner: fapt, budget_per_round: 1}\n"), 5,
                "only the planner packed has it, not 'fapt'"},
        Refusal{"NegativeDelay", WithLinks("  - {between: [n1, n2], delay_ms: -1}\n"), 3,
                "delay_ms: expected a number"},
        Refusal{"TotalLoss", WithLinks("  - {between: [n1, n2], loss_percent: 100}\n"), 3, "loss_percent: expected"},
        Refusal{"NearlyTotalLoss", WithLinks("  - {between: [n1, n2], loss_percent: 99}\n"), 3,
                "loss_percent: expected at most 50, beyond which TCP carries next to nothing, got '99'"},
        Refusal{"RateInHexadecimal", WithLinks("  - {between: [n1, n2], mbps: 0x10}\n"), 3,
                "got '0x10'; write it in decimal digits"},
        Refusal{"RateInOctal", WithLinks("  - {between: [n1, n2], mbps: 010}\n"), 3,
                "got '010'; leave the zero in front out"},
        Refusal{"CountInOctal", Chain("chunks: {max_elements: 0o10}\n"), 5, "got '0o10'; write it in decimal digits"},
        Refusal{"CountWithAZero", Chain("chunks: {max_elements: 010}\n"), 5, "leave the zero in front out"},
        Refusal{"BytesInHexadecimal", Chain("transport: {early_bytes: 0x100000}\n"), 5, "write it in decimal digits"},
        Refusal{"RateOfInf", WithLinks("  - {between: [n1, n2], mbps: inf}\n"), 3, "mbps: expected a number"},
        Refusal{"RateInSeconds", WithLinks("  - {between: [n1, n2], mbps: 3s}\n"), 3, "or a rate such as 1Gbit/s"},
        Refusal{"DelayInBits", WithLinks("  - {between: [n1, n2], delay_ms: 3bit}\n"), 3, "or a time such as 0.2s"},
        Refusal{"BytesInBits", Chain("transport: {early_bytes: 3Mbit}\n"), 5, "or a size such as 64MB, got '3Mbit'"},
        Refusal{"HalfAByte", Chain("transport: {early_bytes: 1.5}\n"), 5, "a whole number of bytes"},
        Refusal{"Impatient", Chain("membership: {heartbeat_seconds: 0.01, lost_after_seconds: 0.02}\n"), 5,
                "at least three heartbeats of 0.01 s"},
        Refusal{"NervousOfAll", Chain("membership: {heartbeat_seconds: 10ms, lost_after_seconds: 50ms}\n"), 5,
                "at least 0.1 s, which a busy machine may be silent for, got 0.05"},
        Refusal{"AThousandOfThem", Chain("topology: {roots: 1k}\n"), 5, "at least 1 and at most 3, got '1k'"},
        Refusal{"ElementsAsASize", Chain("chunks: {max_elements: 64kB}\n"), 5, "a whole number of at least 1"},
        Refusal{"FractionOfAWhole", Chain("chunks: {max_elements: 1.5}\n"), 5, "a whole number"},
        Refusal{"ZeroElements", Chain("chunks: {max_elements: 0}\n"), 5, "at least 1"},
        Refusal{"WholeOverflow", Chain("chunks: {max_elements: 99999999999999999999}\n"), 5, "a whole number"},
        Refusal{"Yes", Chain("multipath: {enabled: yes}\n"), 5, "expected true or false, got 'yes'"},
        Refusal{"ListForNumber", Chain("transport: {window_bytes: [1]}\n"), 5, "auto or a whole number"},
        Refusal{"NegativeWindow", Chain("transport: {window_bytes: -1}\n"), 5, "window_bytes: expected auto"},
        Refusal{"ManyRoots", Chain("topology: {roots: 4}\n"), 5, "at least 1 and at most 3, got '4'"},
        Refusal{"StartWithMoreThanAll", Chain("membership: {start_with: 4}\n"), 5, "at most 3"},
        Refusal{"LostBeforeHeartbeat", Chain("membership: {heartbeat_seconds: 4}\n"), 5, "at least three heartbeats"},
        Refusal{"MomentumOfOne", Chain("aggregation: {op: momentum, momentum: 1}\n"), 5,
                "momentum: expected a number"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Network, OverlayRefusalTest,
    ::testing::Values(
        Refusal{"NoNodes", "links: []\n", 1, "nodes is missing"},
        Refusal{"MisspeltNodes", "job: j\nnode: [{name: n1}, {name: n2}]\n", 2,
                "nodes is missing, and the key 'node' is unknown; did you mean 'nodes'?"},
        Refusal{"KeyInCapitals", "nodes: [{NAME: n1}, {name: n2}]\n", 1, "did you mean 'name'?"},
        Refusal{"KeyWithoutItsUnit", WithLinks("  - {between: [n1, n2], delay: 3}\n"), 3, "did you mean 'delay_ms'?"},
        Refusal{"ColonWithoutSpace", "nodes: [{name:n1}, {name: n2}]\n", 1, "a ':' needs a space after it"},
        Refusal{"EntryWithoutSpace", "nodes:\n  - name:n1\n  - name: n2\n", 2, "a ':' needs a space after it"},
        Refusal{"EqualsSign", "nodes = [n1, n2]\n", 1, "write 'key: value'"},
        Refusal{"ImpossibleAddress", "nodes: [{name: a, address: tcp://10.0.0.256:1}, {name: b}]\n", 1,
                "'10.0.0.256' is no IPv4 address"},
        Refusal{"ImpossiblePort", "nodes: [{name: a, address: tcp://10.0.0.25:70000}, {name: b}]\n", 1,
                "'70000' is no port"},
        Refusal{"NodesNoList", "nodes: 3\n", 1, "expected a list"},
        Refusal{"OneNode", "nodes: [{name: n1}]\n", 1, "at least 2"},
        Refusal{"NamesAlone", "nodes: [n1, n2]\n", 1, "nodes[0]: expected a map such as {name: n1}, got 'n1'"},
        Refusal{"PairsAlone", WithLinks("  - [n1, n2]\n"), 3,
                "links[0]: expected a map such as {between: [n1, n2], mbps: 100}, got a list"},
        Refusal{"NodesByName", "nodes: {n1: {workers: 1}, n2: {workers: 1}}\n", 1,
                "nodes: expected a list such as [{name: n1}, {name: n2}], got a map"},
        Refusal{"Nameless", "nodes: [{name: n1}, {workers: 1}]\n", 1, "nodes[1].name is missing"},
        Refusal{"BadName", "nodes: [{name: n1}, {name: 'a b'}]\n", 1, "expected a name"},
        Refusal{"NameOfAFolder", "nodes: [{name: n1}, {name: '..'}]\n", 1,
                "not with '-' or '.' first, got the quoted text '..'"},
        Refusal{"NameLikeAFlag", "nodes: [{name: n1}, {name: -h}]\n", 1, "not with '-' or '.' first"},
        Refusal{"LongName", "nodes: [{name: n1}, {name: " + std::string(65, 'x') + "}]\n", 1, "expected a name"},
        Refusal{"SameName", "nodes:\n  - {name: n1}\n  - {name: n1}\n", 3, "two nodes have the name 'n1'"},
        Refusal{"SameAddress", "nodes:\n  - {name: a, address: tcp://h:1}\n  - {name: b, address: tcp://h:1}\n", 3,
                "have the same address tcp://h:1"},
        Refusal{"AddressOfTheScheduler",
                "scheduler: {address: tcp://h:1}\nnodes:\n  - {name: a, address: tcp://h:1}\n  - {name: b}\n", 3,
                "node 'a' and the scheduler have the same address tcp://h:1"},
        Refusal{"BadAddress", "nodes: [{name: a, address: h:1}, {name: b}]\n", 1,
                "nodes[0].address: expected an address"},
        Refusal{"BadKey", "nodes: [{name: a, public_key: short}, {name: b}]\n", 1, "40 characters of Z85"},
        Refusal{"BadWorkers", "nodes: [{name: a, workers: 0}, {name: b}]\n", 1, "workers: expected a whole number"},
        Refusal{"PlaceOfOneNumber", "nodes: [{name: a, place: 3}, {name: b}]\n", 1,
                "place: expected [latitude, longitude] in degrees, got '3'"},
        Refusal{"PlaceOutsideTheEarth", "nodes: [{name: a, place: [91, 0]}, {name: b}]\n", 1,
                "place: expected a number of at least -90 and at most 90, got '91'"},
        Refusal{"BadCap", "nodes: [{name: a, up_mbps: 0}, {name: b}]\n", 1,
                "up_mbps: expected a number of at least 1e-06"},
        Refusal{"RateOfNoPlan", WithLinks("  - {between: [n1, n2], mbps: 1e-300}\n"), 3, "got '1e-300'"},
        Refusal{"UnknownNode", WithLinks("  - {between: [n1, n22]}\n"), 3,
                "links[0].between: unknown node 'n22'; did you mean 'n2'?"},
        Refusal{"SelfLink", WithLinks("  - {between: [n1, n1]}\n"), 3, "joins 'n1' to itself"},
        Refusal{"DuplicateLink", WithLinks("  - {between: [n1, n2]}\n  - {between: [n2, n1]}\n"), 4,
                "a second link between 'n2' and 'n1'; the first is in line 3"},
        Refusal{"OneEnd", WithLinks("  - {between: [n1]}\n"), 3, "the names of two nodes"},
        Refusal{"NoEnds", WithLinks("  - {mbps: 3}\n"), 3, "links[0].between is missing"},
        Refusal{"Disconnected", WithLinks("  - {between: [n1, n2]}\n"), 3, "the overlay is disconnected"},
        Refusal{"NoLinksAtAll", kNodes + std::string("links: []\n"), 2, "the overlay is disconnected"},
        Refusal{"LinksNoList", kNodes + std::string("links: {}\n"), 2, "expected a list"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Sections, OverlayRefusalTest,
    ::testing::Values(
        Refusal{"Planner", Chain("topology: {planner: fatp}\n"), 5, "unknown value 'fatp'; did you mean 'fapt'?"},
        Refusal{"Shares", Chain("topology: {planner: fapt, shares: balance}\n"), 5,
                "topology.shares: unknown value 'balance'; did you mean 'balanced'?"},
        Refusal{"SharesNoWord", Chain("topology: {planner: fapt, shares: [quality]}\n"), 5,
                "topology.shares: expected"},
        Refusal{"RootIsNoNode", Chain("topology: {planner: star, root: m2}\n"), 5, "unknown node 'm2'; did you mean"},
        Refusal{"CustomWithoutTrees", Chain("topology: {planner: custom}\n"), 5, "topology.trees is missing"},
        Refusal{"TreesNoList", Chain("topology: {planner: custom, trees: {}}\n"), 5, "expected a list of 1 to"},
        Refusal{"TreeOfStrangers", Chain("topology: {planner: custom, trees: [{root: n1, reduce: {n9: n1}}]}\n"), 5,
                "unknown node 'n9'"},
        Refusal{"TreeWithoutReduce", Chain("topology: {planner: custom, trees: [{root: n1}]}\n"), 5,
                "trees[0].reduce is missing"},
        Refusal{"HalfNoMap", Chain("topology: {planner: custom, trees: [{root: n1, reduce: n1}]}\n"), 5,
                "from node to parent"},
        Refusal{"SomeShares",
                Chain("topology: {planner: custom, trees: [{root: n1, share: 0.5, reduce: {n2: n1}}, {root: n2, "
                      "reduce: {n1: n2}}]}\n"),
                5, "some trees have a share"},
        Refusal{"SharesOfTwo",
                Chain("topology: {planner: custom, trees: [{root: n1, share: 0.5, reduce: {n2: n1}}]}\n"), 5,
                "must sum to 1, got 0.5"},
        Refusal{"KeyOfAnotherPlanner", Chain("topology: {planner: star, k: 3}\n"), 5,
                "topology.k: only the planner bkt has it, not 'star'; leave it out, or choose 'planner: bkt'"},
        Refusal{"KeyOfOtherPlanners", Chain("topology: {planner: mst,\n  roots: 2}\n"), 6,
                "topology.roots: only the planners fapt, packed have it, not 'mst'"},
        Refusal{"TreesOfNobody", Chain("topology: {trees: [{root: n1, reduce: {n2: n1, n3: n1}}]}\n"), 5,
                "topology.trees: only the planner custom has it, not 'packed'"},
        Refusal{"NoCodec", Chain("compression: {codec: none}\n"), 5, "without compression values travel as fp32"},
        Refusal{"Operation", Chain("aggregation: {op: man}\n"), 5, "unknown value 'man'; did you mean 'mean'?"},
        Refusal{"NotFiniteRule", Chain("aggregation: {not_finite: skipp}\n"), 5,
                "unknown value 'skipp'; did you mean 'skip'?"},
        Refusal{"ParameterOfAnother", Chain("aggregation: {op: sgd, beta1: 0.9}\n"), 5, "has no beta1"},
        Refusal{"SchedulerAddress", Chain("scheduler: {address: 10.0.0.1}\n"), 5,
                "scheduler.address: expected an address"},
        Refusal{"HttpAddress", Chain("scheduler: {http: http://h:1}\n"), 5, "scheduler.http: expected an address"},
        Refusal{"TwoSortsOfAddresses", Chain("scheduler: {address: tcp://a:1, addresses: [tcp://b:1]}\n"), 5,
                "scheduler.addresses: expected it or scheduler.address, got both"},
        Refusal{"NoSchedulerAddresses", Chain("scheduler: {addresses: [], etcd: [http://h:1]}\n"), 5,
                "scheduler.addresses: expected a list of 1 to 16, got a list"},
        Refusal{"SchedulerAddresses", Chain("scheduler: {addresses: [tcp://a:1, b], etcd: [http://h:1]}\n"), 5,
                "scheduler.addresses[1]: expected an address of the form tcp://"},
        Refusal{"AddressTwice", Chain("scheduler: {addresses: [tcp://a:1, tcp://a:1], etcd: [http://h:1]}\n"), 5,
                "scheduler.addresses[1]: 'tcp://a:1' comes twice"},
        Refusal{"SchedulersWithoutEtcd", Chain("scheduler: {addresses: [tcp://a:1, tcp://b:1]}\n"), 5,
                "scheduler.etcd is missing"},
        Refusal{"EtcdNoList", Chain("scheduler: {address: tcp://a:1, etcd: http://h:1}\n"), 5,
                "scheduler.etcd: expected a list"},
        Refusal{"EtcdWithoutScheme", Chain("scheduler: {address: tcp://a:1, etcd: [h:1]}\n"), 5,
                "scheduler.etcd[0]: expected an address of the form http://"},
        Refusal{"LeaseTooShort", Chain("scheduler: {address: tcp://a:1, etcd: [http://h:1], lease_seconds: 1}\n"), 5,
                "scheduler.lease_seconds: expected"},
        Refusal{"LeaseTooLong", Chain("scheduler: {address: tcp://a:1, etcd: [http://h:1], lease_seconds: 6min}\n"), 5,
                "scheduler.lease_seconds: expected a number of at least 2 and at most 300 in seconds"},
        Refusal{"LeaseOfAFraction",
                Chain("scheduler: {address: tcp://a:1, etcd: [http://h:1], lease_seconds: 2500ms}\n"), 5,
                "scheduler.lease_seconds: expected whole seconds, as etcd counts them, got 2.5"},
        Refusal{"LeaseWithoutEtcd", Chain("scheduler: {address: tcp://a:1, lease_seconds: 5}\n"), 5,
                "scheduler.lease_seconds: only with scheduler.etcd"},
        Refusal{"JobName", Chain("job: a/b\n"), 5, "job: expected a name"}),
    NameOf);

TEST(OverlayLimitTest, LargeOverlaysMustListTheirLinks) {
  std::string text = "nodes:\n";
  for (int i = 0; i <= kMaxFullMeshNodes; ++i) text += "  - {name: n" + std::to_string(i) + "}\n";
  EXPECT_THAT(std::string(ParseOverlay(text, "o.yaml").status().message()), HasSubstr("must list its links"));
}

TEST(OverlayLimitTest, TooManyNodes) {
  std::string text = "nodes:\n";
  for (int i = 0; i <= kMaxOverlayNodes; ++i) text += "  - {name: n" + std::to_string(i) + "}\n";
  EXPECT_THAT(std::string(ParseOverlay(text, "o.yaml").status().message()), HasSubstr("at most 4096 nodes"));
}

}  // namespace
}  // namespace banyan
