#include "tools/doctor/host_checks.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "access/key_file.h"
#include "core/printable.h"
#include "posix/child_process.h"
#include "posix/process_limits.h"
#include "posix/work_directory.h"
#include "runtime/transport/congestion_control.h"

namespace banyan {

// --- what is known about this machine ---

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

std::optional<int64_t> HardDescriptorLimit() {
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
  facts.descriptors = HardDescriptorLimit();
  facts.mappings = NumberIn(root + "/proc/sys/vm/max_map_count");
  facts.available_memory_bytes = AvailableMemory(root + "/proc/meminfo");
  if (const auto limit = FindMemoryLimit(root); limit.has_value()) facts.memory_limit_bytes = limit->bytes;
  facts.has_ipv6 = !ReadAll(root + "/proc/net/if_inet6").empty();
  return facts;
}

// --- whether it will do ---

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

// --- the daemon's key ---

CheckResult CheckKey(const OverlayConfig& overlay, const std::string& site, const std::vector<std::string>& folders) {
  const auto node = std::find_if(overlay.nodes.begin(), overlay.nodes.end(),
                                 [&site](const NodeConfig& candidate) { return candidate.name == site; });
  const std::string& listed = node == overlay.nodes.end() ? overlay.scheduler.public_key : node->public_key;
  const std::string path = FindKeyFile(folders, site);
  if (listed.empty()) {
    return {
        "key", true,
        absl::StrCat("the overlay lists none for ", site,
                     ": reached from other machines, its daemon starts with --insecure alone; `banyan keygen --all` "
                     "makes the keys of a job")};
  }
  if (path.empty()) {
    return {"key", false,
            absl::StrCat("the overlay lists one for ", site, ", and there is no ", site, ".key in ",
                         absl::StrJoin(folders, ", "), "; bring it here, or start the daemon with --key")};
  }
  const absl::StatusOr<KeyFile> file = ReadKeyFile(path);
  if (!file.ok()) return {"key", false, std::string(file.status().message())};
  if (file->keys.public_key == listed) return {"key", true, absl::StrCat(path, " is that which the overlay lists")};
  const auto owner = std::find_if(overlay.nodes.begin(), overlay.nodes.end(), [&file](const NodeConfig& candidate) {
    return candidate.public_key == file->keys.public_key;
  });
  return {"key", false,
          absl::StrCat(path, " is not that which the overlay lists for ", site,
                       owner == overlay.nodes.end() ? "" : absl::StrCat(", but that of ", owner->name),
                       "; bring the right one, or list this one: public_key: '", file->keys.public_key, "'")};
}

// --- the clock ---

namespace {

// chronyc itself gives up after some seconds when nobody answers.
constexpr absl::Duration kPatience = absl::Seconds(15);
constexpr size_t kFields = 14;
constexpr size_t kMostShown = 200;

constexpr char kInstall[] =
    "to compare the times in the logs of several sites, install chrony (apt-get install chrony), put "
    "deploy/chrony/node.conf with the scheduler's address into "
    "/etc/chrony/conf.d/ (on the scheduler's machine: deploy/chrony/scheduler.conf), then: systemctl restart chrony";
constexpr char kStart[] = "start it: systemctl enable --now chrony; its log: journalctl -u chrony";
constexpr char kWait[] =
    "wait some seconds after a start (chronyc waitsync 30), look whether `chronyc sources` shows the scheduler's "
    "machine "
    "(deploy/chrony/node.conf), whether that one allows this one (deploy/chrony/scheduler.conf), and whether the "
    "firewalls let UDP port 123 through";

// What a program has said, and whether it ended well.
struct Answer {
  bool ok = false;
  std::string text;
};

absl::StatusOr<Answer> AskChrony(const std::string& chronyc) {
  const absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-doctor");
  if (!directory.ok()) return directory.status();
  ChildProcessOptions options;
  options.name = "chronyc";
  options.arguments = {chronyc, "-c", "tracking"};
  options.log_path = (*directory)->File("log");
  options.capture_output = true;
  const absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(options);
  if (!child.ok()) return child.status();
  // What it says fits into the pipe.
  if (!(*child)->WaitUntilEnded(kPatience)) {
    return absl::DeadlineExceededError(absl::StrCat("no end within ", absl::FormatDuration(kPatience)));
  }
  Answer answer;
  answer.ok = (*child)->failure().empty();
  answer.text = absl::StrJoin((*child)->TakeLines(), "\n");
  if (answer.text.empty()) answer.text = (*child)->LogTail(1);
  return answer;
}

std::string Shown(const std::string& text) { return EscapeUnprintable(text.substr(0, kMostShown)); }

std::string Milliseconds(absl::Duration duration) {
  return absl::StrFormat("%.3f ms", absl::ToDoubleMilliseconds(duration));
}

CheckResult Check(const char* name, bool ok, const std::string& found, const std::string& fix) {
  return {name, ok, ok ? found : absl::StrCat(found, "; ", fix)};
}

CheckResults CheckTracking(const ClockTracking& tracking, absl::Duration max_offset) {
  CheckResults results;
  const bool is_synchronised = tracking.stratum > 0 && tracking.leap != "Not synchronised";
  results.push_back(
      Check("synchronised", is_synchronised,
            is_synchronised
                ? absl::StrCat("follows ", tracking.reference.empty() ? "this machine's own clock" : tracking.reference,
                               " at stratum ", tracking.stratum, ", leap status ", tracking.leap)
                : "the clock has no reference yet",
            kWait));
  if (!is_synchronised) return results;
  const std::string bound = absl::StrCat("expected ", Milliseconds(max_offset), " at most");
  results.push_back(Check(
      "offset", tracking.offset <= max_offset, absl::StrCat("the clock is off by ", Milliseconds(tracking.offset)),
      absl::StrCat(bound,
                   ": wait while chrony corrects it (chronyc waitsync 30 0.001), or correct it at once: "
                   "chronyc makestep")));
  results.push_back(Check(
      "dispersion", tracking.root_dispersion <= max_offset,
      absl::StrCat("which chrony knows to ", Milliseconds(tracking.root_dispersion), ", plus at most half of the ",
                   Milliseconds(tracking.root_delay), " to the reference and back"),
      absl::StrCat(bound, ": it grows while the reference does not answer; see `chronyc sources`, and ", kWait)));
  return results;
}

}  // namespace

absl::StatusOr<ClockTracking> ParseTracking(absl::string_view line) {
  const std::vector<std::string> fields = absl::StrSplit(line, ',');
  const auto refuse = [&line] {
    return absl::InvalidArgumentError(absl::StrCat("expected the ", kFields, " fields of `chronyc -c tracking`, got '",
                                                   Shown(std::string(line)), "'"));
  };
  if (fields.size() != kFields) return refuse();
  ClockTracking tracking;
  double offset = 0, root_delay = 0, root_dispersion = 0;
  if (!absl::SimpleAtoi(fields[2], &tracking.stratum) || !absl::SimpleAtod(fields[4], &offset) ||
      !absl::SimpleAtod(fields[10], &root_delay) || !absl::SimpleAtod(fields[11], &root_dispersion) ||
      std::isnan(offset) || std::isnan(root_delay) || std::isnan(root_dispersion)) {
    return refuse();
  }
  tracking.reference = EscapeUnprintable(fields[1]);
  tracking.offset = absl::Seconds(std::abs(offset));
  tracking.root_delay = absl::Seconds(root_delay);
  tracking.root_dispersion = absl::Seconds(root_dispersion);
  tracking.leap = EscapeUnprintable(fields[13]);
  return tracking;
}

CheckResults CheckClock(const std::string& chronyc, absl::Duration max_offset) {
  const bool exists = access(chronyc.c_str(), X_OK) == 0;
  // Without it all runs as well.
  if (!exists) return {{"chrony", true, absl::StrCat("there is no ", chronyc, ", and Banyan needs none; ", kInstall)}};
  CheckResults results = {{"chrony", true, absl::StrCat("found ", chronyc)}};
  const absl::StatusOr<Answer> answer = AskChrony(chronyc);
  const bool is_running = answer.ok() && answer->ok;
  results.push_back(Check("daemon", is_running,
                          is_running ? "chronyd runs"
                                     : absl::StrCat("chronyd does not answer: ",
                                                    Shown(answer.ok() ? answer->text : answer.status().ToString())),
                          kStart));
  if (!is_running) return results;
  const absl::StatusOr<ClockTracking> tracking = ParseTracking(answer->text);
  if (!tracking.ok()) {
    results.push_back(Check("tracking", false, std::string(tracking.status().message()),
                            absl::StrCat("is ", chronyc, " that of chrony 2.x to 4.x?")));
    return results;
  }
  for (CheckResult& result : CheckTracking(*tracking, max_offset)) results.push_back(std::move(result));
  return results;
}

}  // namespace banyan
