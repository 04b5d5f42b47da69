#include "scheduler/precision/precision_control.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/check.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_context.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

void Add(const PrecisionReport::Traffic& from, PrecisionStatus::Traffic& to) {
  to.sent_bytes += from.sent_bytes;
  to.full_bytes += from.full_bytes;
}

std::vector<int64_t> BordersBetween(const std::vector<SliceBinding>& slices) {
  std::vector<int64_t> borders;
  for (const SliceBinding& slice : slices) {
    if (slice.first > 0) borders.push_back(slice.first);
  }
  return borders;
}

}  // namespace

PrecisionControl::PrecisionControl(const std::optional<PrecisionFiles>& files, const OverlayConfig* overlay,
                                   const KeyTable* keys, const JobMembers* members, SchedulerContext* context)
    : overlay_(overlay),
      keys_(keys),
      members_(members),
      context_(context),
      guard_(files.has_value() ? files->profile.rules : VoteRules()) {
  if (!files.has_value()) return;
  binding_ = files->binding;
  controller_.emplace(files->profile, files->binding);
  controller_->BeginRound();
}

void PrecisionControl::Restore(const PrecisionState& state) {
  if (!is_on()) return;
  recorded_ = state;
  if (state.is_decided) {
    std::set<GuardedSize> allowed;
    for (const GuardedSize& size : CandidateSizes()) {
      if (!std::binary_search(state.guarded.begin(), state.guarded.end(), size)) allowed.insert(size);
    }
    guard_.Restore(std::move(allowed));
  }
  NoteGuarded();
  controller_->OrderVeto({state.ordered.begin(), state.ordered.end()});
  if (!state.is_decided) return;
  // Records of earlier versions have no digest.
  const bool is_other = state.profile_digest != 0 && state.profile_digest != controller_->profile().digest;
  if (is_other) {
    context_->LogWarning(absl::StrCat("the file of profile '", controller_->profile().name,
                                      "' has changed since this job judged its warm-up: the job goes on with the new "
                                      "numbers, without what it had learned; put the former file back if that is not "
                                      "meant"));
  }
  controller_->Resume(state.admitted, state.is_vetoed, is_other ? std::nullopt : state.learned);
}

void PrecisionControl::OnHealth(NodeId node, const HealthReport& report) {
  const int64_t step = report.health.step;
  if (!is_on()) return;
  // The node's own word of it may come later.
  if (const auto attached = attached_.find(node); attached != attached_.end()) {
    attached->second = std::max(attached->second, report.worker.value() + 1);
  }
  int64_t& last_step = last_steps_[{node, report.worker}];
  const bool goes_back = step < std::exchange(last_step, step);
  if (step <= decided_step_) {
    if (!goes_back) return;
    // The training goes on from an earlier state: its steps are counted anew from there.
    decided_step_ = step - 1;
    waiting_.clear();
  }
  waiting_[step][{node, report.worker}] = report.health;
  DecideWhole();
}

void PrecisionControl::DecideWhole() {
  const size_t workers = Workers();
  // Whoever misses a step that others have reported has left it out.
  const auto newest = std::find_if(waiting_.rbegin(), waiting_.rend(),
                                   [workers](const auto& step) { return step.second.size() >= workers; });
  const int64_t whole = newest == waiting_.rend() ? std::numeric_limits<int64_t>::min() : newest->first;
  while (!waiting_.empty() && (waiting_.begin()->first <= whole || waiting_.size() > kMostSteps)) DecideOldest();
}

std::set<std::string> PrecisionControl::Scopes() const {
  std::set<std::string> scopes;
  for (const TensorBinding& tensor : binding_.tensors()) {
    for (const SliceBinding& slice : tensor.slices) {
      if (slice.is_candidate) scopes.insert(ScopeOf(controller_->profile().scope, tensor.name, slice));
    }
  }
  return scopes;
}

OperatorReply PrecisionControl::OnOrder(const VetoLowBit& order) {
  if (!is_on()) return {false, "the job has no low-bit rounds: its overlay names no precision.profile"};
  const std::set<std::string> known = Scopes();
  const std::set<std::string> named(order.scopes.begin(), order.scopes.end());
  for (const std::string& scope : named) {
    if (known.contains(scope)) continue;
    return {false, absl::StrCat("expected scopes of the binding (", absl::StrJoin(known, ", "), "), got '",
                                PrintableText(scope, kMaxReasonBytes), "'")};
  }
  std::set<std::string> ordered = controller_->ordered();
  for (const std::string& scope : named.empty() ? known : named) {
    if (order.is_lifted) ordered.erase(scope);
    if (!order.is_lifted) ordered.insert(scope);
  }
  controller_->OrderVeto(ordered);
  return {true, ordered.empty() ? "no scope is vetoed by order"
                                : absl::StrCat("vetoed by order: ", absl::StrJoin(ordered, ", "))};
}

std::vector<GuardedSize> PrecisionControl::CandidateSizes() const {
  std::set<GuardedSize> sizes;
  for (uint32_t id = 1; id <= keys_->version().value(); ++id) {
    for (const SliceBinding& slice : SlicesOf(KeyId(id))) {
      if (slice.is_candidate) sizes.insert(SizeOfSlice(KeyId(id), slice));
    }
  }
  return {sizes.begin(), sizes.end()};
}

void PrecisionControl::NoteGuarded() {
  if (!HasGuard()) return;
  guarded_keys_ = keys_->version();
  guarded_ = CandidateSizes();
  std::erase_if(guarded_, [this](const GuardedSize& size) { return guard_.Allows(size); });
}

void PrecisionControl::Review(const Policy& policy, const NetworkView& view) {
  if (!is_on() || !HasGuard()) return;
  if (keys_->version() != guarded_keys_) NoteGuarded();
  if (is_predicting_) return;
  const bool is_new = policy.version != reviewed_policy_ || keys_->version() != reviewed_keys_;
  if (!std::exchange(is_guard_due_, false) && !is_new) return;
  const auto has_reported = [this](NodeId node) { return guard_.Knows(node); };
  if (!std::all_of(policy.members.begin(), policy.members.end(), has_reported)) return;
  reviewed_policy_ = policy.version;
  reviewed_keys_ = keys_->version();
  std::vector<double> workers;
  for (const NetworkNode& node : view.nodes()) {
    const bool votes = !members_->table().Find(node.id).is_workerless;
    workers.push_back(votes ? overlay_->nodes[node.id.value() - 1].workers : 0);
  }
  std::unique_ptr<RoundForecast> forecast = guard_.Ask(policy, view, workers, CandidateSizes());
  if (forecast == nullptr) return;
  is_predicting_ = true;
  last_prediction_ = last_prediction_.Next();
  context_->outbox.StartComputation(last_prediction_, std::move(forecast));
}

void PrecisionControl::AdoptRoutes(JobRounds& rounds) {
  if (!is_on()) return;
  PrecisionState state = State();
  if (state != recorded_) {
    recorded_ = std::move(state);
    context_->Persist(PrecisionRecord{recorded_});
    is_adopted_ = false;
  }
  if (is_adopted_ || rounds.cut().has_value()) return;
  is_adopted_ = true;
  // The first time they are those of before a restart.
  const bool is_first = std::exchange(is_first_, false);
  if (!rounds.AdoptRoutes() || is_first) return;
  context_->LogInfo(recorded_.is_vetoed ? "a veto of low-bit rounds holds from the next rounds on"
                                        : "other precision routes hold from the next rounds on");
}

bool PrecisionControl::OnComputation(ComputationFinished& event) {
  if (!is_predicting_ || event.computation != last_prediction_) return false;
  const auto* const forecast = dynamic_cast<const RoundForecast*>(event.result.get());
  BANYAN_CHECK(forecast != nullptr);
  is_predicting_ = false;
  guard_.Take(*forecast);
  NoteGuarded();
  return true;
}

size_t PrecisionControl::Workers() const {
  size_t workers = 0;
  for (const NodeId node : members_->table().Members()) {
    if (members_->table().Find(node).is_workerless) continue;
    const auto configured = static_cast<size_t>(overlay_->nodes[node.value() - 1].workers);
    const auto attached = attached_.find(node);
    workers += attached == attached_.end() ? configured : std::min<size_t>(configured, attached->second);
  }
  return std::max<size_t>(workers, 1);
}

void PrecisionControl::DecideOldest() {
  const auto oldest = waiting_.extract(waiting_.begin());
  decided_step_ = oldest.key();
  std::vector<TrainingHealth> reports;
  for (const auto& [worker, health] : oldest.mapped()) reports.push_back(health);
  const Veto before = controller_->veto();
  const Supervisor::Record record = controller_->supervisor().record();
  controller_->Observe(MeanHealth(reports));
  controller_->BeginRound();
  LogChange(record);
  if (before == Veto::kNone && controller_->veto() != Veto::kNone) ++vetoes_;
}

std::vector<std::string> PrecisionControl::Refused() const {
  std::vector<std::string> refused;
  if (controller_->is_warming_up()) return refused;
  for (const auto& [scope, admission] : controller_->admissions()) {
    if (!admission.is_admitted) refused.push_back(absl::StrCat(scope, ": ", admission.reason));
  }
  for (const TensorBinding& tensor : binding_.tensors()) {
    const auto may = [](const SliceBinding& slice) { return slice.is_candidate; };
    if (std::none_of(tensor.slices.begin(), tensor.slices.end(), may)) continue;
    const std::optional<KeyId> key = keys_->Find(tensor.name);
    if (key.has_value() && keys_->ElementsOf(*key) == tensor.elements) continue;
    const std::string has = key.has_value() ? CountOf(keys_->ElementsOf(*key), "element") : "no such tensor";
    refused.push_back(absl::StrCat(tensor.name, ": the binding expects ", CountOf(tensor.elements, "element"),
                                   ", the job has ", has, "; write the binding anew"));
  }
  return refused;
}

std::string PrecisionControl::DescribeState() const {
  if (controller_->is_warming_up()) return "warm-up";
  const std::vector<std::string> refused = Refused();
  if (refused.empty()) return "decided";
  return absl::StrCat("decided, not low-bit: ", PrintableText(refused.front(), kMaxReasonBytes),
                      refused.size() > 1 ? absl::StrCat(" (and ", refused.size() - 1, " more)") : "");
}

void PrecisionControl::LogChange(const Supervisor::Record& before) {
  if (std::string state = DescribeState(); state != logged_state_) {
    logged_state_ = std::move(state);
    const Supervisor& supervisor = controller_->supervisor();
    const DetectorScale& detector = supervisor.record().detector;
    context_->LogInfo(absl::StrFormat(
        "low-bit rounds: %s; detector slack %.4g, threshold %.4g (confidence %.2f%s), at most %.3g of the rounds",
        logged_state_, detector.slack, detector.threshold, detector.confidence,
        detector.is_projected ? ", held back by the trust region" : "", supervisor.budget().target()));
  }
  const Supervisor::Record& record = controller_->supervisor().record();
  if (record.triggers == before.triggers) return;
  context_->LogInfo(absl::StrFormat(
      "low-bit rounds: trigger %d in step %d%s; %d readmissions so far", record.triggers, decided_step_,
      record.noise_recoveries > before.noise_recoveries ? ", taken for noise" : "", record.readmissions));
}

std::vector<SliceBinding> PrecisionControl::BoundSlices(const std::string& name, const TensorShape& shape) const {
  std::vector<SliceBinding> slices = binding_.SlicesOf(name, shape.elements);
  if (slices.size() <= KeyRoutes::kMostSlices && !IsExact(shape.layout.type)) return slices;
  SliceBinding whole;
  whole.elements = shape.elements;
  return {whole};
}

std::vector<int64_t> PrecisionControl::BordersOf(const std::string& name, const TensorShape& shape) const {
  return BordersBetween(BoundSlices(name, shape));
}

bool PrecisionControl::HasBoundSlices(KeyId key) const {
  return BordersOf(keys_->NameOf(key), keys_->ShapeOf(key)) == keys_->BordersOf(key);
}

std::vector<SliceBinding> PrecisionControl::SlicesOf(KeyId key) const {
  std::vector<SliceBinding> bound = BoundSlices(keys_->NameOf(key), keys_->ShapeOf(key));
  if (BordersBetween(bound) == keys_->BordersOf(key)) return bound;
  std::vector<int64_t> ends = keys_->BordersOf(key);
  ends.push_back(keys_->ElementsOf(key));
  std::vector<SliceBinding> slices;
  int64_t first = 0;
  for (const int64_t end : ends) {
    const auto around = std::find_if(bound.begin(), bound.end(), [&](const SliceBinding& slice) {
      return slice.first <= first && end <= slice.first + slice.elements;
    });
    SliceBinding& slice = slices.emplace_back(around == bound.end() ? SliceBinding() : *around);
    slice.first = std::exchange(first, end);
    slice.elements = end - slice.first;
  }
  return slices;
}

std::string PrecisionControl::DescribeOtherSlices() const {
  if (!is_on()) return "";
  constexpr size_t kMostNames = 4;
  std::vector<KeyId> others;
  for (KeyId key(1); keys_->Contains(key); key = key.Next()) {
    if (!HasBoundSlices(key)) others.push_back(key);
  }
  if (others.empty()) return "";
  const KeyId first = others.front();
  const size_t more = others.size() - std::min(others.size(), kMostNames);
  others.resize(others.size() - more);
  const auto add_name = [this](std::string* out, KeyId key) { absl::StrAppend(out, "'", keys_->NameOf(key), "'"); };
  const auto borders = [](const std::vector<int64_t>& at) {
    return at.empty() ? "nowhere" : absl::StrCat("at ", absl::StrJoin(at, ", "));
  };
  return absl::StrCat("the binding has other slices of ", absl::StrJoin(others, ", ", add_name),
                      more > 0 ? absl::StrCat(" and ", CountOf(more, "other")) : "",
                      " than the running job, which keeps its own: '", keys_->NameOf(first), "' is divided ",
                      borders(keys_->BordersOf(first)), ", and the binding divides it ",
                      borders(BordersOf(keys_->NameOf(first), keys_->ShapeOf(first))),
                      "; a slice that does not lie in one of the binding stays fp32. Put the former binding back, or "
                      "begin another job");
}

GuardedSize PrecisionControl::SizeOfSlice(KeyId key, const SliceBinding& slice) const {
  return {slice.elements, SizeOf(keys_->ShapeOf(key).layout.type)};
}

KeyRoutes PrecisionControl::RouteOf(KeyId key) const {
  KeyRoutes routes;
  if (!is_on()) return routes;
  const std::vector<SliceBinding> slices = SlicesOf(key);
  for (size_t i = 0; i < slices.size(); ++i) {
    PrecisionRoute route = controller_->RouteOf(keys_->NameOf(key), slices[i]);
    const bool is_refused = HasGuard() && !guard_.Allows(SizeOfSlice(key, slices[i]));
    if (route == PrecisionRoute::kLowBit && is_refused) route = PrecisionRoute::kPlain;
    if (route == PrecisionRoute::kLowBit && IsBehind()) route = PrecisionRoute::kFallback;
    routes.Set(i, route);
  }
  return routes;
}

PrecisionState PrecisionControl::State() const {
  PrecisionState state;
  if (!is_on()) return state;
  state.ordered.assign(controller_->ordered().begin(), controller_->ordered().end());
  state.is_decided = !controller_->is_warming_up();
  if (state.is_decided) {
    state.guarded = guarded_;
    state.profile_digest = controller_->profile().digest;
    state.learned = controller_->supervisor().learned();
  }
  for (const auto& [scope, admission] : controller_->admissions()) {
    if (admission.is_admitted) state.admitted.push_back(scope);
  }
  state.is_vetoed = controller_->veto() != Veto::kNone || IsBehind();
  return state;
}

RouteAudit PrecisionControl::Audit(const JobRounds& rounds) const {
  RouteAudit audit(controller_->profile().bits_per_element);
  for (uint32_t id = 1; id <= keys_->version().value(); ++id) {
    const std::vector<SliceBinding> slices = SlicesOf(KeyId(id));
    for (const auto& [routes, closed] : rounds.ClosedOf(KeyId(id))) {
      std::vector<SliceRoute> taken;
      // Nodes refuse what comes by another route than the one decided, and count it: PrecisionStatus::violations.
      for (size_t i = 0; i < slices.size(); ++i) {
        taken.push_back({slices[i].elements, slices[i].is_candidate, routes.Of(i), routes.Of(i)});
      }
      audit.Record(keys_->NameOf(KeyId(id)), taken, 0, static_cast<int64_t>(closed));
    }
  }
  return audit;
}

std::optional<PrecisionStatus> PrecisionControl::Status(const JobRounds& rounds, const NodeReports& reports) const {
  if (!is_on()) return std::nullopt;
  PrecisionStatus status;
  for (const NodeId node : members_->table().Members()) {
    const NodeReport* const report = reports.Find(node);
    if (report == nullptr) continue;
    status.violations += report->route_violations;
    Add(report->precision.all, status.sent);
    Add(report->precision.low_bit, status.sent_low_bit);
  }
  const PrecisionState state = State();
  status.profile = controller_->profile().name;
  status.binding = binding_.name();
  status.state = DescribeState();
  status.admitted = state.admitted;
  const bool is_behind_alone = controller_->veto() == Veto::kNone && IsBehind();
  status.veto = is_behind_alone ? "reports are missing" : std::string(VetoName(controller_->veto()));
  status.vetoes = vetoes_;
  status.ordered = state.ordered;
  status.step = static_cast<uint64_t>(decided_step_);
  status.guard = HasGuard() ? "endpoint" : "forced";
  for (const auto& [size, prediction] : guard_.predictions()) {
    status.predicted.push_back(
        {static_cast<uint64_t>(size.elements), static_cast<uint64_t>(size.element_bytes),
         absl::ToDoubleSeconds(prediction.low_bit.time), absl::ToDoubleSeconds(prediction.full.time),
         absl::ToDoubleSeconds(prediction.low_bit.busy), absl::ToDoubleSeconds(prediction.full.busy)});
  }
  status.audit = Audit(rounds).Status();
  status.audit.all.violations = status.violations;
  return status;
}

}  // namespace banyan
