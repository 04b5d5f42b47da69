#include "sim/faults/fault_plan.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/check.h"

namespace banyan {
namespace {

// Returns whether those who are not `gone` have a way to each other over links.
bool StayConnected(const FaultPlanOptions& options, const std::set<NodeId>& gone) {
  std::set<NodeId> left;
  for (uint32_t id = 1; id <= options.workers.size(); ++id) left.insert(NodeId(id));
  for (const NodeId node : gone) left.erase(node);
  if (left.empty()) return false;
  std::vector<NodeId> reached = {*left.begin()};
  left.erase(left.begin());
  for (size_t next = 0; next < reached.size(); ++next) {
    for (const auto& [from, to] : options.links) {
      if (from == reached[next] && left.erase(to) > 0) reached.push_back(to);
    }
  }
  return left.empty();
}

class Drawing {
 public:
  Drawing(const FaultPlanOptions& options, Random* random)
      : options_(options),
        random_(*random),
        short_left_(options.longest_in_all),
        may_go_(options.workers.size() / 3),
        changes_members_(Has(FaultKind::kKillNode)) {}

  std::vector<Fault> Draw() {
    if (Has(FaultKind::kLateStart) && may_go_ > 0 && random_.Chance(0.3)) {
      --may_go_;
      Fault late;
      late.kind = FaultKind::kLateStart;
      late.node = late.other = AnyNode();
      late.lasts = Between(options_.first, options_.last, &random_);
      faults_.push_back(late);
    }
    for (int i = 0; i < options_.faults; ++i) Add();
    std::sort(faults_.begin(), faults_.end(), [](const Fault& a, const Fault& b) { return a.at < b.at; });
    return faults_;
  }

 private:
  bool Has(FaultKind kind) const {
    return std::find(options_.kinds.begin(), options_.kinds.end(), kind) != options_.kinds.end();
  }
  NodeId AnyNode() { return NodeId(static_cast<uint32_t>(1 + random_.Below(options_.workers.size()))); }

  // Without a plan for those who stay the job would wait for ever for whoever connects them.
  bool StaysConnectedWithout(NodeId node) const {
    std::set<NodeId> gone = gone_;
    gone.insert(node);
    return StayConnected(options_, gone);
  }

  // Two nodes with a link, or a node and the scheduler.
  void DrawPair(Fault* fault) {
    const uint64_t choice = random_.Below(options_.links.size() + options_.workers.size());
    if (choice < options_.links.size()) {
      std::tie(fault->node, fault->other) = options_.links[choice];
      return;
    }
    fault->node = NodeId(static_cast<uint32_t>(choice - options_.links.size() + 1));
    fault->other = kSchedulerNode;
    if (random_.Chance(0.5)) std::swap(fault->node, fault->other);
  }

  // So short that nobody is taken for lost.
  absl::Duration Short() {
    const absl::Duration least = absl::Milliseconds(1);
    if (changes_members_) return Between(least, options_.lost_after / 2, &random_);
    const absl::Duration lasts = Between(least, std::max(least, short_left_ / 2), &random_);
    short_left_ -= lasts;
    return lasts;
  }
  absl::Duration Long() { return Between(1.2 * options_.lost_after, 3 * options_.lost_after, &random_); }

  void Add() {
    Fault fault;
    fault.at = Between(options_.first, options_.last, &random_);
    do {
      fault.kind = options_.kinds[random_.Below(options_.kinds.size())];
    } while (fault.kind == FaultKind::kLateStart);
    fault.node = fault.other = AnyNode();
    Fill(&fault);
    faults_.push_back(fault);
  }

  void Fill(Fault* fault) {
    switch (fault->kind) {
      case FaultKind::kLoseConnections:
      case FaultKind::kStallLink:
        DrawPair(fault);
        fault->lasts = Short();
        return;
      case FaultKind::kCutLink:
        DrawPair(fault);
        fault->lasts = Short();
        fault->is_one_way = random_.Chance(0.5);
        fault->is_silent = random_.Chance(0.5);
        return;
      case FaultKind::kPause:
        fault->lasts = Short();
        return;
      case FaultKind::kPauseScheduler:
      case FaultKind::kSlowStorage:
      case FaultKind::kStallStorage:
      case FaultKind::kRestartScheduler:
      case FaultKind::kFailStorage:
        fault->node = fault->other = kSchedulerNode;
        fault->lasts = Short();
        fault->is_silent = random_.Chance(0.2);
        return;
      default:
        return FillChange(fault);
    }
  }

  void FillChange(Fault* fault) {
    switch (fault->kind) {
      case FaultKind::kKillNode:
        // Back at once, before anybody has noticed, or later than all have.
        fault->lasts = random_.Chance(0.5) ? Between(absl::Milliseconds(1), absl::Milliseconds(500), &random_) : Long();
        fault->is_silent = random_.Chance(0.3);
        return;
      case FaultKind::kLeave:
        fault->lasts = Between(absl::Milliseconds(500), 2 * options_.lost_after, &random_);
        fault->is_for_good = may_go_ > 0 && random_.Chance(0.3) && StaysConnectedWithout(fault->node);
        if (!fault->is_for_good) return;
        --may_go_;
        gone_.insert(fault->node);
        return;
      case FaultKind::kKillWorker: {
        const auto workers = static_cast<uint64_t>(options_.workers[fault->node.value() - 1]);
        fault->worker = WorkerId(static_cast<uint32_t>(random_.Below(workers)));
        fault->lasts = Between(absl::Milliseconds(1), options_.lost_after, &random_);
        return;
      }
      case FaultKind::kIsolateLink:
        BANYAN_CHECK(!options_.links.empty());
        std::tie(fault->node, fault->other) = options_.links[random_.Below(options_.links.size())];
        break;
      case FaultKind::kIsolateNode:
        fault->other = kSchedulerNode;
        if (random_.Chance(0.5)) std::swap(fault->node, fault->other);
        break;
      case FaultKind::kLongSchedulerStop:
        fault->node = fault->other = kSchedulerNode;
        break;
      default:
        break;
    }
    fault->lasts = Long();
    fault->is_one_way = random_.Chance(0.3);
    fault->is_silent = random_.Chance(0.5);
    // Rounds go on without it for a minute and more.
    const bool is_very_long = fault->kind == FaultKind::kLongSchedulerStop && fault->lasts > 2.4 * options_.lost_after;
    if (is_very_long) fault->lasts = absl::Minutes(1);
  }

  const FaultPlanOptions& options_;
  Random& random_;
  absl::Duration short_left_;
  size_t may_go_;
  const bool changes_members_;
  std::set<NodeId> gone_;  // for good
  std::vector<Fault> faults_;
};

}  // namespace

std::vector<Fault> DrawFaults(const FaultPlanOptions& options, Random* random) {
  BANYAN_CHECK(!options.kinds.empty() && !options.workers.empty());
  return Drawing(options, random).Draw();
}

}  // namespace banyan
