#include "sim/checkers/leader_checker.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "sim/message_facts.h"

namespace banyan {
namespace {

std::optional<Term> TermOf(const Message& message) {
  return std::visit(
      [](const auto& m) -> std::optional<Term> {
        if constexpr (requires { m.term; }) {
          return m.term;
        } else {
          return std::nullopt;
        }
      },
      message);
}

std::string StartText(const std::pair<NodeId, uint32_t>& start) {
  return absl::StrCat("start ", start.second, " of process ", start.first.value());
}

}  // namespace

void LeaderChecker::OnProcessStarted(Timestamp /*now*/, NodeId process) { ++starts_[process]; }

void LeaderChecker::OnRecordsLost() {
  leaders_.clear();
  last_term_ = Term();
  newest_ = Epoch();
  begun_.clear();
  planned_.clear();
}

void LeaderChecker::OnSent(const SentMessage& sent) {
  if (!schedulers_.contains(sent.from)) return;
  const std::optional<Term> term = TermOf(sent.message);
  if (!term.has_value()) return;
  CheckTerm(sent, *term);
  if (const auto* begin = std::get_if<EpochBegin>(&sent.message)) {
    CheckBegin(sent, *term, begin->epoch);
  } else if (const auto* plan = std::get_if<EpochPlan>(&sent.message)) {
    CheckEpoch(sent, plan->epoch);
    newest_ = std::max(newest_, plan->epoch);
    planned_.insert(plan->epoch);
  } else if (const auto* answer = std::get_if<PolicyAnswer>(&sent.message)) {
    CheckEpoch(sent, answer->epoch);
  }
}

void LeaderChecker::CheckTerm(const SentMessage& sent, Term term) {
  if (term < last_term_) Complain(sent, "terms rise", absl::StrCat("after term ", last_term_.value()));
  last_term_ = std::max(last_term_, term);
  const auto* refused = std::get_if<JoinRefused>(&sent.message);
  if (refused != nullptr && refused->job_is_over) return;
  const Start start(sent.from, starts_[sent.from]);
  const Start& leader = leaders_.try_emplace(term, start).first->second;
  if (leader == start) return;
  Complain(sent, "one leader per term", absl::StrCat(StartText(start), " speaks in the term of ", StartText(leader)));
}

void LeaderChecker::CheckBegin(const SentMessage& sent, Term term, Epoch epoch) {
  CheckEpoch(sent, epoch);
  newest_ = std::max(newest_, epoch);
  const Term first = begun_.try_emplace(epoch, term).first->second;
  if (first != term) {
    Complain(sent, "epochs rise", absl::StrCat("epoch ", epoch.value(), " was begun in term ", first.value()));
  }
  if (planned_.contains(epoch)) Complain(sent, "epochs rise", absl::StrCat("epoch ", epoch.value(), " has its plan"));
}

void LeaderChecker::CheckEpoch(const SentMessage& sent, Epoch epoch) {
  if (epoch >= newest_) return;
  Complain(sent, "epochs rise", absl::StrCat("epoch ", epoch.value(), ", after epoch ", newest_.value(), " has begun"));
}

void LeaderChecker::Complain(const SentMessage& sent, const std::string& rule, const std::string& what) {
  violations_->Add(sent.now, rule,
                   absl::StrCat("process ", sent.from.value(), " to node ", sent.to.value(), ": ",
                                DescribeMessage(sent.message), ": ", what));
}

}  // namespace banyan
