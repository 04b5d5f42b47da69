#include "scheduler/precision/precision_control.h"

#include <algorithm>
#include <vector>

namespace banyan {
namespace {

// Returns the slice that is the whole tensor; nothing where slices differ.
std::optional<SliceBinding> WholeSlice(const PrecisionBinding& binding, const std::string& tensor, int64_t elements) {
  const TensorBinding* const known = binding.Find(tensor);
  if (known == nullptr || known->elements != elements || known->slices.size() != 1) return std::nullopt;
  const SliceBinding& slice = known->slices.front();
  if (slice.first != 0 || slice.elements != elements) return std::nullopt;
  return slice;
}

}  // namespace

PrecisionControl::PrecisionControl(const std::optional<PrecisionFiles>& files, const OverlayConfig* overlay,
                                   const KeyTable* keys, const JobMembers* members)
    : overlay_(overlay), keys_(keys), members_(members) {
  if (!files.has_value()) return;
  binding_ = files->binding;
  controller_.emplace(files->profile, files->binding);
  controller_->BeginRound();
}

void PrecisionControl::Restore(const PrecisionState& state) {
  if (is_on() && state.is_decided) controller_->Resume(state.admitted, state.is_vetoed);
}

void PrecisionControl::OnHealth(NodeId node, const HealthReport& report) {
  const int64_t step = report.health.step;
  if (!is_on() || step <= decided_step_) return;
  waiting_[step][{node, report.worker}] = report.health;
  const bool is_whole = waiting_[step].size() >= Workers();
  // Whoever misses a step that others have reported has left it out.
  while (!waiting_.empty() && ((is_whole && waiting_.begin()->first <= step) || waiting_.size() > kMostSteps)) {
    DecideOldest();
  }
}

size_t PrecisionControl::Workers() const {
  size_t workers = 0;
  for (const NodeId node : members_->table().Members()) {
    if (members_->table().Find(node).is_workerless) continue;
    workers += static_cast<size_t>(overlay_->nodes[node.value() - 1].workers);
  }
  return std::max<size_t>(workers, 1);
}

void PrecisionControl::DecideOldest() {
  const auto oldest = waiting_.extract(waiting_.begin());
  decided_step_ = oldest.key();
  std::vector<TrainingHealth> reports;
  for (const auto& [worker, health] : oldest.mapped()) reports.push_back(health);
  const Veto before = controller_->veto();
  controller_->Observe(MeanHealth(reports));
  controller_->BeginRound();
  if (before == Veto::kNone && controller_->veto() != Veto::kNone) ++vetoes_;
}

PrecisionRoute PrecisionControl::RouteOf(KeyId key) const {
  if (!is_on()) return PrecisionRoute::kPlain;
  const std::string& name = keys_->NameOf(key);
  const std::optional<SliceBinding> slice = WholeSlice(binding_, name, keys_->ElementsOf(key));
  return slice.has_value() ? controller_->RouteOf(name, *slice) : PrecisionRoute::kPlain;
}

PrecisionState PrecisionControl::State() const {
  PrecisionState state;
  if (!is_on()) return state;
  state.is_decided = !controller_->is_warming_up();
  for (const auto& [scope, admission] : controller_->admissions()) {
    if (admission.is_admitted) state.admitted.push_back(scope);
  }
  state.is_vetoed = controller_->veto() != Veto::kNone;
  return state;
}

void PrecisionControl::WriteTo(JsonWriter& json, const RoundBook& rounds, const NodeReports& reports) const {
  if (!is_on()) return;
  const uint64_t low_bit = rounds.ClosedWith(PrecisionRoute::kLowBit);
  const uint64_t fallback = rounds.ClosedWith(PrecisionRoute::kFallback);
  const uint64_t plain = rounds.ClosedWith(PrecisionRoute::kPlain);
  const auto share = [all = low_bit + fallback + plain](uint64_t part) {
    return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all);
  };
  uint64_t violations = 0;
  for (const NodeId node : members_->table().Members()) {
    const NodeReport* const report = reports.Find(node);
    violations += report == nullptr ? 0 : report->route_violations;
  }
  json.Name("precision").BeginObject().Name("profile").String(controller_->profile().name);
  json.Name("binding").String(binding_.name()).Name("state");
  json.String(controller_->is_warming_up() ? "warm-up" : "decided").Name("admitted").BeginArray();
  for (const std::string& scope : State().admitted) json.String(scope);
  json.EndArray().Name("veto").String(std::string(VetoName(controller_->veto()))).Name("vetoes").Integer(vetoes_);
  json.Name("step").Integer(decided_step_).Name("rounds").BeginObject();
  json.Name("low_bit").Integer(low_bit).Name("fallback").Integer(fallback).Name("plain").Integer(plain).EndObject();
  json.Name("low_bit_share").Number(share(low_bit)).Name("veto_share").Number(share(fallback));
  json.Name("violations").Integer(violations).EndObject();
}

}  // namespace banyan
