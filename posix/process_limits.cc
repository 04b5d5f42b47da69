#include "posix/process_limits.h"

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/check.h"
#include "posix/file_descriptor.h"

namespace banyan {
namespace {

constexpr int64_t kKilobyte = 1024;
// Kernels write a limit near this where there is none.
constexpr int64_t kNoLimit = int64_t{1} << 60;

// The number in a file, kNoLimit for "max"; nullopt where there is no such file.
std::optional<int64_t> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) return std::nullopt;
  int64_t number = 0;
  return absl::SimpleAtoi(word, &number) ? std::min(number, kNoLimit) : kNoLimit;
}

// What /proc/meminfo says of `name`, in bytes; 0 where it says nothing.
int64_t ReadMemoryInfo(const std::string& root, absl::string_view name) {
  std::ifstream file(absl::StrCat(root, "/proc/meminfo"));
  std::string word;
  int64_t number = 0;
  while (file >> word) {
    if (word == name && file >> number) return number * kKilobyte;
  }
  return 0;
}

// The limits of one hierarchy of control groups.
struct Hierarchy {
  std::string mount;
  std::string group;  // below it, with a slash in front
  const char* limit_file;
  const char* swap_file;  // null: swap is not counted apart
};

// The groups whose limits count for this process, in the kernel's two forms.
std::optional<Hierarchy> FindHierarchy(const std::string& root) {
  std::ifstream file(absl::StrCat(root, "/proc/self/cgroup"));
  std::optional<Hierarchy> unified;
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = absl::StrCat(",", line.substr(first + 1, second - first - 1), ",");
    const std::string group = line.substr(second + 1);
    if (absl::StrContains(controllers, ",memory,")) {
      return Hierarchy{absl::StrCat(root, "/sys/fs/cgroup/memory"), group, "memory.limit_in_bytes", nullptr};
    }
    if (controllers == ",,")
      unified = Hierarchy{absl::StrCat(root, "/sys/fs/cgroup"), group, "memory.max", "memory.swap.max"};
  }
  return unified;
}

void KeepLess(std::optional<MemoryLimit> other, std::optional<MemoryLimit>& least) {
  if (!other.has_value()) return;
  if (!least.has_value() || other->bytes < least->bytes) least = std::move(other);
}

// The limit of one group.
std::optional<MemoryLimit> LimitOf(const Hierarchy& of, const std::string& group, int64_t swap_bytes) {
  const std::string directory = absl::StrCat(of.mount, group, "/");
  const std::optional<int64_t> limit_bytes = ReadNumber(directory + of.limit_file);
  if (!limit_bytes.has_value() || *limit_bytes >= kNoLimit / 2) return std::nullopt;
  if (of.swap_file != nullptr)
    swap_bytes = std::min(swap_bytes, ReadNumber(directory + of.swap_file).value_or(kNoLimit));
  return MemoryLimit{*limit_bytes + swap_bytes,
                     absl::StrCat(of.limit_file, " of cgroup ", group.empty() ? "/" : group)};
}

}  // namespace

void KeepMemorySecret() {
  const rlimit none = {0, 0};
  BANYAN_CHECK(prctl(PR_SET_DUMPABLE, 0) == 0 && setrlimit(RLIMIT_CORE, &none) == 0);
}

int64_t RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit raised = {limit.rlim_max, limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return static_cast<int64_t>(limit.rlim_cur);
}

int64_t DescriptorLimit() {
  rlimit limit = {};
  (void)getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int64_t>(limit.rlim_cur);
}

bool HasDescriptorLeft() { return FileDescriptor(eventfd(0, EFD_CLOEXEC)).valid(); }

std::string DescriptorAdvice() {
  return absl::StrCat("this process may have ", DescriptorLimit(),
                      " descriptors (RLIMIT_NOFILE): raise that with ulimit -n, or in its unit with LimitNOFILE");
}

int64_t MappingLimit() {
  int64_t most = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  return most;
}

std::optional<MemoryLimit> FindMemoryLimit(const std::string& root) {
  std::optional<MemoryLimit> least;
  const int64_t swap_bytes = ReadMemoryInfo(root, "SwapTotal:");
  if (const int64_t memory_bytes = ReadMemoryInfo(root, "MemTotal:"); memory_bytes > 0) {
    least = MemoryLimit{memory_bytes + swap_bytes, "the memory of this machine"};
  }
  rlimit space = {};
  if (root.empty() && getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    KeepLess(MemoryLimit{static_cast<int64_t>(space.rlim_cur), "RLIMIT_AS of this process (ulimit -v)"}, least);
  }
  const std::optional<Hierarchy> hierarchy = FindHierarchy(root);
  if (!hierarchy.has_value()) return least;
  // A group has what each of those around it leaves to it.
  std::string group = hierarchy->group == "/" ? "" : hierarchy->group;
  while (true) {
    KeepLess(LimitOf(*hierarchy, group, swap_bytes), least);
    if (group.empty()) return least;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

absl::Status OutOfMemory() {
  const std::optional<MemoryLimit> limit = FindMemoryLimit();
  return absl::ResourceExhaustedError(absl::StrCat(
      "no memory is left",
      limit.has_value() ? absl::StrCat("; this process may have ", limit->bytes, " bytes: ", limit->source) : ""));
}

}  // namespace banyan
