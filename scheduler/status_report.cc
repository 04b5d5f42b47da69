#include "scheduler/status_report.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "access/exposure.h"
#include "core/json_writer.h"
#include "core/version.h"
#include "proto/peer_messages.h"

namespace banyan {
namespace {

constexpr double kMega = 1e6;

// By position in the table of links; nullptr where the sender has not reported the link.
using LinkTraffic = std::vector<const NodeReport::Link*>;

const char* NameOf(MemberState state) {
  switch (state) {
    case MemberState::kAbsent:
      return "absent";
    case MemberState::kExpected:
      return "expected";
    case MemberState::kJoined:
      return "joined";
    case MemberState::kSilent:
      return "silent";
    case MemberState::kLeft:
      return "left";
    case MemberState::kOut:
      return "out";
  }
  return "unknown";
}

const char* NameOf(LinkSource source) {
  switch (source) {
    case LinkSource::kBelieved:
      return "believed";
    case LinkSource::kPrimary:
      return "primary";
    case LinkSource::kAuxiliary:
      return "auxiliary";
  }
  return "unknown";
}

void WriteNotFinite(const NodeReport& report, const KeyTable& keys, JsonWriter& json) {
  json.Name("not_finite").BeginArray();
  for (const NodeReport::NotFinite& row : report.not_finite) {
    json.BeginObject().Name("key").String(keys.Contains(row.key) ? keys.NameOf(row.key) : "other keys");
    json.Name("values").Integer(row.values).Name("last_round").Integer(row.last.value()).EndObject();
  }
  json.EndArray();
}

void WriteReport(const NodeReport& report, const KeyTable& keys, JsonWriter& json) {
  json.Name("workers").Integer(report.workers_attached).Name("round");
  // Some keys are used in few steps, or in none.
  const auto newest = std::max_element(report.progress.begin(), report.progress.end(),
                                       [](const auto& a, const auto& b) { return a.round < b.round; });
  if (newest == report.progress.end()) {
    json.Null();
  } else {
    json.Integer(newest->round.value());
  }
  json.Name("step").Integer(report.step).Name("loss").Number(report.loss);
  json.Name("sync_seconds").Number(absl::ToDoubleSeconds(report.last_sync.duration));
  json.Name("late_rounds").Integer(report.late_rounds);
  json.Name("rejected_messages").Integer(report.rejected_messages).Name("memory").BeginObject();
  std::map<std::string, uint64_t> memory;
  for (const NodeReport::Memory& row : report.memory) memory[row.what] += row.size_bytes;
  for (const auto& [what, size_bytes] : memory) json.Name(what).Integer(size_bytes);
  json.EndObject();
  WriteNotFinite(report, keys, json);
}

void WriteCap(const char* name, const std::optional<double>& cap_bps, JsonWriter& json) {
  if (cap_bps.has_value()) json.Name(name).Number(*cap_bps / kMega);
}

// What the overlay says of a node: its caps and its place, where it has them.
void WriteOverlayNode(const StatusSources& from, NodeId id, JsonWriter& json) {
  const NetworkNode* node = from.links.believed().FindNode(id);
  if (node == nullptr) return;
  WriteCap("up_mbps", node->up_cap_bps, json);
  WriteCap("down_mbps", node->down_cap_bps, json);
  if (!node->position.has_value()) return;
  json.Name("place").BeginArray().Number(node->position->latitude_degrees);
  json.Number(node->position->longitude_degrees).EndArray();
}

// Whether other machines reach this address, in a job without keys. A process refuses that without --insecure.
bool IsInsecure(const StatusSources& from, const std::string& address) {
  return !from.keyless_address.empty() && !address.empty() && !IsLoopback(address);
}

void WriteNodes(const StatusSources& from, JsonWriter& json) {
  json.Name("nodes").BeginArray();
  for (const Member& member : from.membership.all()) {
    json.BeginObject().Name("name").String(member.name).Name("id").Integer(member.id.value());
    json.Name("state")
        .String(member.is_removed ? "removed" : NameOf(member.state))
        .Name("address")
        .String(member.address)
        .Name("heard_s");
    if (member.state == MemberState::kAbsent || member.state == MemberState::kExpected) {
      json.Null();
    } else {
      json.Number(absl::ToDoubleSeconds(from.now - member.last_heard));
    }
    json.Name("version").String(member.version).Name("insecure").Boolean(IsInsecure(from, member.address));
    json.Name("member").Boolean(member.is_member);
    if (member.is_member) {
      // As text: not every reader of JSON keeps 64 bits.
      json.Name("incarnation").String(absl::StrCat(member.incarnation.value()));
      json.Name("joined_in").Integer(member.joined_in.value());
    }
    WriteOverlayNode(from, member.id, json);
    const NodeReport* report = from.reports.Find(member.id);
    if (report != nullptr) WriteReport(*report, from.keys, json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteMeasurement(const LinkMeasurement& measurement, JsonWriter& json) {
  json.Name("one_way_delay_mbps").Number(measurement.one_way_delay_rate_bps / kMega);
  json.Name("clock_offset_ms").Number(absl::ToDoubleMilliseconds(measurement.clock_offset));
  json.Name("clock_uncertainty_ms").Number(absl::ToDoubleMilliseconds(measurement.clock_uncertainty));
}

LinkTraffic CollectTraffic(const StatusSources& from) {
  const std::vector<LinkTable::Entry>& entries = from.links.entries();
  LinkTraffic traffic(entries.size(), nullptr);
  const auto ends = [](const LinkTable::Entry& entry) { return std::pair(entry.link.from, entry.link.to); };
  for (const Member& member : from.membership.all()) {
    const NodeReport* report = from.reports.Find(member.id);
    if (report == nullptr) continue;
    for (const NodeReport::Link& link : report->links) {
      const auto found = std::ranges::lower_bound(entries, std::pair(member.id, link.to), {}, ends);
      if (found != entries.end() && ends(*found) == std::pair(member.id, link.to)) {
        traffic[static_cast<size_t>(found - entries.begin())] = &link;
      }
    }
  }
  return traffic;
}

// The positions of the links that are listed, ascending.
std::vector<size_t> ListedLinks(const LinkTraffic& traffic) {
  std::vector<size_t> listed(traffic.size());
  std::iota(listed.begin(), listed.end(), size_t{0});
  if (listed.size() <= kMostLinksListed) return listed;
  const auto rank = [&traffic](size_t link) {
    const NodeReport::Link none;
    const NodeReport::Link& of = traffic[link] == nullptr ? none : *traffic[link];
    const bool has_trouble = of.is_blocked || of.renewals > 0 || of.cut_chunks > 0;
    return std::tuple(!has_trouble, -of.busy_share, of.sent_bytes == 0, link);
  };
  std::ranges::nth_element(listed, listed.begin() + kMostLinksListed, {}, rank);
  listed.resize(kMostLinksListed);
  std::ranges::sort(listed);
  return listed;
}

void WriteLink(const StatusSources& from, const LinkTable::Entry& entry, const NodeReport::Link& traffic,
               JsonWriter& json) {
  const NetworkLink& link = entry.link;
  const NetworkView& names = from.links.believed();
  json.BeginObject().Name("from").String(names.NameOf(link.from)).Name("to").String(names.NameOf(link.to));
  json.Name("mbps").Number(link.throughput_bps / kMega);
  json.Name("delay_ms").Number(absl::ToDoubleMilliseconds(link.delay));
  json.Name("loss_percent").Number(100 * link.loss_fraction).Name("age_s");
  const std::optional<absl::Duration> age = from.links.AgeOf(entry, from.now);
  if (age.has_value()) {
    json.Number(absl::ToDoubleSeconds(*age));
  } else {
    json.Null();
  }
  json.Name("source").String(NameOf(link.source)).Name("old").Boolean(from.links.IsOld(entry, from.now));
  json.Name("bytes").Integer(traffic.sent_bytes).Name("resent_bytes").Integer(traffic.resent_bytes);
  json.Name("auxiliary_bytes").Integer(traffic.auxiliary_bytes).Name("busy_share").Number(traffic.busy_share);
  json.Name("renewals").Integer(traffic.renewals).Name("blocked").Boolean(traffic.is_blocked);
  json.Name("cut_chunks").Integer(traffic.cut_chunks).Name("cut_bytes").Integer(traffic.cut_bytes);
  json.Name("overtakings").Integer(traffic.overtakings);
  if (entry.reported.has_value()) WriteMeasurement(*entry.reported, json);
  json.EndObject();
}

void WriteLinks(const StatusSources& from, JsonWriter& json) {
  const LinkTraffic traffic = CollectTraffic(from);
  uint64_t sent_bytes = 0;
  uint64_t auxiliary_bytes = 0;
  json.Name("links").BeginArray();
  const std::vector<size_t> listed = ListedLinks(traffic);
  for (const size_t link : listed) {
    const NodeReport::Link none;
    WriteLink(from, from.links.entries()[link], traffic[link] == nullptr ? none : *traffic[link], json);
  }
  for (const NodeReport::Link* const link : traffic) {
    sent_bytes += link == nullptr ? 0 : link->sent_bytes;
    auxiliary_bytes += link == nullptr ? 0 : link->auxiliary_bytes;
  }
  json.EndArray().Name("links_left_out").Integer(traffic.size() - listed.size()).Name("auxiliary_share");
  json.Number(sent_bytes == 0 ? 0 : static_cast<double>(auxiliary_bytes) / static_cast<double>(sent_bytes));
}

void WriteInferred(const StatusSources& from, JsonWriter& json) {
  json.Name("inferred").BeginArray();
  for (const SharedGroup& group : from.inferred) {
    json.BeginObject().Name("node").String(from.links.believed().NameOf(group.host));
    json.Name("what").String(group.kind == SharedGroup::Kind::kSent ? "sends" : "receives");
    json.Name("mbps").Number(group.capacity_bps / kMega).EndObject();
  }
  json.EndArray();
}

void WriteWays(const StatusSources& from, JsonWriter& json) {
  const NetworkView& view = from.links.believed();
  const auto name = [&](NodeId node) { return view.NameOf(node); };
  json.Name("ways").BeginArray();
  for (const SharedWay& way : from.ways) {
    const NetworkLink& link = view.links()[way.link];
    json.BeginObject().Name("from").String(name(link.from)).Name("to").String(name(link.to));
    json.Name("mbps").Number(way.rate_bps / kMega).Name("links").BeginArray();
    for (const size_t number : way.over) {
      const NetworkLink& over = view.links()[number];
      json.BeginArray().String(name(over.from)).String(name(over.to)).EndArray();
    }
    json.EndArray().EndObject();
  }
  json.EndArray();
}

void WriteSlowestLink(const StatusSources& from, JsonWriter& json) {
  const LinkTable::Entry* slowest = nullptr;
  double busy_share = 0;
  const LinkTraffic traffic = CollectTraffic(from);
  for (size_t i = 0; i < traffic.size(); ++i) {
    if (traffic[i] == nullptr || traffic[i]->busy_share <= busy_share) continue;
    slowest = &from.links.entries()[i];
    busy_share = traffic[i]->busy_share;
  }
  json.Name("slowest_link");
  if (slowest == nullptr) {
    json.Null();
    return;
  }
  const NetworkView& names = from.links.believed();
  const NetworkLink& link = slowest->link;
  json.BeginObject().Name("from").String(names.NameOf(link.from)).Name("to").String(names.NameOf(link.to));
  json.Name("mbps").Number(link.throughput_bps / kMega).Name("busy_share").Number(busy_share).EndObject();
}

void WriteParents(const std::map<NodeId, NodeId>& parents, const NetworkView& view, JsonWriter& json) {
  json.BeginObject();
  for (const auto& [node, parent] : parents) json.Name(view.NameOf(node)).String(view.NameOf(parent));
  json.EndObject();
}

void WriteTrees(const Policy& policy, const NetworkView& view, JsonWriter& json) {
  for (const Tree& tree : policy.trees) {
    json.BeginObject().Name("root").String(view.NameOf(tree.root)).Name("share").Number(tree.share);
    WriteParents(tree.reduce_parent, view, json.Name("reduce"));
    WriteParents(tree.broadcast_parent, view, json.Name("broadcast"));
    json.EndObject();
  }
}

void WritePolicy(const StatusSources& from, JsonWriter& json) {
  const Policy* policy = from.policies.Current();
  if (policy != nullptr) {
    json.Name("planner").String(policy->planner);
    json.Name("rate_mbps").Number(policy->rate_bps / kMega);
    json.Name("auxiliary_rate_mbps").Number(policy->auxiliary_rate_bps / kMega);
    json.Name("bound_mbps").Number(policy->bound_bps / kMega);
    json.Name("bound_ratio").Number(BoundRatio(*policy));
    json.Name("predicted_round_seconds");
    if (from.predicted_round > absl::ZeroDuration()) {
      json.Number(absl::ToDoubleSeconds(from.predicted_round));
    } else {
      json.Null();
    }
    json.Name("policy_reason").String(from.policies.CurrentReason());
    json.Name("live_policies").Integer(from.policies.size());
    json.Name("policies_taken_back").Integer(from.policies_taken_back);
    WriteSlowestLink(from, json);
  }
  json.Name("trees").BeginArray();
  if (policy != nullptr) WriteTrees(*policy, from.links.believed(), json);
  json.EndArray();
}

void WriteKeys(const StatusSources& from, JsonWriter& json) {
  json.Name("keys").BeginArray();
  for (KeyId key(1); from.keys.Contains(key); key = key.Next()) {
    json.BeginObject().Name("key").String(from.keys.NameOf(key)).Name("elements");
    json.Integer(static_cast<uint64_t>(from.keys.ElementsOf(key)));
    // Init is round 0, and no round of the training.
    const uint64_t open = from.rounds.FirstOpen(key).value();
    json.Name("closed_rounds").Integer(open == 0 ? 0 : open - 1).EndObject();
  }
  json.EndArray();
}

void WriteNames(const StatusSources& from, const std::vector<NodeId>& nodes, JsonWriter& json) {
  json.BeginArray();
  for (const NodeId node : nodes) json.String(from.membership.Find(node).name);
  json.EndArray();
}

void WriteEpochs(const StatusSources& from, JsonWriter& json) {
  const auto text_or_null = [&json](const char* name, const std::string& text) {
    json.Name(name);
    if (text.empty()) {
      json.Null();
    } else {
      json.String(text);
    }
  };
  text_or_null("change", from.change_waits_for);
  text_or_null("transfer", from.transfer);
  text_or_null("disorder", from.disorder);
  text_or_null("storage", from.storage);
  if (from.history == nullptr) return;
  json.Name("epochs").BeginObject().Name("count").Integer(from.history->count());
  json.Name("reason").String(from.epoch_reason);
  json.Name("total_seconds").Number(absl::ToDoubleSeconds(from.history->total()));
  json.Name("longest_seconds").Number(absl::ToDoubleSeconds(from.history->longest()));
  json.Name("last").BeginArray();
  for (const EpochHistory::Change& change : from.history->changes()) {
    json.BeginObject().Name("epoch").Integer(change.epoch.value()).Name("reason").String(change.reason);
    json.Name("members").Integer(change.members).Name("seconds").Number(absl::ToDoubleSeconds(change.took)).EndObject();
  }
  json.EndArray().EndObject();
}

void WriteWaits(const StatusSources& from, JsonWriter& json) {
  json.Name("open_round");
  const std::optional<OpenRound>& open = from.open_round;
  if (open.has_value()) {
    json.BeginObject().Name("key").String(from.keys.NameOf(open->key)).Name("round").Integer(open->round.value());
    WriteNames(from, open->not_pushed, json.Name("not_pushed"));
    WriteNames(from, open->not_held, json.Name("not_held"));
    json.Name("waits_for").String(from.open_round_waits_for);
    json.Name("since_s").Number(absl::ToDoubleSeconds(from.now - from.last_progress)).EndObject();
  } else {
    json.Null();
  }
  WriteNames(from, from.barrier_waits_for, json.Name("barrier_waits_for"));
  json.Name("links_out").BeginArray();
  for (const LinkOutages::Outage& outage : from.outages) {
    json.BeginObject();
    WriteNames(from, {outage.a, outage.b}, json.Name("between"));
    json.Name("seconds_left").Number(absl::ToDoubleSeconds(outage.until - from.now));
    json.Name("why").String(outage.why).EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string MakeStatusJson(const StatusSources& from) {
  JsonWriter json;
  json.BeginObject().Name("job").String(from.job).Name("state").String(from.state);
  if (!from.error.empty()) json.Name("error").String(from.error);
  json.Name("version").String(kVersion).Name("protocol").Integer(kProtocolVersion);
  json.Name("term").Integer(from.term.value()).Name("epoch").Integer(from.epoch.value());
  json.Name("policy").Integer(from.policies.Current() == nullptr ? 0 : from.policies.Current()->version.value());
  json.Name("rejected_messages").Integer(from.rejected_messages).Name("waiting_for").BeginArray();
  for (const std::string& name : from.membership.WaitingFor()) json.String(name);
  json.EndArray().Name("insecure").Boolean(IsInsecure(from, from.keyless_address));
  WriteEpochs(from, json);
  WriteWaits(from, json);
  if (from.precision != nullptr) from.precision->WriteTo(json, from.rounds, from.reports);
  WriteNodes(from, json);
  WriteLinks(from, json);
  WriteInferred(from, json);
  WriteWays(from, json);
  WritePolicy(from, json);
  WriteKeys(from, json);
  return json.EndObject().text();
}

}  // namespace banyan
