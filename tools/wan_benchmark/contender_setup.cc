#include "tools/wan_benchmark/contender_setup.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/units.h"
#include "tools/emulated_wan.h"
#include "tools/keygen/job_keys.h"
#include "topology/overlay/overlay_yaml.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

constexpr char kAgentFile[] = "agent.sh";
constexpr char kVotesProfileFile[] = "votes_profile.yaml";
constexpr char kVotesBindingFile[] = "votes_binding.yaml";
// What a node's TUN device is called.
constexpr char kDevice[] = "wan0";

std::string File(const BenchPlace& place, const std::string& name) { return absl::StrCat(place.directory, "/", name); }

YAML::Node TopologySection(const Contender& contender) {
  YAML::Node topology;
  topology["planner"] = contender.planner;
  if (!contender.root.empty()) topology["root"] = contender.root;
  if (contender.roots.has_value()) topology["roots"] = *contender.roots;
  return topology;
}

// The links of the overlay as the contender is told them; undefined when it is told none.
YAML::Node ToldLinksSection(const Contender& contender, const BenchPlace& place) {
  const absl::StatusOr<OverlayConfig> parsed = ParseOverlay(place.overlay, contender.name);
  BANYAN_CHECK(parsed.ok());
  const OverlayConfig told = AsTold(*parsed, contender.told);
  YAML::Node links;
  if (!told.links.has_value()) return links;
  for (const LinkConfig& link : *told.links) {
    YAML::Node entry;
    entry["between"].push_back(link.a);
    entry["between"].push_back(link.b);
    if (link.has_rates) {
      entry["mbps"].push_back(link.a_to_b_bps / kBitsPerMegabit);
      entry["mbps"].push_back(link.b_to_a_bps / kBitsPerMegabit);
      entry["delay_ms"] = absl::ToDoubleMilliseconds(link.delay);
      entry["loss_percent"] = 100 * link.loss_fraction;
    }
    links.push_back(entry);
  }
  return links;
}

// With the process's key, or without any.
std::vector<std::string> WithKey(std::vector<std::string> command, const std::string& owner, const BenchPlace& place) {
  if (place.secured) {
    command.insert(command.end(), {"--key", absl::StrCat(File(place, owner), ".key")});
  } else {
    command.push_back("--insecure");
  }
  return command;
}

// Every round is low-bit, whatever it costs.
std::string VotesProfile(Contender::Votes votes) {
  return absl::StrCat(
      "schema: 1\nprofile: bench-wan\n", "provenance: {source: none, made_by: banyan bench wan, evidence: none}\n",
      "mode: binary\nscope: model\nformat: {aggregate: ", votes == Contender::Votes::kMeans ? "mean" : "majority",
      "}\nguard: forced\ncontrols: static\ndetector: {slack: 1, threshold: 1}\n");
}

std::string VotesBinding(const BenchPlace& place) {
  return absl::StrCat("schema: 1\nbinding: bench-wan\n",
                      "provenance: {source: none, made_by: banyan bench wan, evidence: none}\n",
                      "tensors: [{name: values, elements: ", place.elements,
                      ", role: encoder, route: low-bit, reason: what is measured}]\n");
}

// What the peers of a lossy contender are told of results.
const char* ResultsOf(const Contender& contender) {
  switch (contender.votes) {
    case Contender::Votes::kMeans:
      return "means";
    case Contender::Votes::kMajorities:
      return "majorities";
    case Contender::Votes::kNone:
      break;
  }
  return "lossy";
}

ContenderSetup BanyanSetup(const Contender& contender, const BenchPlace& place) {
  ContenderSetup setup;
  setup.files.emplace_back(kJobOverlayFile, MakeJobOverlay(contender, place));
  if (contender.votes != Contender::Votes::kNone) {
    setup.files.emplace_back(kVotesProfileFile, VotesProfile(contender.votes));
    setup.files.emplace_back(kVotesBindingFile, VotesBinding(place));
  }
  setup.processes.push_back(
      {"scheduler", place.scheduler_node,
       WithKey({place.banyan_program, "scheduler", File(place, kJobOverlayFile), "--forgetful", "--stay"},
               kSchedulerKeyOwner, place)});
  int rank = 0;
  for (const auto& [name, address] : place.nodes) {
    const std::string socket = absl::StrCat("unix:", File(place, name), ".sock");
    setup.processes.push_back(
        {absl::StrCat("node-", name), name,
         WithKey({place.banyan_program, "node", "--name", name, "--scheduler", SchedulerAddress(place), "--listen",
                  NodeAddressAt(address), "--worker-socket", socket, "--stay"},
                 name, place)});
    setup.processes.push_back({absl::StrCat("worker-", name),
                               name,
                               {place.peer_program, place.gate, absl::StrCat(rank++), absl::StrCat(place.nodes.size()),
                                absl::StrCat(place.elements), socket}});
    // What a result lacks comes with a later one.
    std::vector<std::string>& arguments = setup.processes.back().arguments;
    if (contender.is_lossy()) arguments.push_back(ResultsOf(contender));
    if (const auto& training = contender.training; training.has_value()) {
      arguments.insert(arguments.end(), {"training", training->method, absl::StrCat(training->steps_per_sync),
                                         absl::StrCat(training->step_seconds), absl::StrCat(training->syncs)});
    }
  }
  return setup;
}

// Names and addresses by rank.
std::vector<std::pair<std::string, std::string>> Ranks(const Contender& contender, const BenchPlace& place) {
  if (contender.ranks.empty()) return place.nodes;
  const std::map<std::string, std::string> addresses(place.nodes.begin(), place.nodes.end());
  std::vector<std::pair<std::string, std::string>> ranks;
  for (const std::string& name : contender.ranks) ranks.emplace_back(name, addresses.at(name));
  return ranks;
}

ContenderSetup GlooSetup(const Contender& contender, const BenchPlace& place) {
  ContenderSetup setup;
  int rank = 0;
  for (const auto& [name, address] : Ranks(contender, place)) {
    setup.processes.push_back(
        {absl::StrCat("gloo-", name),
         name,
         {place.peer_program, place.gate, absl::StrCat(rank++), absl::StrCat(place.nodes.size()),
          absl::StrCat(place.elements), File(place, "rendezvous"), address, contender.algorithm}});
  }
  return setup;
}

// Takes ssh's place: `agent.sh HOST COMMAND..`.
std::string AgentScript(const BenchPlace& place) {
  return absl::StrCat("#!/bin/sh\nnode=\"$1\"\nshift\nexec '", place.banyan_program, "' wan exec \"$node\" --dir '",
                      place.wan_directory, "' -- /bin/sh -c \"$*\"\n");
}

std::string Hosts(const std::vector<std::pair<std::string, std::string>>& ranks) {
  std::string hosts;
  for (const auto& [name, address] : ranks) absl::StrAppend(&hosts, name, " slots=1\n");
  return hosts;
}

ContenderSetup OpenMpiSetup(const Contender& contender, const BenchPlace& place) {
  ContenderSetup setup;
  const std::vector<std::pair<std::string, std::string>> ranks = Ranks(contender, place);
  setup.files.emplace_back(kAgentFile, AgentScript(place));
  setup.files.emplace_back("hosts", Hosts(ranks));
  std::vector<std::string> arguments = {place.mpirun_program,
                                        "--allow-run-as-root",
                                        "--hostfile",
                                        File(place, "hosts"),
                                        "-np",
                                        absl::StrCat(place.nodes.size()),
                                        "--map-by",
                                        "node",
                                        "--bind-to",
                                        "none"};
  const auto set = [&arguments](const char* name, const std::string& value) {
    arguments.insert(arguments.end(), {"--mca", name, value});
  };
  set("plm_rsh_agent", absl::StrCat("/bin/sh ", File(place, kAgentFile)));
  // Every node is started from the first one, which spares what a tree of starts would need.
  set("plm_rsh_no_tree_spawn", "1");
  // Else they would be left in /tmp by whatever is killed.
  set("orte_tmpdir_base", place.directory);
  set("btl", "tcp,self");
  set("pml", "ob1");
  set("btl_tcp_if_include", kDevice);
  set("oob_tcp_if_include", kDevice);
  // All nodes share this machine's processors, and a process that spins would take them from the others.
  set("mpi_yield_when_idle", "1");
  if (contender.algorithm == "ring") {
    set("coll_tuned_use_dynamic_rules", "1");
    set("coll_tuned_allreduce_algorithm", "4");
  }
  arguments.insert(arguments.end(), {place.peer_program, place.gate, absl::StrCat(place.elements)});
  setup.processes.push_back({"mpirun", ranks.front().first, arguments});
  return setup;
}

}  // namespace

std::string SchedulerAddress(const BenchPlace& place) {
  const auto node = std::find_if(place.nodes.begin(), place.nodes.end(),
                                 [&place](const auto& candidate) { return candidate.first == place.scheduler_node; });
  BANYAN_CHECK(node != place.nodes.end());
  return SchedulerAddressAt(node->second);
}

std::string MakeJobOverlay(const Contender& contender, const BenchPlace& place) {
  YAML::Node overlay = YAML::Load(place.overlay);
  overlay["job"] = "bench-wan";
  overlay["scheduler"] = YAML::Node(YAML::NodeType::Map);
  overlay["scheduler"]["address"] = SchedulerAddress(place);
  BANYAN_CHECK(overlay["nodes"].size() == place.nodes.size());
  for (size_t i = 0; i < place.nodes.size(); ++i) {
    YAML::Node node = overlay["nodes"][i];
    node["address"] = NodeAddressAt(place.nodes[i].second);
    node.remove("listen");
    node.remove("workers");
  }
  const YAML::Node file_topology = overlay["topology"];
  YAML::Node topology = TopologySection(contender);
  for (const char* name : {"update_seconds", "update_rate"}) {
    if (file_topology && file_topology[name]) topology[name] = file_topology[name];
  }
  overlay["topology"] = topology;
  overlay["awareness"]["enabled"] = contender.awareness;
  overlay["multipath"]["enabled"] = contender.multipath;
  if (contender.told.kind != ToldLinks::Kind::kRates) {
    overlay.remove("links");
    if (const YAML::Node links = ToldLinksSection(contender, place); links.IsSequence()) overlay["links"] = links;
  }
  const bool is_mean = contender.votes != Contender::Votes::kNone || contender.training.has_value();
  overlay["aggregation"] = YAML::Load(is_mean ? "{op: mean}" : "{op: sum}");
  if (!contender.codec.empty()) {
    overlay["compression"] = YAML::Node(YAML::NodeType::Map);
    overlay["compression"]["codec"] = contender.codec;
    overlay["trimming"]["policy"] = contender.trim_policy;
  }
  if (contender.votes != Contender::Votes::kNone) {
    overlay.remove("compression");
    overlay.remove("trimming");
    overlay["precision"]["profile"] = File(place, kVotesProfileFile);
    overlay["precision"]["binding"] = File(place, kVotesBindingFile);
  }
  overlay.remove("membership");
  return absl::StrCat(YAML::Dump(overlay), "\n");
}

ContenderSetup MakeSetup(const Contender& contender, const BenchPlace& place) {
  switch (contender.system) {
    case ContenderSystem::kGloo:
      return GlooSetup(contender, place);
    case ContenderSystem::kOpenMpi:
      return OpenMpiSetup(contender, place);
    case ContenderSystem::kBanyan:
      break;
  }
  return BanyanSetup(contender, place);
}

std::vector<std::string> InNode(const BenchPlace& place, const BenchProcess& process) {
  return WanExecArguments(place.banyan_program, place.wan_directory, process.node, process.arguments);
}

}  // namespace banyan
