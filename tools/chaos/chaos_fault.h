// The faults that are done to a running job, by `banyan chaos` or from a demo's page: one list with all that is said of
// a kind. Values and pure functions.
#ifndef BANYAN_TOOLS_CHAOS_CHAOS_FAULT_H_
#define BANYAN_TOOLS_CHAOS_CHAOS_FAULT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "absl/time/time.h"
#include "core/time.h"
#include "tools/supervision/process_record.h"

namespace banyan {

// Its numbers go into what is drawn from a seed.
enum class ChaosKind : uint8_t {
  kKillNode,
  kStopNode,
  kCutLink,
  kKillWorker,
  kKillScheduler,
  kShareLink,
  kPartition,
  kSlowLink,
  kFillDisk
};

// Texts take the target ($0) and how long it lasts ($1).
struct ChaosKindInfo {
  ChaosKind kind;
  const char* name;                    // "kill_node", as in JSON
  const char* help;                    // of the flag of `banyan chaos`; empty when it has none
  const char* path;                    // at a demo's page; empty when it has none
  std::optional<ProcessKind> process;  // that it hits; a link otherwise
  const char* does;                    // "stops $0 for $1"
  const char* done;                    // for who has asked for it
  const char* undoes;                  // empty when it is never undone
  const char* counted;                 // behind a number; takes "s" ($0) or "es" ($1) unless that is 1

  constexpr bool is_undone() const { return *undoes != '\0'; }
};

inline constexpr ChaosKindInfo kChaosKinds[] = {
    {ChaosKind::kKillNode, "kill_node", "kill a random node, on average this often", "kill", ProcessKind::kNode,
     "kills $0", "killed $0; it is started again", "", "node$0 killed"},
    {ChaosKind::kStopNode, "stop_node", "stop a random node (SIGSTOP), and let it go on later", "", ProcessKind::kNode,
     "stops $0 for $1", "", "lets $0 go on", "node$0 stopped"},
    {ChaosKind::kCutLink, "cut_link", "cut a random link of the emulated WAN, and heal it later", "cut", std::nullopt,
     "cuts $0 for $1", "cut $0 for $1", "heals $0", "link$0 cut"},
    {ChaosKind::kKillWorker, "kill_worker", "kill a random training process", "", ProcessKind::kTraining, "kills $0",
     "", "", "training process$1 killed"},
    {ChaosKind::kKillScheduler, "kill_scheduler", "kill the scheduler", "", ProcessKind::kScheduler, "kills $0", "", "",
     "kill$0 of the scheduler"},
    {ChaosKind::kShareLink, "share_link", "", "traffic", std::nullopt, "shares $0 for $1",
     "others take 0.7 of $0 for $1", "frees $0", "link$0 shared"},
    {ChaosKind::kPartition, "partition", "cut random sites off from all others, and heal that later", "", std::nullopt,
     "cuts $0 off from all others for $1", "", "joins $0 to the others again", "partition$0"},
    {ChaosKind::kSlowLink, "slow_link", "slow a random link of the emulated WAN down to a tenth, and speed it up later",
     "", std::nullopt, "slows $0 down for $1", "", "gives $0 its rate again", "link$0 slowed down"},
    {ChaosKind::kFillDisk, "fill_disk", "let no file of the scheduler grow, as on a full disk", "",
     ProcessKind::kScheduler, "lets no file of $0 grow for $1", "", "lets files of $0 grow again",
     "time$0 that the scheduler's disk was full"}};

constexpr const ChaosKindInfo& InfoOf(ChaosKind kind) { return kChaosKinds[static_cast<size_t>(kind)]; }

// One direction.
using ChaosLink = std::pair<std::string, std::string>;

struct ChaosFault {
  ChaosKind kind = ChaosKind::kKillNode;
  std::string target = {};              // "node n3", "n1 > n2", "n1 - n2" for both directions
  std::string node = {};                // whose data centre it hits; empty for links and the scheduler
  std::vector<std::string> sites = {};  // that a partition cuts off
  std::optional<int> rank = {};         // of the training process, when it alone is hit
  std::vector<ChaosLink> links = {};    // that are cut, shared or slowed down
  double rate_bps = 0;                  // of a link that is slowed down; 0: a tenth of what it had
  Timestamp at = {};
  absl::Duration lasts = {};  // until it is undone; 0 when nothing is
};

// Fills `text` of its kind.
inline std::string DescribeFault(const char* text, const ChaosFault& fault) {
  return absl::Substitute(text, fault.target, absl::FormatDuration(fault.lasts));
}

}  // namespace banyan

#endif  // BANYAN_TOOLS_CHAOS_CHAOS_FAULT_H_
