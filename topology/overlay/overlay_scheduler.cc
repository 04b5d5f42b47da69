#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "topology/overlay/overlay_address.h"
#include "topology/overlay/overlay_sections.h"

namespace banyan {
namespace {

constexpr size_t kMostAddresses = 16;
// etcd grants no shorter lease than its elections take; a longer one would leave the job without a scheduler for long.
constexpr NumberRange kLeaseSeconds = {.low = 2, .high = 300, .unit = NumberUnit::kSeconds};

using AddressCheck = absl::Status (*)(absl::string_view);

std::string ReadAddress(const YamlValue& value, const std::string& where, AddressCheck check, YamlProblems& problems) {
  std::string address = ReadText(value, where, problems).value_or("");
  const absl::Status status = check(address);
  if (!status.ok()) problems.Add(value.place, absl::StrCat(where, ": ", status.message()));
  return address;
}

// Reads a list of different addresses.
std::vector<std::string> ReadAddresses(const YamlValue& value, const std::string& where, AddressCheck check,
                                       YamlProblems& problems) {
  std::vector<std::string> addresses;
  if (value.kind != YamlValue::Kind::kSequence || value.items.empty() || value.items.size() > kMostAddresses) {
    problems.Add(value.place,
                 absl::StrCat(where, ": expected a list of 1 to ", kMostAddresses, ", got ", Describe(value)));
    return addresses;
  }
  for (size_t i = 0; i < value.items.size(); ++i) {
    const std::string item = absl::StrCat(where, "[", i, "]");
    const std::string address = ReadAddress(*value.items[i], item, check, problems);
    if (std::find(addresses.begin(), addresses.end(), address) != addresses.end()) {
      problems.Add(value.items[i]->place, absl::StrCat(item, ": '", address, "' comes twice; remove one of them"));
    }
    addresses.push_back(address);
  }
  return addresses;
}

void ReadPlaces(YamlMapReader& map, SchedulerConfig& config, YamlProblems& problems) {
  const YamlValue* const one = map.Find("address");
  const YamlValue* const all = map.Find("addresses");
  if (one != nullptr && all != nullptr) {
    problems.Add(all->place, "scheduler.addresses: expected it or scheduler.address, got both; keep the list");
  }
  if (one != nullptr) {
    config.addresses = {ReadAddress(*one, map.PathOf("address"), CheckConnectAddress, problems)};
  } else if (all != nullptr) {
    config.addresses = ReadAddresses(*all, map.PathOf("addresses"), CheckConnectAddress, problems);
  }
  if (!config.addresses.empty()) config.address = config.addresses.front();
}

void ReadEtcd(YamlMapReader& map, SchedulerConfig& config, YamlProblems& problems) {
  const YamlValue* const etcd = map.Find("etcd");
  if (etcd != nullptr) config.etcd = ReadAddresses(*etcd, map.PathOf("etcd"), CheckHttpUrl, problems);
  double lease_s = absl::ToDoubleSeconds(config.lease);
  map.Number("lease_seconds", kLeaseSeconds, lease_s);
  if (lease_s != std::floor(lease_s)) {
    problems.Add(map.PlaceOf("lease_seconds"),
                 absl::StrCat("scheduler.lease_seconds: expected whole seconds, as etcd counts them, got ", lease_s));
  }
  config.lease = absl::Seconds(lease_s);
  if (etcd != nullptr) return;
  if (const YamlValue* lease = map.Find("lease_seconds"); lease != nullptr) {
    problems.Add(lease->place, "scheduler.lease_seconds: only with scheduler.etcd, where the lease is kept");
  }
  if (config.addresses.size() < 2) return;
  problems.Add(map.place(), absl::StrCat("scheduler.etcd is missing; of ", config.addresses.size(),
                                         " schedulers one must be elected, such as by etcd: [http://10.0.0.1:2379]"));
}

}  // namespace

SchedulerConfig ReadScheduler(const YamlValue& value, YamlProblems& problems) {
  SchedulerConfig config;
  config.place = value.place;
  YamlMapReader map(value, "scheduler", problems);
  ReadPlaces(map, config, problems);
  ReadEtcd(map, config, problems);
  ReadPublicKey(map, config.public_key, problems);
  if (const YamlValue* http = map.Find("http"); http != nullptr) {
    config.http = ReadAddress(*http, map.PathOf("http"), CheckHttpAddress, problems);
  }
  map.Finish();
  return config;
}

}  // namespace banyan
