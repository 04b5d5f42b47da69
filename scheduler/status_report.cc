#include "scheduler/status_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/time/time.h"
#include "scheduler/json_writer.h"

namespace banyan {
namespace {

constexpr double kMega = 1e6;

using LinkTraffic = std::map<std::pair<NodeId, NodeId>, const NodeReport::Link*>;

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

void WriteReport(const NodeReport& report, JsonWriter& json) {
  json.Name("workers").Integer(report.workers_attached).Name("round");
  const auto slowest = std::min_element(report.progress.begin(), report.progress.end(),
                                        [](const auto& a, const auto& b) { return a.round < b.round; });
  if (slowest == report.progress.end()) {
    json.Null();
  } else {
    json.Integer(slowest->round.value());
  }
  json.Name("step").Integer(report.step).Name("loss").Number(report.loss);
  json.Name("sync_seconds").Number(absl::ToDoubleSeconds(report.last_sync));
  json.Name("rejected_messages").Integer(report.rejected_messages).Name("memory").BeginObject();
  std::map<std::string, uint64_t> memory;
  for (const NodeReport::Memory& row : report.memory) memory[row.what] += row.size_bytes;
  for (const auto& [what, size_bytes] : memory) json.Name(what).Integer(size_bytes);
  json.EndObject();
}

void WriteNodes(const StatusSources& from, JsonWriter& json) {
  json.Name("nodes").BeginArray();
  for (const Member& member : from.membership.all()) {
    json.BeginObject().Name("name").String(member.name).Name("id").Integer(member.id.value());
    json.Name("state").String(NameOf(member.state)).Name("address").String(member.address).Name("heard_s");
    if (member.state == MemberState::kAbsent || member.state == MemberState::kExpected) {
      json.Null();
    } else {
      json.Number(absl::ToDoubleSeconds(from.now - member.last_heard));
    }
    if (const NodeReport* report = from.reports.Find(member.id); report != nullptr) WriteReport(*report, json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteLinks(const StatusSources& from, JsonWriter& json) {
  LinkTraffic traffic;
  for (const Member& member : from.membership.all()) {
    const NodeReport* report = from.reports.Find(member.id);
    if (report == nullptr) continue;
    for (const NodeReport::Link& link : report->links) traffic[{member.id, link.to}] = &link;
  }
  json.Name("links").BeginArray();
  for (const NetworkLink& link : from.view.links()) {
    json.BeginObject().Name("from").String(from.view.NameOf(link.from)).Name("to").String(from.view.NameOf(link.to));
    json.Name("mbps")
        .Number(link.throughput_bps / kMega)
        .Name("delay_ms")
        .Number(absl::ToDoubleMilliseconds(link.delay));
    // Nobody measures yet: a belief has no age.
    json.Name("age_s").Null().Name("source");
    json.String(NameOf(link.source));
    const auto found = traffic.find({link.from, link.to});
    json.Name("bytes").Integer(found == traffic.end() ? 0 : found->second->sent_bytes);
    json.Name("resent_bytes").Integer(found == traffic.end() ? 0 : found->second->resent_bytes).EndObject();
  }
  json.EndArray();
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
  if (from.policy != nullptr) {
    json.Name("planner").String(from.policy->planner);
    json.Name("rate_mbps").Number(from.policy->rate_bps / kMega);
    json.Name("bound_mbps").Number(from.policy->bound_bps / kMega);
  }
  json.Name("trees").BeginArray();
  if (from.policy != nullptr) WriteTrees(*from.policy, from.view, json);
  json.EndArray();
}

void WriteKeys(const StatusSources& from, JsonWriter& json) {
  json.Name("keys").BeginArray();
  for (KeyId key(1); from.keys.Contains(key); key = key.Next()) {
    json.BeginObject().Name("key").String(from.keys.NameOf(key)).Name("elements");
    json.Integer(static_cast<uint64_t>(from.keys.ElementsOf(key)));
    json.Name("closed_rounds").Integer(from.rounds.FirstOpen(key).value()).EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string MakeStatusJson(const StatusSources& from) {
  JsonWriter json;
  json.BeginObject().Name("job").String(from.job).Name("state").String(from.state);
  if (!from.error.empty()) json.Name("error").String(from.error);
  json.Name("term").Integer(from.term.value()).Name("epoch").Integer(from.epoch.value());
  json.Name("policy").Integer(from.policy == nullptr ? 0 : from.policy->version.value());
  json.Name("rejected_messages").Integer(from.rejected_messages).Name("waiting_for").BeginArray();
  for (const std::string& name : from.membership.WaitingFor()) json.String(name);
  json.EndArray();
  WriteNodes(from, json);
  WriteLinks(from, json);
  WritePolicy(from, json);
  WriteKeys(from, json);
  return json.EndObject().text();
}

}  // namespace banyan
