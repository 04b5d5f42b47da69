#include "scheduler/wait_answers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

const NodeReport::Missing* FindMissing(const NodeReport* report, KeyId key, Round round) {
  if (report == nullptr) return nullptr;
  for (const NodeReport::Missing& row : report->missing) {
    // A node counts barriers of its own, and is in one at a time.
    if (row.key == key && (row.round == round || key == KeyId())) return &row;
  }
  return nullptr;
}

// Returns why the node has refused the key of this name to a worker; nullptr when it has not.
const NodeReport::Refusal* FindRefusal(const NodeReport* report, const std::string& key) {
  if (report == nullptr) return nullptr;
  const auto found = std::find_if(report->refusals.begin(), report->refusals.end(),
                                  [&key](const NodeReport::Refusal& row) { return row.name == key; });
  return found == report->refusals.end() ? nullptr : &*found;
}

std::string WorkersText(const std::vector<WorkerId>& workers) {
  return absl::StrCat(
      workers.size() == 1 ? "worker " : "workers ",
      absl::StrJoin(workers, ", ", [](std::string* out, WorkerId worker) { absl::StrAppend(out, worker.value()); }));
}

}  // namespace

std::string WaitAnswers::NameOf(NodeId node, KeyId key, Round round) const {
  const std::string& name = from_.membership.Find(node).name;
  const NodeReport* const report = from_.reports.Find(node);
  const bool is_init = round == Round(0) && from_.keys.Contains(key);
  const NodeReport::Refusal* const refusal = is_init ? FindRefusal(report, from_.keys.NameOf(key)) : nullptr;
  if (refusal != nullptr) {
    return absl::StrCat("worker ", refusal->worker.value(), " of ", name, " (", name, " refused key '",
                        from_.keys.NameOf(key), "': ", PrintableText(refusal->reason, kMaxReasonBytes), ")");
  }
  const NodeReport::Missing* const missing = FindMissing(report, key, round);
  if (missing != nullptr) return absl::StrCat(WorkersText(missing->workers), " of ", name);
  if (report != nullptr && report->workers_attached == 0) return absl::StrCat(name, " (no worker is attached)");
  const bool has_one = node.value() <= from_.overlay.nodes.size() && from_.overlay.nodes[node.value() - 1].workers == 1;
  return absl::StrCat(has_one ? "worker 0 of " : "", name);
}

std::string WaitAnswers::NamesOf(const std::vector<NodeId>& nodes, KeyId key, Round round) const {
  return absl::StrJoin(nodes, ", ",
                       [&](std::string* out, NodeId node) { absl::StrAppend(out, NameOf(node, key, round)); });
}

std::string WaitAnswers::Describe(const OpenRound& open) const {
  if (!open.not_pushed.empty()) {
    return absl::StrCat(NamesOf(open.not_pushed, open.key, open.round), " to ",
                        open.round == Round(0) ? "call Init for it" : "push it", DoubtfulLinks());
  }
  std::vector<std::string> names;
  for (const NodeId node : open.not_held) names.push_back(from_.membership.Find(node).name);
  return absl::StrCat(absl::StrJoin(names, ", "), " to hold its result", DoubtfulLinks());
}

std::string WaitAnswers::DoubtfulLinks() const {
  std::string text;
  for (const Member& member : from_.membership.all()) {
    const NodeReport* const report = from_.reports.Find(member.id);
    if (report == nullptr || !member.is_member) continue;
    for (const NodeReport::Link& link : report->links) {
      if (!link.is_blocked || link.to.value() > from_.membership.all().size()) continue;
      absl::StrAppend(&text, "; ", member.name, " connects to ", from_.membership.Find(link.to).name,
                      ", but large messages do not pass (path MTU?)");
    }
  }
  for (const std::string& why : from_.lately_out) absl::StrAppend(&text, "; a moment ago: ", why);
  return text;
}

std::string WaitAnswers::DescribeClosed(Round round) const {
  const AggregationOp op = from_.overlay.aggregation.op;
  const bool has_optimizer = op != AggregationOp::kSum && op != AggregationOp::kMean;
  // Who calls Init late begins with what the node has.
  return round == Round(0) && has_optimizer ? "its node to get the parameters from other members"
                                            : "a result on its way";
}

std::string WaitAnswers::DescribeJob() const {
  // Whatever the scheduler has to say waits for it.
  if (!from_.storage.empty()) return absl::StrCat("the scheduler: ", from_.storage);
  if (!from_.is_running) {
    const std::vector<std::string> names = from_.membership.WaitingFor();
    return names.empty() ? "the plan for its start" : absl::StrCat(absl::StrJoin(names, ", "), " to join the job");
  }
  if (!from_.change.empty()) return absl::StrCat("the membership, which changes: ", from_.change);
  return from_.transfer.empty() ? "" : absl::StrCat("a transfer of the training state: ", from_.transfer);
}

std::string WaitAnswers::Answer(const WaitQuestion& question) const {
  std::string whom = DescribeJob();
  if (whom.empty() && from_.keys.Contains(question.key)) {
    const OpenRound open = LookAt(question.key, question.round, from_.rounds, from_.membership, from_.reports);
    const bool is_open = !open.not_pushed.empty() || !open.not_held.empty();
    whom = is_open ? Describe(open) : DescribeClosed(question.round);
    if (!from_.cut.empty()) absl::StrAppend(&whom, "; ", from_.cut);
  }
  if (whom.empty() && !from_.barrier.empty()) {
    whom = absl::StrCat(NamesOf(from_.barrier, KeyId(), question.round), " to enter it");
  }
  if (whom.empty()) whom = "no node that the scheduler knows of";
  return from_.disorder.empty() ? whom : absl::StrCat(whom, "; ", from_.disorder);
}

}  // namespace banyan
