#include "topology/overlay/overlay_keys.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/access_list.h"
#include "proto/compression/codec_traits.h"
#include "proto/compression/compression_check.h"
#include "proto/compression/ratio_numbers.h"
#include "proto/session_messages.h"
#include "topology/overlay/overlay_address.h"
#include "topology/overlay/overlay_checks.h"
#include "topology/overlay/yaml_slots.h"

namespace banyan {
namespace {

using enum KeyChange;
using Ends = std::pair<std::string, std::string>;

constexpr double kMostBytes = int64_t{1} << 40;
constexpr double kMostChunkElements = 16e6;
constexpr double kMostQueuedChunks = 10'000;
constexpr size_t kMostAddresses = 16;
constexpr size_t kMostCustomTrees = 1024;
constexpr char kOptimizers[] = "sgd momentum nesterov adam";
constexpr NumberRange kShare = Numbers(0, 1);
constexpr NumberRange kDecay = Numbers(0, 1 - 1e-9);
constexpr NumberRange kPricePerGb = Numbers(0, 1e9);
// Of a link below a bit per second no plan can be made.
constexpr NumberRange kMbps = {.low = 1e-6, .high = 1e9, .unit = NumberUnit::kMegabits};
// TCP's time-outs double with each loss in a row: beyond this part it carries next to nothing, whatever the rate.
constexpr double kMostLossPercent = 50;
// The format's own list, so that reading a file does not depend on the planners.
std::vector<std::string> AllPlanners() { return {"fapt", "star", "bkt", "mst", "custom", "packed"}; }

// ---- irregular values ----

// A name that is one of `nodes`.
YamlSlot OneOf(const std::vector<NodeConfig>& nodes, YamlSlot name) {
  return Then(std::move(name), [&nodes](const YamlSpot& at) {
    CheckNodeName(at.value.scalar, at.value.place, at.where, NamesOf(nodes), at.problems);
  });
}

YamlSlot PublicKey(std::string& out) {
  return Then(Text(out, "Z85 text, 40 characters"), [&out](const YamlSpot& at) {
    if (!IsKeyText(out)) at.Expected(absl::StrCat(kKeyCharacters, " characters of Z85"));
  });
}

// Different addresses.
YamlSlot Addresses(std::vector<std::string>& out, const char* form, absl::Status (*check)(absl::string_view)) {
  const auto slot_of = [&out, check](std::string& address) {
    return Then(Text(address, "", check), [&](const YamlSpot& at) {
      const bool is_there = std::count(out.begin(), out.end(), address) > 1;
      if (is_there) at.Refuse(absl::StrCat("'", address, "' comes twice; remove one of them"));
    });
  };
  YamlSlot slot = List<std::string>(out, "of 1 to 16", slot_of, 1, kMostAddresses);
  slot.form = form;
  slot.text = [&out] { return absl::StrJoin(out, ","); };
  return slot;
}

bool IsPair(const YamlSpot& at, const char* what) {
  const bool is_pair = at.value.kind == YamlValue::Kind::kSequence && at.value.items.size() == 2;
  if (!is_pair) at.Expected(what);
  return is_pair;
}

YamlSlot Position(std::optional<EarthPosition>& out) {
  YamlSlot slot = {.form = "[latitude -90 to 90, longitude -180 to 180]"};
  slot.read = [&out](const YamlSpot& at) {
    if (!IsPair(at, "[latitude, longitude] in degrees")) return;
    EarthPosition& position = out.emplace();
    Number(position.latitude_degrees, Numbers(-90, 90)).read({*at.value.items[0], at.where, at.problems});
    Number(position.longitude_degrees, Numbers(-180, 180)).read({*at.value.items[1], at.where, at.problems});
  };
  slot.text = [&out] {
    if (!out.has_value()) return std::string();
    return absl::StrCat("[", ExactText(out->latitude_degrees), ", ", ExactText(out->longitude_degrees), "]");
  };
  return slot;
}

YamlSlot NodePair(std::string& first, std::string& second, const char* what) {
  YamlSlot slot = {.form = "[name, name]"};
  slot.read = [&, what](const YamlSpot& at) {
    if (!IsPair(at, what)) return;
    Name(first).read({*at.value.items[0], at.where, at.problems});
    Name(second).read({*at.value.items[1], at.where, at.problems});
  };
  slot.text = [&] { return absl::StrCat("[", QuotedText(first), ", ", QuotedText(second), "]"); };
  return slot;
}

// One number for both directions, or [a to b, b to a].
YamlSlot BothWays(double& a_to_b, double& b_to_a, const NumberRange& range) {
  YamlSlot slot = {.range = range};
  slot.read = [&a_to_b, &b_to_a, range](const YamlSpot& at) {
    const std::vector<const YamlValue*>& items = at.value.items;
    const bool both = at.value.kind != YamlValue::Kind::kSequence;
    if (!both && items.size() != 2) {
      return at.Refuse(absl::StrCat("expected one number, or two as [a to b, b to a], got a list of ", items.size()));
    }
    Number(a_to_b, range).read({both ? at.value : *items[0], at.where, at.problems});
    Number(b_to_a, range).read({both ? at.value : *items[1], at.where, at.problems});
  };
  slot.text = [&a_to_b, &b_to_a, range] {
    const std::string there = ToFile(a_to_b, range.unit);
    return a_to_b == b_to_a ? there : absl::StrCat("[", there, ", ", ToFile(b_to_a, range.unit), "]");
  };
  return slot;
}

YamlSlot Loss(double& fraction) {
  YamlSlot slot = Number(fraction, {.low = 0, .high = 100, .unit = NumberUnit::kPercent});
  slot.range.high = kMostLossPercent;
  return Then(std::move(slot), [&fraction](const YamlSpot& at) {
    if (fraction <= kMostLossPercent / 100) return;
    at.Refuse(absl::StrCat("expected at most ", kMostLossPercent, ", beyond which TCP carries next to nothing, got ",
                           Describe(at.value), "; leave such a link out"));
  });
}

// Half of a custom tree: node -> parent.
YamlSlot Parents(std::map<std::string, std::string>& out, const std::vector<NodeConfig>& nodes) {
  YamlSlot slot = {.form = "{node: parent}"};
  slot.read = [&out, &nodes](const YamlSpot& at) {
    const std::set<std::string> names = NamesOf(nodes);
    if (at.value.kind != YamlValue::Kind::kMap) {
      return at.Expected("a map such as {n2: n1, n3: n1} from node to parent");
    }
    for (const YamlEntry& entry : at.value.entries) {
      if (!at.problems.status().ok()) return;
      std::string& parent = out[entry.key];
      Name(parent).read({*entry.value, absl::StrCat(at.where, ".", entry.key), at.problems});
      CheckNodeName(entry.key, entry.place, at.where, names, at.problems);
      CheckNodeName(parent, entry.place, at.where, names, at.problems);
    }
  };
  slot.text = [&out] {
    std::vector<std::string> entries;
    for (const auto& [node, parent] : out) entries.push_back(QuotedText(node) + ": " + QuotedText(parent));
    return entries.empty() ? "" : absl::StrCat("{", absl::StrJoin(entries, ", "), "}");
  };
  return slot;
}

// An entry of a list of maps. Refuses the short forms that people try there; `example` is the long one.
YamlSlot Entry(YamlSlot slot, const char* example) {
  const auto refuse_short = [example](const YamlSpot& at) {
    const bool is_short =
        at.value.kind == YamlValue::Kind::kSequence ||
        (at.value.kind == YamlValue::Kind::kScalar && at.value.scalar.find_first_of(":=") == std::string::npos);
    if (is_short) at.Expected(absl::StrCat("a map such as ", example));
  };
  return First(refuse_short, std::move(slot));
}

YamlSlot Nodes(std::vector<NodeConfig>& nodes) {
  const auto count_nodes = [](const YamlSpot& at) {
    const size_t count = at.value.items.size();
    if (at.value.kind != YamlValue::Kind::kSequence || (count >= 2 && count <= kMaxOverlayNodes)) return;
    at.Refuse(absl::StrCat("expected at least 2 and at most ", kMaxOverlayNodes, " nodes, got ", count));
  };
  const auto node = [](NodeConfig& of) { return Entry(Map(NodeKeys(of)), "{name: n1}"); };
  return First(count_nodes, List<NodeConfig>(nodes, "such as [{name: n1}, {name: n2}]", node));
}

YamlSlot Links(std::optional<std::vector<LinkConfig>>& links) {
  const auto link = [](LinkConfig& of) {
    const auto note_rates = [&of](YamlMapReader& map, YamlProblems&) { of.has_rates = map.Has("mbps"); };
    return Entry(Map(LinkKeys(of), note_rates), "{between: [n1, n2], mbps: 100}");
  };
  const auto list = [link](std::vector<LinkConfig>& of) {
    return List<LinkConfig>(of, "such as [{between: [n1, n2], mbps: 100}]", link);
  };
  YamlSlot slot = {.form = "list"};
  slot.read = [&links, list](const YamlSpot& at) { list(links.emplace()).read(at); };
  slot.yaml = [&links, list] { return links.has_value() ? list(*links).yaml() : ""; };
  return slot;
}

YamlSlot People(std::vector<PersonConfig>& people) {
  return List<PersonConfig>(people, "such as [{name: ada, public_key: '...'}]",
                            [](PersonConfig& person) { return Map(PersonKeys(person)); });
}

// ---- sections ----

std::vector<YamlKey> SchedulerKeys(SchedulerConfig& scheduler) {
  std::vector<std::string>& addresses = scheduler.addresses;
  YamlSlot address = Text(scheduler.address, "tcp://host:port", CheckConnectAddress);
  // What it is and what follows from it is one difference.
  address.text = [] { return ""; };
  address.yaml = [&scheduler] {
    return scheduler.addresses.size() > 1 || scheduler.address.empty() ? "" : QuotedText(scheduler.address);
  };
  YamlSlot lease = Number(scheduler.lease, Seconds(2, 300));
  lease.yaml = [&scheduler, seconds = lease.yaml] { return scheduler.etcd.empty() ? "" : seconds(); };
  YamlSlot list = Addresses(addresses, "1 to 16 of them, different", CheckConnectAddress);
  list.yaml = [&addresses, all = list.yaml] { return addresses.size() > 1 ? all() : ""; };
  return {
      {"address", std::move(address), kRefused, "where nodes reach the scheduler"},
      {"addresses", std::move(list), kRefused, "of several schedulers, instead"},
      {"etcd", Addresses(scheduler.etcd, "1 to 16 of http://host:port or https://", CheckHttpUrl), kRefused,
       "members of one cluster (3.4 or later), which keeps the state under `/banyan/JOB/` and elects the leader; flags "
       "give it a user or a certificate (`deploy/README.md`)"},
      // etcd grants no shorter lease than its elections take; a longer one leaves the job without a scheduler for long.
      {"lease_seconds", std::move(lease), kRefused,
       "without etcd for so long, a leader steps down; whole, with `etcd` 3 by default"},
      {"public_key", PublicKey(scheduler.public_key), kRefused, "of all schedulers of the job"},
      {"http", Text(scheduler.http, "host:port", CheckHttpAddress), kRefused,
       "dashboard and metrics (`docs/watching.md`)"},
  };
}

std::vector<YamlKey> TopologyKeys(TopologyConfig& topology, const std::vector<NodeConfig>& nodes) {
  const double most_roots = nodes.empty() ? kMaxOverlayNodes : static_cast<double>(nodes.size());
  const auto tree = [&nodes](CustomTreeConfig& of) { return Map(TreeKeys(of, nodes)); };
  return {
      {"planner", Word(topology.planner, AllPlanners()), kLive, "`docs/planner.md`"},
      {"roots", Number(topology.roots, Count(1, most_roots, "all")), kLive,
       "at most as many as there are nodes; `all` means at most 32", "fapt packed"},
      {"root", OneOf(nodes, Name(topology.root)), kLive,
       "a node, instead of the best one: root of star, bkt, mst, and of a single tree", "star bkt mst fapt packed"},
      {"k", Number(topology.arity, Count(1, kMaxOverlayNodes)), kLive, "bkt: children of an inner node", "bkt"},
      {"shares", Word(topology.shares, {"quality", "balanced"}), kLive, "by path speed, or for the highest total rate",
       "fapt custom"},
      {"trees",
       List<CustomTreeConfig>(topology.trees, "of 1 to 1024 trees such as {root: n1, reduce: {n2: n1}}", tree, 1,
                              kMostCustomTrees),
       kLive, "", "custom"},
      {"budget_per_round", Number(topology.budget_per_round, Numbers(0, 1e15)), kLive,
       "packed: what a round may cost (`docs/planner.md`)", "packed"},
      {"update_seconds",
       Number(topology.update_interval, {.low = 0, .high = 1e6, .low_allowed = false, .unit = NumberUnit::kSeconds}),
       kLive, "how often smaller changes lead to a new plan"},
      {"update_rate", Number(topology.update_rate, Numbers(0, 1000)), kLive,
       "a change of rate beyond this fraction is planned for within half a second; 0: off"},
  };
}

// Notes where the section lies, for messages.
YamlSlot Placed(FilePlace& place, YamlSlot slot) {
  return Then(std::move(slot), [&place](const YamlSpot& at) { place = at.value.place; });
}

// ---- compression ----

YamlSlot Codec(CodecId& codec) {
  const auto refuse_none = [](const YamlSpot& at) {
    if (!IsWord(at.value, "none") && !IsWord(at.value, "off")) return;
    at.Refuse(absl::StrCat("unknown value ", Describe(at.value), "; without compression values travel as fp32"));
  };
  return Required(First(refuse_none, Word(codec, CodecNames())));
}

YamlSlot ControllerNumberOf(std::vector<ControllerNumber>& numbers, const RatioNumber& number) {
  const NumberUnit unit = number.is_whole  ? NumberUnit::kCount
                          : number.is_time ? NumberUnit::kSeconds
                                           : NumberUnit::kNone;
  YamlSlot slot = {.range = {.low = number.least, .high = number.greatest, .unit = unit}};
  slot.read = [&numbers, name = number.name, range = slot.range](const YamlSpot& at) {
    const std::optional<double> read = ReadNumber(at.value, at.where, range, at.problems);
    if (read.has_value()) numbers.push_back({std::string(name), *read});
  };
  slot.text = [&numbers, name = number.name] {
    for (const ControllerNumber& given : numbers) {
      if (given.name == name) return ExactText(given.value);
    }
    return std::string();
  };
  return slot;
}

std::vector<YamlKey> NumberKeys(CompressionRule& rule) {
  std::vector<YamlKey> keys;
  for (const RatioNumber& number : NumbersOf(rule.controller)) {
    keys.push_back({std::string(number.name), ControllerNumberOf(rule.numbers, number)});
  }
  return keys;
}

std::string NoSelection(const YamlKey& /*selection*/) { return "only codec topk selects; remove it"; }

// Reads what depends on a rule's controller, and checks the whole. Numbers of another controller are refused here,
// since they are no misspelt names.
void FinishRule(CompressionRule& rule, YamlMapReader& map, YamlProblems& problems) {
  const std::vector<YamlKey> numbers = NumberKeys(rule);
  ReadKeys(map, numbers, problems);
  for (const YamlEntry& entry : map.entries()) {
    const bool is_known = std::any_of(numbers.begin(), numbers.end(),
                                      [&entry](const YamlKey& number) { return number.name == entry.key; });
    if (is_known || !IsRatioNumber(entry.key)) continue;
    problems.Add(entry.value->place, absl::StrCat(map.PathOf(entry.key), ": the controller ", NameOf(rule.controller),
                                                  " has no ", entry.key, "; remove it or choose another controller"));
  }
  if (!problems.status().ok()) return;
  if (const std::optional<FieldProblem> problem = FindRuleProblem(rule); problem.has_value()) {
    problems.Add(map.PlaceOf(problem->field),
                 absl::StrCat(map.PathOf(problem->field), ": expected ", problem->expected, ", got ", problem->came));
  }
}

YamlSlot Rule(CompressionRule& rule, const std::vector<CompressionRule>& rules) {
  const auto finish = [&rule](YamlMapReader& map, YamlProblems& problems) { FinishRule(rule, map, problems); };
  YamlSlot slot = Map(RuleKeys(rule), finish, NoSelection);
  slot.yaml = [&rule] {
    std::vector<YamlKey> keys = RuleKeys(rule);
    for (YamlKey& number : NumberKeys(rule)) keys.push_back(std::move(number));
    return FileText(keys);
  };
  const auto refuse_unreached = [&rules](const YamlSpot& at) {
    if (rules.size() < 2 || rules[rules.size() - 2].keys != "*") return;
    at.Refuse("the rule before has keys '*', so that this one matches nothing; put it first");
  };
  return First(refuse_unreached, std::move(slot));
}

}  // namespace

// ---- entries of lists ----

std::vector<YamlKey> NodeKeys(NodeConfig& node) {
  return {
      {"name", Required(Name(node.name)), kRefused, "of 2 to 4096 nodes; the first has NodeId 1"},
      {"address", Text(node.address, "tcp://host:port", CheckConnectAddress), kRefused,
       "where other nodes reach it; different for each"},
      {"listen", Text(node.listen, "tcp://host:port", CheckListenAddress), kRefused,
       "what it binds to, if not its address; the host may be `*` and the port 0"},
      {"workers", Number(node.workers, Count(1, kMaxWorkersPerNode)), kFixed, "training processes of the node"},
      {"up_mbps", Number(node.up_cap_bps, kMbps), kRefused, "limit of all that it sends"},
      {"down_mbps", Number(node.down_cap_bps, kMbps), kRefused, "limit of all that it receives"},
      {"public_key", PublicKey(node.public_key), kLive, "all nodes have one, or none has (`docs/security.md`)"},
      {"place", Position(node.position), kLive, "where the dashboard shows it"},
      {"price_per_gb", Number(node.price_per_gb, kPricePerGb), kLive,
       "price of 10^9 bytes that it sends (`docs/planner.md`)"},
  };
}

std::vector<YamlKey> LinkKeys(LinkConfig& link) {
  return {
      {"between", Required(NodePair(link.a, link.b, "the names of two nodes, [a, b]")), kRefused,
       "two different nodes; one entry per pair"},
      {"mbps", BothWays(link.a_to_b_bps, link.b_to_a_bps, kMbps), kLive, "both directions, or [a to b, b to a]"},
      {"delay_ms", Number(link.delay, {.low = 0, .high = 600'000, .unit = NumberUnit::kMilliseconds}), kLive,
       "propagation, one way"},
      {"loss_percent", Loss(link.loss_fraction), kLive, "of packets, each direction"},
      {"price_per_gb", BothWays(link.a_to_b_price_per_gb, link.b_to_a_price_per_gb, kPricePerGb), kLive,
       "price of 10^9 bytes that cross it; both directions, or [a to b, b to a]"},
  };
}

std::vector<YamlKey> SharedKeys(SharedConfig& shared) {
  const auto ends = [](Ends& link) { return NodePair(link.first, link.second, "the names of two nodes, [from, to]"); };
  YamlSlot links = List<Ends>(shared.links, "of links such as [[n1, n2], [n1, n3]]", ends, 1);
  links.form = "[from, to] of one direction each";
  return {
      {"links", Required(std::move(links)), kLive, "links that share more than their ends, such as a router's link"},
      {"mbps", Required(Number(shared.capacity_bps, kMbps)), kLive, "what they carry together"},
  };
}

std::vector<YamlKey> PersonKeys(PersonConfig& person) {
  return {
      {"name", Required(Name(person.name)), kLive, "operators may change and stop the job, observers may look at it"},
      {"public_key", Required(PublicKey(person.public_key)), kLive, "their key"},
  };
}

std::vector<YamlKey> TreeKeys(CustomTreeConfig& tree, const std::vector<NodeConfig>& nodes) {
  return {
      {"root", Required(OneOf(nodes, Name(tree.root))), kLive, "a node; up to 1024 trees, planner custom"},
      {"share", Number(tree.share, Above(0, 1)), kLive,
       "give all trees one, with the sum 1, or none: then by `shares`"},
      {"reduce", Required(Parents(tree.reduce, nodes)), kLive, "the way up"},
      {"broadcast", Parents(tree.broadcast, nodes), kLive, "the way down, if it is not that of `reduce`"},
  };
}

std::vector<YamlKey> RuleKeys(CompressionRule& rule) {
  return {
      {"codec", Codec(rule.codec), kFixed, "encoding of the elements"},
      {"controller", Word(rule.controller, RatioControllerNames()), kFixed, "ratio of topk and randomk"},
      {"selection", Word(rule.selection, {"exact", "sampled"}), kFixed, "topk: sampled is faster", "topk"},
      {"error_feedback", Bool(rule.error_feedback), kFixed,
       "what is dropped is sent later; by default with topk, randomk, sign, trim_*"},
      {"keys", Required(Text(rule.keys, "pattern, 1 to 1024 bytes")), kFixed, "`*` stands for any characters"},
  };
}

// ---- the file ----

YamlSlot CompressionSlot(CompressionConfig& config) {
  const auto rule = [&rules = config.rules](CompressionRule& of) { return Rule(of, rules); };
  YamlSlot list = List<CompressionRule>(config.rules, "of at most 256 rules such as {keys: \"*.weight\", codec: topk}",
                                        rule, 0, kMaxCompressionRules);
  list.yaml = [&config, all = list.yaml] { return config.rules.empty() ? "[]" : all(); };
  YamlSlot slot = {.form = "map"};
  slot.keys = {
      {"least_elements", Number(config.least_elements, Count(0, kMostLeastElements)), kFixed,
       "smaller tensors travel in their own type"},
      {"rules", std::move(list), kFixed, "instead of one rule"},
  };
  slot.read = [&config, keys = slot.keys](const YamlSpot& at) {
    YamlMapReader map(at.value, at.where, at.problems);
    ReadKeys(map, keys, at.problems);
    if (!map.Has("rules")) {
      CompressionRule& one = config.rules.emplace_back();
      std::vector<YamlKey> rule_keys = RuleKeys(one);
      rule_keys.pop_back();
      ReadKeys(map, rule_keys, at.problems, NoSelection);
      FinishRule(one, map, at.problems);
    }
    map.Finish();
  };
  slot.yaml = [&config, keys = slot.keys] { return config == CompressionConfig() ? "" : FileText(keys); };
  return slot;
}

std::vector<YamlKey> NetworkKeys(OverlayConfig& overlay) {
  const auto shared = [](SharedConfig& of) { return Map(SharedKeys(of)); };
  return {
      {"nodes", Required(Nodes(overlay.nodes))},
      {"links", Links(overlay.links)},
      {"shared", List<SharedConfig>(overlay.shared, "such as [{links: [[n1, n2], [n1, n3]], mbps: 100}]", shared)},
  };
}

std::vector<YamlKey> JobKeys(OverlayConfig& overlay) {
  OverlayConfig& o = overlay;
  const double nodes = o.nodes.empty() ? kMaxOverlayNodes : static_cast<double>(o.nodes.size());
  std::vector<std::string> trim_policies;
  for (int kind = 0; kind <= static_cast<int>(kLastTrimPolicy); ++kind) {
    trim_policies.emplace_back(NameOf(static_cast<TrimPolicyKind>(kind)));
  }
  const auto no_planner = [&o](const YamlKey& key) {
    return absl::StrCat(UseFault(key.name, o.topology.planner),
                        "; leave it out, or choose 'planner: ", WordsOf(key.only).front(), "'");
  };
  const auto no_operation = [](const YamlKey& key) {
    return absl::StrCat("the operation aggregation.op has no ", key.name, "; remove it or choose another operation");
  };
  const auto no_policy = [&o](const YamlKey& key) {
    return absl::StrCat("only with policy: ", key.only, ", got policy: ", NameOf(o.trimming.policy),
                        "; remove it or change the policy");
  };
  const std::vector<YamlKey> awareness = {
      {"enabled", Bool(o.awareness.enabled), kLive, "plans follow what nodes measure"},
      {"probe_chunk_bytes", Number(o.awareness.probe_chunk_bytes, Bytes(1, kMostBytes)), kLive,
       "payload bytes of a sample, at least"},
      {"probe_chunks", Number(o.awareness.probe_chunks, Count(1, kMostQueuedChunks)), kLive, "chunks in a sample"},
      {"estimator",
       Word(o.awareness.estimator, {NameOf(RateEstimator::kDelivery), NameOf(RateEstimator::kOneWayDelay)}), kLive,
       "which estimate decides plans"},
  };
  const std::vector<YamlKey> multipath = {
      {"enabled", Bool(o.multipath.enabled), kLive, "tree edges get auxiliary paths"},
      {"primary_busy_bound", Number(o.multipath.primary_busy_bound, Count(0, kMostQueuedChunks)), kLive,
       "chunks beyond the bandwidth-delay product, from which on the primary path is busy"},
      {"auxiliary_queue_length", Number(o.multipath.auxiliary_queue_length, Count(0, kMostQueuedChunks)), kLive,
       "the same bound for an auxiliary path"},
  };
  const std::vector<YamlKey> chunks = {
      {"max_elements", Number(o.chunks.max_elements, Count(1, kMostChunkElements)), kLiveOnly,
       "elements of the largest chunk"},
      {"min_elements", Number(o.chunks.min_elements, Count(1, kMostChunkElements)), kLive,
       "elements of the smallest that packed may choose"},
  };
  const std::vector<YamlKey> aggregation = {
      {"op", Word(o.aggregation.op, {kAggregationOpNames.begin(), kAggregationOpNames.end()}), kFixed,
       "the last four are optimizers, run by every node: results are parameters"},
      {"not_finite", Word(o.aggregation.not_finite, {"keep", "skip", "fail"}), kFixed,
       "a gradient with NaN or infinity is summed, is skipped, or ends the job"},
      {"quorum", Number(o.aggregation.quorum, kShare), kFixed,
       "share of all workers, from which on a round may close without the others (`docs/stragglers.md`); 0: all"},
      {"grace_seconds", Number(o.aggregation.grace, Seconds(0, 3600, "auto")), kFixed,
       "time for the others from then on; auto: as late as a node's workers have been, half a step at most"},
      {"order", Word(o.aggregation.fixed_order, {"arrival", "fixed"}), kFixed,
       "`fixed`: sums add in the order of nodes, so that a replay is equal to the bit (`docs/replay.md`)"},
      {"learning_rate", Number(o.aggregation.learning_rate, Above(0, 1000)), kFixed,
       "of the optimizers; adam: 0.001 by default", kOptimizers},
      {"momentum", Number(o.aggregation.momentum, kDecay), kFixed, "momentum, nesterov", "momentum nesterov"},
      {"beta1", Number(o.aggregation.beta1, kDecay), kFixed, "adam", "adam"},
      {"beta2", Number(o.aggregation.beta2, kDecay), kFixed, "adam", "adam"},
      {"epsilon", Number(o.aggregation.epsilon, Above(0, 1)), kFixed, "adam", "adam"},
      {"weight_decay", Number(o.aggregation.weight_decay, kShare), kFixed,
       "times the parameters, added to the gradient", kOptimizers},
  };
  const std::vector<YamlKey> policy = {
      {"lease_seconds", Number(o.policy.lease, Seconds(0, 3600)), kFixed,
       "about how long rounds continue without the scheduler; 0: it is asked for each round"},
      {"rounds_in_flight", Number(o.policy.rounds_in_flight, Count(1, 16)), kFixed,
       "open rounds per tensor; 1 with an optimizer, error feedback or a quorum"},
  };
  const std::vector<YamlKey> transport = {
      {"connections", Number(o.transport.connections, Count(1, 64, "auto")), kFixed,
       "data connections per link; auto: up to 4"},
      {"bytes_per_connection", Number(o.transport.bytes_per_connection, Bytes(0, kMostBytes)), kFixed,
       "auto: bandwidth-delay product per connection, with BBR 16 times that; 0: all"},
      {"window_bytes", Number(o.transport.window_bytes, Bytes(1, kMostBytes, "auto")), kFixed,
       "in flight per link; auto: from the link's bandwidth-delay product"},
      {"early_bytes", Number(o.transport.early_bytes, Bytes(0, kMostBytes)), kFixed,
       "per node, for rounds not open yet; 0: the model's size"},
      {"relay_bytes", Number(o.transport.relay_bytes, Bytes(0, kMostBytes)), kFixed,
       "per node, for chunks to forward; 0: 64 chunks"},
  };
  const std::vector<YamlKey> membership = {
      {"start_with", Number(o.membership.start_with, Count(1, nodes, "all")), kFixed,
       "nodes that must join before round 1"},
      {"heartbeat_seconds", Number(o.membership.heartbeat, Seconds(0.01, 3600)), kFixed, "between heartbeats"},
      {"lost_after_seconds", Number(o.membership.lost_after, Seconds(0.01, 3600)), kFixed,
       "silence after which a peer is lost; at least 0.1 and three heartbeats"},
      {"scheduler_lost_after_seconds", Number(o.membership.scheduler_lost_after, Seconds(0.01, 7 * 24 * 3600)), kFixed,
       "the scheduler's silence after which a node ends the job; at least `lost_after_seconds`"},
      {"worker_lost_after_seconds", Number(o.membership.worker_lost_after, Seconds(0.1, 7 * 24 * 3600, "never")),
       kFixed, "the others go on without a worker that lets them wait for so long (`docs/stragglers.md`)"},
      {"least", Number(o.membership.least, Count(1, nodes)), kFixed, "with fewer members training waits"},
  };
  const std::vector<YamlKey> trimming = {
      {"policy", Word(o.trimming.policy, trim_policies), kFixed, "when queues trim chunks of `trim_*` codecs"},
      {"queue_bytes", Number(o.trimming.queue_bytes, Bytes(0, kMostBytes)), kFixed, "queue: bytes that may wait",
       "queue"},
      {"share", Number(o.trimming.share, kShare), kFixed, "random: share of the chunks", "random"},
  };
  const std::vector<YamlKey> precision = {
      {"profile", Required(Text(o.precision.profile, "file")), kFixed,
       "the operating profile, a file beside the overlay"},
      {"binding", Required(Text(o.precision.binding, "file")), kFixed,
       "which tensors may be low-bit, a file beside the overlay"},
  };
  return {
      {"job", Name(o.job), kRefused, "nodes of another job are refused"},
      {"scheduler", Placed(o.scheduler.place, Map(SchedulerKeys(o.scheduler), CheckScheduler(o.scheduler)))},
      {"operators", People(o.operators)},
      {"observers", People(o.observers)},
      {"topology", Map(TopologyKeys(o.topology, o.nodes), CheckTopology(o.topology), no_planner)},
      {"awareness", Map(awareness)},
      {"multipath", Map(multipath)},
      {"chunks", Map(chunks)},
      {"aggregation", Map(aggregation, CheckAggregation(o.aggregation), no_operation)},
      {"policy", Map(policy)},
      {"transport", Map(transport)},
      {"membership", Map(membership, CheckMembership(o.membership))},
      {"compression", CompressionSlot(o.compression)},
      {"trimming", Map(trimming, nullptr, no_policy)},
      {"precision", Placed(o.precision.place, Map(precision))},
  };
}

std::vector<std::string> PlannersWith(absl::string_view key) {
  TopologyConfig topology;
  const std::vector<NodeConfig> nodes;
  for (const YamlKey& known : TopologyKeys(topology, nodes)) {
    if (known.name == key && *known.only != '\0') return WordsOf(known.only);
  }
  return AllPlanners();
}

std::string UseFault(absl::string_view key, const std::string& planner) {
  const std::vector<std::string> planners = PlannersWith(key);
  if (std::find(planners.begin(), planners.end(), planner) != planners.end()) return "";
  const bool is_one = planners.size() == 1;
  return absl::StrCat("only the planner", is_one ? " " : "s ", absl::StrJoin(planners, ", "), is_one ? " has" : " have",
                      " it, not '", planner, "'");
}

std::string WriteOverlay(const OverlayConfig& overlay) {
  // Rows write, too; these are only looked at.
  auto& looked_at = const_cast<OverlayConfig&>(overlay);
  std::string text;
  for (const std::vector<YamlKey>& keys : {NetworkKeys(looked_at), JobKeys(looked_at)}) {
    for (const YamlKey& key : keys) {
      const std::string value = FileText(key.slot);
      if (!value.empty()) absl::StrAppend(&text, key.name, ": ", value, "\n");
    }
  }
  return text;
}

}  // namespace banyan
