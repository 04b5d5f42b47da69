#include "sim/faults/fault.h"

#include "absl/strings/str_cat.h"

namespace banyan {

const char* NameOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kLoseConnections:
      return "lose connections";
    case FaultKind::kPause:
      return "pause";
    case FaultKind::kStallLink:
      return "stall link";
    case FaultKind::kCutLink:
      return "cut link";
    case FaultKind::kPauseScheduler:
      return "pause scheduler";
    case FaultKind::kSlowStorage:
      return "slow storage";
    case FaultKind::kStallStorage:
      return "stall storage";
    case FaultKind::kRestartScheduler:
      return "restart scheduler";
    case FaultKind::kFailStorage:
      return "fail storage";
    case FaultKind::kKillNode:
      return "kill node";
    case FaultKind::kLeave:
      return "leave";
    case FaultKind::kKillWorker:
      return "kill worker";
    case FaultKind::kStopNode:
      return "stop node";
    case FaultKind::kIsolateLink:
      return "isolate link";
    case FaultKind::kIsolateNode:
      return "isolate node";
    case FaultKind::kLateStart:
      return "late start";
    case FaultKind::kLongSchedulerStop:
      return "long scheduler stop";
    case FaultKind::kStopLeader:
      return "stop leader";
    case FaultKind::kKillLeader:
      return "kill leader";
    case FaultKind::kCutLeaderFromStore:
      return "cut leader from store";
    case FaultKind::kStoreAway:
      return "store away";
    case FaultKind::kIsolateLeader:
      return "isolate leader";
    case FaultKind::kSilenceConnections:
      return "silence connections";
    case FaultKind::kLoseLarge:
      return "lose large";
    case FaultKind::kForgetIdle:
      return "forget idle";
    case FaultKind::kRemoveNode:
      return "remove node";
    case FaultKind::kStandingStorage:
      return "standing storage";
    case FaultKind::kSlowLink:
      return "slow link";
    case FaultKind::kUnevenLink:
      return "uneven link";
    case FaultKind::kOtherFile:
      return "other file";
    case FaultKind::kStopJob:
      break;
  }
  return "stop job";
}

std::vector<FaultKind> AllFaultKinds() {
  std::vector<FaultKind> kinds;
  for (uint8_t kind = 0; kind <= static_cast<uint8_t>(FaultKind::kForgetIdle); ++kind) {
    kinds.push_back(static_cast<FaultKind>(kind));
  }
  return kinds;
}

std::vector<FaultKind> TransientFaultKinds() {
  std::vector<FaultKind> kinds = AllFaultKinds();
  std::erase_if(kinds, [](FaultKind kind) { return kind >= FaultKind::kKillNode; });
  return kinds;
}

bool NeedsStandby(FaultKind kind) { return kind >= FaultKind::kStopLeader && kind <= FaultKind::kIsolateLeader; }

bool IsSilence(FaultKind kind) { return kind >= FaultKind::kSilenceConnections && !IsRough(kind); }

std::vector<FaultKind> RoughFaultKinds() {
  return {FaultKind::kRemoveNode, FaultKind::kStandingStorage, FaultKind::kSlowLink,
          FaultKind::kUnevenLink, FaultKind::kOtherFile,       FaultKind::kStopJob};
}

std::vector<FaultKind> EndFaultKinds() {
  return {FaultKind::kKillNode,    FaultKind::kLeave,        FaultKind::kKillWorker,       FaultKind::kPauseScheduler,
          FaultKind::kSlowStorage, FaultKind::kStallStorage, FaultKind::kRestartScheduler, FaultKind::kFailStorage};
}

bool IsRough(FaultKind kind) { return kind >= FaultKind::kRemoveNode; }

std::vector<FaultKind> SilentFaultKinds() {
  return {FaultKind::kSilenceConnections, FaultKind::kLoseLarge, FaultKind::kForgetIdle};
}

std::vector<FaultKind> OneSchedulerFaultKinds() {
  std::vector<FaultKind> kinds = AllFaultKinds();
  std::erase_if(kinds, NeedsStandby);
  return kinds;
}

std::vector<FaultKind> SchedulerFaultKinds() {
  return {FaultKind::kPauseScheduler, FaultKind::kRestartScheduler, FaultKind::kLongSchedulerStop, FaultKind::kKillNode,
          FaultKind::kKillWorker};
}

std::string DescribeFault(const Fault& fault) {
  std::string text = absl::StrCat(NameOf(fault.kind), " ", fault.node.value());
  if (fault.kind == FaultKind::kKillWorker) absl::StrAppend(&text, " worker ", fault.worker.value());
  if (fault.other != fault.node) absl::StrAppend(&text, fault.is_one_way ? " to " : " and ", fault.other.value());
  absl::StrAppend(&text, fault.is_silent ? " silently" : "", " for ",
                  fault.is_for_good ? "good" : absl::FormatDuration(fault.lasts));
  return text;
}

}  // namespace banyan
