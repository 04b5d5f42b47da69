#include "tools/doctor/host_facts.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "posix/memory_limit.h"

namespace banyan {
namespace {

constexpr int64_t kKibibyte = 1024;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> Words(const std::string& path) {
  return absl::StrSplit(ReadAll(path), absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
}

// Returns the `index`-th number of a file of numbers.
std::optional<int64_t> NumberIn(const std::string& path, size_t index = 0) {
  const std::vector<std::string> words = Words(path);
  int64_t number = 0;
  if (index >= words.size() || !absl::SimpleAtoi(words[index], &number)) return std::nullopt;
  return number;
}

std::optional<int64_t> AvailableMemory(const std::string& path) {
  const std::vector<std::string> words = Words(path);
  const auto label = std::find(words.begin(), words.end(), "MemAvailable:");
  int64_t kibibytes = 0;
  if (words.end() - label < 2 || !absl::SimpleAtoi(*(label + 1), &kibibytes)) return std::nullopt;
  return kibibytes * kKibibyte;
}

std::optional<int64_t> DescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  // Daemons raise theirs to the hard one.
  return static_cast<int64_t>(limit.rlim_max);
}

}  // namespace

HostFacts ReadHostFacts(const std::string& root) {
  const std::string net = root + "/proc/sys/net/ipv4/";
  HostFacts facts;
  const std::vector<std::string> current = Words(net + "tcp_congestion_control");
  if (!current.empty()) facts.congestion_control = current[0];
  for (const std::string& name : Words(net + "tcp_available_congestion_control"))
    facts.congestion_controls.insert(name);
  facts.most_send_buffer_bytes = NumberIn(net + "tcp_wmem", 2);
  facts.most_receive_buffer_bytes = NumberIn(net + "tcp_rmem", 2);
  facts.mtu_probing = NumberIn(net + "tcp_mtu_probing");
  facts.descriptors = DescriptorLimit();
  facts.mappings = NumberIn(root + "/proc/sys/vm/max_map_count");
  facts.available_memory_bytes = AvailableMemory(root + "/proc/meminfo");
  if (const auto limit = FindMemoryLimit(root); limit.has_value()) facts.memory_limit_bytes = limit->bytes;
  facts.has_ipv6 = !ReadAll(root + "/proc/net/if_inet6").empty();
  return facts;
}

}  // namespace banyan
