#include "tools/doctor/host_checks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/transport/congestion_control.h"

namespace banyan {
namespace {

std::string Megabytes(int64_t bytes) { return absl::StrFormat("%.1f MB", static_cast<double>(bytes) / 1e6); }

void Add(CheckResults& results, const char* name, bool ok, std::string found, const std::string& advice) {
  if (!ok) absl::StrAppend(&found, "; ", advice);
  results.push_back({name, ok, std::move(found)});
}

void CheckCongestionControl(const HostFacts& facts, const HostNeeds& needs, CheckResults& results) {
  if (facts.congestion_control.empty()) return;
  const bool is_bbr = facts.congestion_control == kBbr;
  const bool can_be = facts.congestion_controls.count(std::string(kBbr)) > 0;
  const std::string how =
      absl::StrCat(can_be ? "" : "modprobe tcp_bbr; ", "sysctl net.ipv4.tcp_congestion_control=bbr");
  Add(results, "congestion", is_bbr || !needs.has_lossy_path,
      absl::StrCat(facts.congestion_control, is_bbr ? "" : ", which slows down with each packet that is lost"),
      absl::StrCat("the overlay has a long link that loses packets, on which only BBR keeps the rate: ", how));
}

void CheckBuffers(const HostFacts& facts, const HostNeeds& needs, CheckResults& results) {
  if (!facts.most_send_buffer_bytes.has_value() || !facts.most_receive_buffer_bytes.has_value()) return;
  const int64_t most = std::min(*facts.most_send_buffer_bytes, *facts.most_receive_buffer_bytes);
  const int64_t needed = needs.product_bytes / std::max(1, needs.connections);
  Add(results, "buffers", most >= needed,
      absl::StrCat(
          "a connection holds up to ", Megabytes(most),
          needs.product_bytes > 0 ? absl::StrCat(", and its part of the longest link is ", Megabytes(needed)) : ""),
      absl::StrCat("the link cannot be filled: sysctl net.ipv4.tcp_wmem='4096 65536 ", 2 * needed,
                   "' net.ipv4.tcp_rmem='4096 131072 ", 2 * needed, "'"));
}

void CheckLimits(const HostFacts& facts, const HostNeeds& needs, CheckResults& results) {
  if (facts.descriptors.has_value()) {
    Add(results, "descriptors", *facts.descriptors >= needs.descriptors,
        absl::StrCat("a process may have ", *facts.descriptors, ", and needs about ", needs.descriptors),
        "raise the hard limit: LimitNOFILE= of the unit, or `ulimit -Hn`");
  }
  if (facts.mappings.has_value() && needs.tensors > 0) {
    Add(results, "mappings", *facts.mappings > needs.tensors,
        absl::StrCat("a process may map ", *facts.mappings, " pieces of memory, and each of ", needs.tensors,
                     " tensors takes one"),
        absl::StrCat("sysctl vm.max_map_count=", 2 * needs.tensors, ", or join small tensors"));
  }
}

void CheckMemory(const HostFacts& facts, const HostNeeds& needs, CheckResults& results) {
  if (!facts.available_memory_bytes.has_value()) return;
  const int64_t limit = facts.memory_limit_bytes.value_or(*facts.available_memory_bytes);
  const int64_t there = std::min(limit, *facts.available_memory_bytes);
  const bool is_limited = limit < *facts.available_memory_bytes;
  Add(results, "memory", there >= needs.memory_bytes,
      absl::StrCat(Megabytes(there), is_limited ? " by the limit of this control group" : " available",
                   needs.memory_bytes > 0 ? absl::StrCat(", and the model needs ", Megabytes(needs.memory_bytes)) : ""),
      "the kernel would kill the node: raise the limit, or give the site less of the model");
}

}  // namespace

CheckResults CheckHost(const HostFacts& facts, const HostNeeds& needs) {
  CheckResults results;
  CheckCongestionControl(facts, needs, results);
  CheckBuffers(facts, needs, results);
  if (facts.mtu_probing.has_value()) {
    const std::string state = *facts.mtu_probing > 0 ? "is on" : "is off, which is right while large messages pass";
    Add(results, "mtu-probing", true, absl::StrCat("net.ipv4.tcp_mtu_probing ", state), "");
  }
  CheckLimits(facts, needs, results);
  CheckMemory(facts, needs, results);
  if (needs.needs_ipv6) {
    Add(results, "ipv6", facts.has_ipv6, facts.has_ipv6 ? "is there" : "is off",
        "the overlay has IPv6 addresses: sysctl net.ipv6.conf.all.disable_ipv6=0, or give IPv4 ones");
  }
  return results;
}

}  // namespace banyan
