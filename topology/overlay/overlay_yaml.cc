#include "topology/overlay/overlay_yaml.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "topology/overlay/overlay_sections.h"
#include "topology/overlay/text/yaml_text.h"
#include "topology/overlay/yaml_document.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {
namespace {

constexpr char kStandardInput[] = "-";

std::set<std::string> NamesOf(const std::vector<NodeConfig>& nodes) {
  std::set<std::string> names;
  for (const NodeConfig& node : nodes) names.insert(node.name);
  return names;
}

void ReadNetwork(YamlMapReader& map, OverlayConfig& overlay, YamlProblems& problems) {
  if (const YamlValue* nodes = map.Require("nodes"); nodes != nullptr) overlay.nodes = ReadNodes(*nodes, problems);
  if (problems.status().ok()) CheckNodes(overlay.nodes, problems);
  const YamlValue* links = map.Find("links");
  if (links != nullptr) {
    overlay.links = ReadLinks(*links, problems);
    if (problems.status().ok()) CheckLinks(*overlay.links, NamesOf(overlay.nodes), problems);
  } else if (overlay.nodes.size() > kMaxFullMeshNodes) {
    problems.Add(map.place(), absl::StrCat("links is missing; an overlay of more than ", kMaxFullMeshNodes,
                                           " nodes must list its links"));
  }
  if (const YamlValue* shared = map.Find("shared"); shared != nullptr) {
    overlay.shared = ReadShared(*shared, problems);
    if (problems.status().ok()) CheckShared(overlay, problems);
  }
  if (!problems.status().ok()) return;
  const absl::Status connected = MakeNetworkView(overlay).CheckConnected();
  if (!connected.ok()) problems.Add(links == nullptr ? map.place() : links->place, connected.message());
}

void ReadSections(YamlMapReader& map, OverlayConfig& overlay, YamlProblems& problems) {
  const auto read = [&map](const char* key, auto&& reader) {
    if (const YamlValue* value = map.Find(key); value != nullptr) reader(*value);
  };
  read("job", [&](const YamlValue& value) { overlay.job = ReadName(value, "job", problems).value_or(""); });
  read("scheduler", [&](const YamlValue& value) { overlay.scheduler = ReadScheduler(value, problems); });
  for (const auto& [section, people] :
       {std::pair("operators", &overlay.operators), {"observers", &overlay.observers}}) {
    read(section, [&](const YamlValue& value) { *people = ReadPeople(value, section, problems); });
  }
  read("topology",
       [&](const YamlValue& value) { overlay.topology = ReadTopology(value, NamesOf(overlay.nodes), problems); });
  read("awareness", [&](const YamlValue& value) { overlay.awareness = ReadAwareness(value, problems); });
  read("multipath", [&](const YamlValue& value) { overlay.multipath = ReadMultipath(value, problems); });
  read("chunks", [&](const YamlValue& value) { overlay.chunks = ReadChunks(value, problems); });
  read("aggregation", [&](const YamlValue& value) { overlay.aggregation = ReadAggregation(value, problems); });
  read("compression", [&](const YamlValue& value) { overlay.compression = ReadCompression(value, problems); });
  read("trimming", [&](const YamlValue& value) { overlay.trimming = ReadTrimming(value, problems); });
  read("precision", [&](const YamlValue& value) { overlay.precision = ReadPrecision(value, problems); });
  read("transport", [&](const YamlValue& value) { overlay.transport = ReadTransport(value, problems); });
  read("membership", [&](const YamlValue& value) {
    overlay.membership = ReadMembership(value, static_cast<int>(overlay.nodes.size()), problems);
  });
  read("policy", [&](const YamlValue& value) { overlay.policy = ReadPolicy(value, problems); });
}

// One address cannot have two processes.
void CheckSchedulerAddresses(const OverlayConfig& overlay, YamlProblems& problems) {
  const std::vector<std::string>& addresses = overlay.scheduler.addresses;
  for (const NodeConfig& node : overlay.nodes) {
    if (std::find(addresses.begin(), addresses.end(), node.address) == addresses.end()) continue;
    problems.Add(node.place, absl::StrCat("node '", node.name, "' and the scheduler have the same address ",
                                          node.address, "; give one of them another port"));
  }
}

void ReadDocument(const YamlDocument& document, OverlayConfig& overlay, YamlProblems& problems) {
  YamlMapReader map(document.root(), "", problems);
  ReadNetwork(map, overlay, problems);
  ReadSections(map, overlay, problems);
  CheckSchedulerAddresses(overlay, problems);
  CheckPrecision(overlay, problems);
  if (problems.status().ok()) CheckKeys(overlay, problems);
  map.Finish();
}

absl::Status TooLarge(absl::string_view file_name) {
  return absl::InvalidArgumentError(
      absl::StrCat(file_name, ": the file is too large; at most ", kMaxOverlayBytes, " bytes are read"));
}

// Returns what is left of `stream`, as ReadOverlayText does.
absl::StatusOr<std::string> ReadStream(std::istream& stream, const std::string& name) {
  std::string text(static_cast<size_t>(kMaxOverlayBytes) + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad() || (stream.fail() && !stream.eof())) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": cannot be read; check its permissions"));
  }
  text.resize(static_cast<size_t>(stream.gcount()));
  if (static_cast<int64_t>(text.size()) > kMaxOverlayBytes) return TooLarge(name);
  return PlainYamlText(text, name);
}

// "nodes.name" for "nodes[2].name".
std::string WithoutIndices(const std::string& path) {
  std::string without;
  bool is_index = false;
  for (char c : path) {
    if (c == '[') is_index = true;
    if (!is_index) without += c;
    if (c == ']') is_index = false;
  }
  return without;
}

std::vector<LinkConfig> FullMesh(const std::vector<NodeConfig>& nodes) {
  std::vector<LinkConfig> links;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t j = i + 1; j < nodes.size(); ++j) {
      links.emplace_back();
      links.back().a = nodes[i].name;
      links.back().b = nodes[j].name;
      links.back().has_rates = false;
    }
  }
  return links;
}

}  // namespace

absl::StatusOr<std::string> ReadOverlayText(const std::string& name) {
  if (name == kStandardInput) return ReadStream(std::cin, name);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(name, error);
  if (!std::filesystem::exists(status)) {
    return absl::NotFoundError(
        absl::StrCat(name, ": there is no such file; give the path of one, or - for standard input"));
  }
  if (std::filesystem::is_directory(status)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": is a directory; give the path of a file in it"));
  }
  std::ifstream file(name, std::ios::binary);
  return ReadStream(file, name);
}

absl::StatusOr<OverlayConfig> LoadOverlay(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadOverlayText(path);
  if (!text.ok()) return text.status();
  return ParseOverlay(*text, path);
}

absl::StatusOr<OverlayConfig> ParseOverlay(absl::string_view text, absl::string_view file_name) {
  if (static_cast<int64_t>(text.size()) > kMaxOverlayBytes) {
    return TooLarge(file_name);
  }
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse(text, file_name);
  if (!document.ok()) return document.status();
  OverlayConfig overlay;
  overlay.file_name = std::string(file_name);
  YamlProblems problems(file_name);
  ReadDocument(*document, overlay, problems);
  if (!problems.status().ok()) return problems.status();
  return overlay;
}

std::set<std::string> KeysLookedFor(absl::string_view text) {
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse(text, "");
  if (!document.ok()) return {};
  std::set<std::string> noted;
  YamlProblems problems("", &noted);
  OverlayConfig overlay;
  ReadDocument(*document, overlay, problems);
  std::set<std::string> keys;
  for (const std::string& path : noted) keys.insert(WithoutIndices(path));
  return keys;
}

absl::Status ValidateForJob(const OverlayConfig& overlay) {
  if (overlay.scheduler.address.empty()) {
    return ToStatus({{}, "scheduler.address is missing; running a job needs it, such as tcp://10.0.0.1:7700"},
                    overlay.file_name);
  }
  for (const NodeConfig& node : overlay.nodes) {
    if (!node.address.empty()) continue;
    return ToStatus({node.place, absl::StrCat("node '", node.name,
                                              "' has no address; running a job needs one for every node, such as "
                                              "tcp://10.0.1.1:7701")},
                    overlay.file_name);
  }
  return absl::OkStatus();
}

absl::Status ValidateForEmulation(const OverlayConfig& overlay) {
  if (!overlay.links.has_value()) {
    return ToStatus({{},
                     "links is missing; an emulated WAN needs the rate of every link, such as "
                     "links: [{between: [n1, n2], mbps: 100, delay_ms: 15}]"},
                    overlay.file_name);
  }
  for (const LinkConfig& link : *overlay.links) {
    if (link.has_rates) continue;
    return ToStatus({link.place, absl::StrCat("the link between '", link.a, "' and '", link.b,
                                              "' has no rate; an emulated WAN needs one, such as mbps: 100")},
                    overlay.file_name);
  }
  return absl::OkStatus();
}

NetworkView MakeNetworkView(const OverlayConfig& overlay) {
  std::map<std::string, NodeId> id_of;
  std::map<NodeId, double> price_of_node;
  std::vector<NetworkNode> nodes;
  for (const NodeConfig& node : overlay.nodes) {
    const NodeId id(static_cast<uint32_t>(nodes.size() + 1));
    id_of[node.name] = id;
    price_of_node[id] = node.price_per_gb;
    nodes.push_back({id, node.name, node.up_cap_bps, node.down_cap_bps, node.position});
  }
  std::vector<NetworkLink> links;
  for (const LinkConfig& link : overlay.links.has_value() ? *overlay.links : FullMesh(overlay.nodes)) {
    const NodeId a = id_of[link.a];
    const NodeId b = id_of[link.b];
    links.push_back({a, b, link.a_to_b_bps, link.delay, link.loss_fraction, LinkSource::kBelieved, !link.has_rates,
                     link.a_to_b_price_per_gb + price_of_node[a]});
    links.push_back({b, a, link.b_to_a_bps, link.delay, link.loss_fraction, LinkSource::kBelieved, !link.has_rates,
                     link.b_to_a_price_per_gb + price_of_node[b]});
  }
  std::vector<SharedCapacity> shared;
  for (const SharedConfig& config : overlay.shared) {
    SharedCapacity& capacity = shared.emplace_back(SharedCapacity{config.capacity_bps, {}});
    for (const auto& [from, to] : config.links) capacity.links.emplace_back(id_of[from], id_of[to]);
  }
  absl::StatusOr<NetworkView> view = NetworkView::Create(std::move(nodes), std::move(links), std::move(shared));
  BANYAN_CHECK(view.ok());
  return *std::move(view);
}

}  // namespace banyan
