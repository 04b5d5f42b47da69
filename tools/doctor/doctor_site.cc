#include "tools/doctor/doctor_site.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/units.h"
#include "tools/doctor/tcp_address.h"

namespace banyan {
namespace {

// Connections of a link where the overlay does not say it.
constexpr int kUsualConnections = 5;
// Besides those of links: logs, records, workers.
constexpr int64_t kOwnDescriptors = 64;
constexpr absl::Duration kLongDelay = absl::Milliseconds(5);
constexpr double kLossy = 0.0001;
// A node holds about three times the model besides what it shares with its workers.
constexpr int64_t kModelsInNode = 3;

std::string SchedulerName(size_t index) {
  return index == 0 ? kSchedulerSite : absl::StrCat(kSchedulerSite, index + 1);
}

// Adds the other end of a link, as `site` sees it.
void AddPath(const LinkConfig& link, DoctorSite& site) {
  const bool is_a = link.a == site.name;
  const std::string& other = is_a ? link.b : link.a;
  DoctorSite::Path path = {other, site.addresses.at(other), {}};
  if (link.delay > absl::ZeroDuration()) path.expected.round_trip = 2 * link.delay;
  if (link.has_rates) {
    path.expected.rate_there_bps = is_a ? link.a_to_b_bps : link.b_to_a_bps;
    path.expected.rate_back_bps = is_a ? link.b_to_a_bps : link.a_to_b_bps;
    const int64_t product = BandwidthDelayBytes(std::max(link.a_to_b_bps, link.b_to_a_bps), 2 * link.delay);
    site.needs.product_bytes = std::max(site.needs.product_bytes, product);
  }
  const bool is_lossy = link.delay >= kLongDelay && link.loss_fraction > kLossy;
  site.needs.has_lossy_path = site.needs.has_lossy_path || is_lossy;
  site.paths.push_back(std::move(path));
}

void AddPathsOfNode(const OverlayConfig& overlay, DoctorSite& site) {
  if (overlay.links.has_value()) {
    for (const LinkConfig& link : *overlay.links) {
      if (link.a == site.name || link.b == site.name) AddPath(link, site);
    }
  } else {
    for (const NodeConfig& node : overlay.nodes) {
      if (node.name != site.name) site.paths.push_back({node.name, node.address, {}});
    }
  }
  for (size_t i = 0; i < overlay.scheduler.addresses.size(); ++i) {
    site.paths.push_back({SchedulerName(i), overlay.scheduler.addresses[i], {}, /*is_to_scheduler=*/true});
  }
}

void AddNeeds(const OverlayConfig& overlay, const NodeConfig& node, const JobSize& size, DoctorSite& site) {
  site.needs.connections = overlay.transport.connections.value_or(kUsualConnections);
  const auto links = static_cast<int64_t>(site.paths.size());
  site.needs.tensors = size.tensors * node.workers;
  site.needs.descriptors = kOwnDescriptors + 2 * links * (site.needs.connections + 1) + site.needs.tensors;
  // A gradient slot for each open round and one more, and a result slot for each.
  const int64_t slots = 2 * int64_t{overlay.policy.rounds_in_flight} + 1;
  site.needs.memory_bytes = size.model_bytes * (kModelsInNode + node.workers * slots);
}

absl::StatusOr<std::vector<TcpAddress>> AddressesOf(const std::string& address, CheckResults& results,
                                                    const std::string& name) {
  absl::StatusOr<std::vector<TcpAddress>> found = LookUp(address);
  if (!found.ok()) {
    results.push_back({absl::StrCat("name:", name), false,
                       absl::StrCat(found.status().message(),
                                    "; put an address or a name that this machine knows into the overlay")});
  }
  return found;
}

// Sees whether one of the addresses is of an interface of this machine.
bool IsHere(const std::vector<TcpAddress>& addresses) {
  const std::vector<TcpAddress> here = InterfaceAddresses();
  return std::any_of(addresses.begin(), addresses.end(), [&here](const TcpAddress& one) {
    return std::any_of(here.begin(), here.end(),
                       [&one](const TcpAddress& interface) { return interface.Host() == one.Host(); });
  });
}

}  // namespace

absl::StatusOr<DoctorSite> MakeDoctorSite(const OverlayConfig& overlay, const std::string& name, const JobSize& size) {
  DoctorSite site;
  site.name = name;
  for (const NodeConfig& node : overlay.nodes) site.addresses[node.name] = node.address;
  for (size_t i = 0; i < overlay.scheduler.addresses.size(); ++i) {
    site.addresses.emplace(SchedulerName(i), overlay.scheduler.addresses[i]);
  }
  const auto own = site.addresses.find(name);
  if (own == site.addresses.end()) {
    const std::string known =
        absl::StrJoin(site.addresses, ", ", [](std::string* out, const auto& one) { out->append(one.first); });
    return absl::NotFoundError(absl::StrCat("no site is called '", name, "'; expected one of: ", known));
  }
  site.address = own->second;
  site.listen = site.address;
  site.needs.needs_ipv6 = absl::StrContains(site.address, "[");
  const auto node = std::find_if(overlay.nodes.begin(), overlay.nodes.end(),
                                 [&name](const NodeConfig& candidate) { return candidate.name == name; });
  site.is_scheduler = node == overlay.nodes.end();
  if (site.is_scheduler) {
    for (const NodeConfig& one : overlay.nodes) site.paths.push_back({one.name, one.address, {}});
    site.needs.descriptors = kOwnDescriptors + 2 * static_cast<int64_t>(overlay.nodes.size());
    return site;
  }
  if (!node->listen.empty()) site.listen = node->listen;
  AddPathsOfNode(overlay, site);
  AddNeeds(overlay, *node, size, site);
  return site;
}

CheckResults CheckAddresses(const DoctorSite& site) {
  CheckResults results;
  const absl::StatusOr<std::vector<TcpAddress>> own = AddressesOf(site.address, results, site.name);
  if (!own.ok()) return results;
  const bool is_loopback =
      std::any_of(own->begin(), own->end(), [](const TcpAddress& one) { return one.IsLoopback(); });
  const bool all_are_here = std::all_of(site.addresses.begin(), site.addresses.end(), [](const auto& one) {
    const absl::StatusOr<std::vector<TcpAddress>> found = LookUp(one.second);
    return !found.ok() || IsHere(*found);
  });
  if (is_loopback && !all_are_here) {
    results.push_back({"address", false,
                       absl::StrCat(site.address,
                                    " is this machine alone, and other sites are to call it; put an "
                                    "address into the overlay that they reach")});
    return results;
  }
  const bool is_here = IsHere(*own);
  const bool listens_apart = site.listen != site.address;
  std::string text = absl::StrCat(site.address, is_here ? " is of this machine" : " is no address of this machine");
  if (!is_here && listens_apart) absl::StrAppend(&text, ", which listens on ", site.listen, ": behind a NAT");
  if (!is_here && !listens_apart) {
    absl::StrAppend(&text, "; correct it, or where a NAT has it give the node a `listen` address of this machine");
  }
  results.push_back({"address", is_here || listens_apart, std::move(text)});
  return results;
}

}  // namespace banyan
