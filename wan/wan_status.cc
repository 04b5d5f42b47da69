#include "wan/wan_status.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/json_writer.h"

namespace banyan {
namespace {

void Write(JsonWriter& json, const char* name, int64_t value) { json.Name(name).Integer(static_cast<uint64_t>(value)); }

void WriteLink(const WanStatus::Link& link, JsonWriter& json) {
  json.BeginObject().Name("from").String(link.from).Name("to").String(link.to);
  json.Name("mbps").Number(link.mbps).Name("delay_ms").Number(link.delay_ms);
  json.Name("loss_percent").Number(link.loss_percent);
  Write(json, "bytes", link.bytes);
  Write(json, "packets", link.packets);
  Write(json, "lost_packets", link.lost_packets);
  Write(json, "dropped_packets", link.dropped_packets);
  Write(json, "queued_bytes", link.queued_bytes);
  Write(json, "queue_limit_bytes", link.queue_limit_bytes);
  json.Name("cut").Boolean(link.is_cut).EndObject();
}

void WriteForwarder(const WanStatus::Forwarder& forwarder, JsonWriter& json) {
  json.BeginObject();
  Write(json, "read_packets", forwarder.read_packets);
  Write(json, "written_packets", forwarder.written_packets);
  Write(json, "unroutable_packets", forwarder.unroutable_packets);
  Write(json, "refused_packets", forwarder.refused_packets);
  Write(json, "wakeups", forwarder.wakeups);
  json.Name("cpu_seconds").Number(forwarder.cpu_seconds).EndObject();
}

WanStatus::Link ReadLink(const YAML::Node& json) {
  WanStatus::Link link;
  link.from = json["from"].as<std::string>();
  link.to = json["to"].as<std::string>();
  link.mbps = json["mbps"].as<double>();
  link.delay_ms = json["delay_ms"].as<double>();
  link.loss_percent = json["loss_percent"].as<double>();
  link.bytes = json["bytes"].as<int64_t>();
  link.packets = json["packets"].as<int64_t>();
  link.lost_packets = json["lost_packets"].as<int64_t>();
  link.dropped_packets = json["dropped_packets"].as<int64_t>();
  link.queued_bytes = json["queued_bytes"].as<int64_t>();
  link.queue_limit_bytes = json["queue_limit_bytes"].as<int64_t>();
  link.is_cut = json["cut"].as<bool>();
  return link;
}

WanStatus::Forwarder ReadForwarder(const YAML::Node& json) {
  WanStatus::Forwarder forwarder;
  forwarder.read_packets = json["read_packets"].as<int64_t>();
  forwarder.written_packets = json["written_packets"].as<int64_t>();
  forwarder.unroutable_packets = json["unroutable_packets"].as<int64_t>();
  forwarder.refused_packets = json["refused_packets"].as<int64_t>();
  forwarder.wakeups = json["wakeups"].as<int64_t>();
  forwarder.cpu_seconds = json["cpu_seconds"].as<double>();
  return forwarder;
}

WanStatus ReadStatus(const YAML::Node& json) {
  WanStatus status;
  status.id = json["id"].as<std::string>();
  status.overlay = json["overlay"].as<std::string>();
  status.pid = json["pid"].as<int64_t>();
  status.seed = json["seed"].as<uint64_t>();
  status.uptime_seconds = json["uptime_seconds"].as<double>();
  for (const YAML::Node& node : json["nodes"]) {
    status.nodes.push_back({node["name"].as<std::string>(), node["address"].as<std::string>()});
  }
  for (const YAML::Node& link : json["links"]) status.links.push_back(ReadLink(link));
  status.forwarder = ReadForwarder(json["forwarder"]);
  return status;
}

}  // namespace

const WanStatus::Node* WanStatus::FindNode(absl::string_view name) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == name; });
  return found == nodes.end() ? nullptr : &*found;
}

const WanStatus::Link* WanStatus::FindLink(absl::string_view from, absl::string_view to) const {
  const auto found =
      std::find_if(links.begin(), links.end(), [&](const Link& link) { return link.from == from && link.to == to; });
  return found == links.end() ? nullptr : &*found;
}

std::string WanStatusJson(const WanStatus& status, const std::string& state) {
  JsonWriter json;
  json.BeginObject().Name("state").String(state).Name("id").String(status.id);
  json.Name("overlay").String(status.overlay);
  Write(json, "pid", status.pid);
  json.Name("seed").Integer(status.seed).Name("uptime_seconds").Number(status.uptime_seconds);
  json.Name("nodes").BeginArray();
  for (const WanStatus::Node& node : status.nodes) {
    json.BeginObject().Name("name").String(node.name).Name("address").String(node.address).EndObject();
  }
  json.EndArray().Name("links").BeginArray();
  for (const WanStatus::Link& link : status.links) WriteLink(link, json);
  json.EndArray().Name("forwarder");
  WriteForwarder(status.forwarder, json);
  return json.EndObject().text();
}

absl::StatusOr<WanStatus> ParseWanStatus(absl::string_view json) {
  try {
    return ReadStatus(YAML::Load(std::string(json)));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("expected the status of an emulated WAN, got something else: ",
                                                   error.what(), "; is it of another version of banyan?"));
  }
}

std::string WanStatusText(const WanStatus& status) {
  std::string text = absl::StrFormat(
      "overlay    %s, %d nodes, %d directed links\nforwarder  process %d for %.0f s, %.2f s of a core\n\n",
      status.overlay, status.nodes.size(), status.links.size(), status.pid, status.uptime_seconds,
      status.forwarder.cpu_seconds);
  for (const WanStatus::Node& node : status.nodes) absl::StrAppendFormat(&text, "%-10s %s\n", node.name, node.address);
  absl::StrAppendFormat(&text, "\n%-16s %9s %8s %7s %10s %8s %8s %10s\n", "link", "Mbit/s", "delay ms", "loss %", "MB",
                        "lost", "dropped", "queue KB");
  for (const WanStatus::Link& link : status.links) {
    absl::StrAppendFormat(&text, "%-16s %9.1f %8.1f %7.3f %10.2f %8d %8d %10.1f%s\n",
                          absl::StrCat(link.from, " to ", link.to), link.mbps, link.delay_ms, link.loss_percent,
                          static_cast<double>(link.bytes) / 1e6, link.lost_packets, link.dropped_packets,
                          static_cast<double>(link.queued_bytes) / 1e3, link.is_cut ? "  cut" : "");
  }
  return text;
}

}  // namespace banyan
