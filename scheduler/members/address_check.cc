#include "scheduler/members/address_check.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "topology/overlay/overlay_address.h"

namespace banyan {
namespace {

// The host of tcp://host:port, without brackets.
absl::string_view HostOf(absl::string_view address) {
  absl::ConsumePrefix(&address, "tcp://");
  address = address.substr(0, address.rfind(':'));
  absl::ConsumePrefix(&address, "[");
  absl::ConsumeSuffix(&address, "]");
  return address;
}

bool IsLoopback(absl::string_view host) {
  return absl::StartsWith(host, "127.") || host == "::1" || host == "localhost" || host == "ip6-localhost";
}

const NodeConfig* FindNode(const OverlayConfig& overlay, const std::string& name) {
  const auto found = std::find_if(overlay.nodes.begin(), overlay.nodes.end(),
                                  [&name](const NodeConfig& node) { return node.name == name; });
  return found == overlay.nodes.end() ? nullptr : &*found;
}

bool IsThere(const Member& member) {
  return member.state == MemberState::kJoined || member.state == MemberState::kSilent ||
         member.state == MemberState::kExpected;
}

}  // namespace

std::string AddressFault(const Join& join, const std::string& host, const Membership& members,
                         const OverlayConfig& overlay) {
  const NodeConfig* configured = FindNode(overlay, join.name);
  if (configured == nullptr) return "";
  if (const absl::Status status = CheckConnectAddress(join.address); !status.ok()) {
    return absl::StrCat(join.name, " says that others reach it at ", join.address, ": ", status.message(),
                        "; say with --advertise where it is");
  }
  const std::vector<std::string>& schedulers = overlay.scheduler.addresses;
  if (std::find(schedulers.begin(), schedulers.end(), join.address) != schedulers.end()) {
    return absl::StrCat(join.name, " says that others reach it at ", join.address,
                        ", which is the scheduler's; give the node a port of its own (--listen, --advertise)");
  }
  for (const Member& member : members.all()) {
    if (member.name == join.name || member.address != join.address || !IsThere(member)) continue;
    return absl::StrCat(join.name, " says that others reach it at ", join.address, ", and so does ", member.name,
                        "; give each node a port or a machine of its own (--listen, --advertise)");
  }
  const bool is_elsewhere = !host.empty() && !IsLoopback(host) && !IsLoopback(HostOf(configured->address));
  if (!is_elsewhere || !IsLoopback(HostOf(join.address))) return "";
  return absl::StrCat(join.name, " says that others reach it at ", join.address,
                      ", where each machine reaches only itself. It joins from ", host, ", and the overlay has it at ",
                      configured->address, ": start it with --listen ", configured->address,
                      ", or say with --advertise where it is");
}

}  // namespace banyan
