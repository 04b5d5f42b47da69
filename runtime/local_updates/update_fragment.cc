#include "runtime/local_updates/update_fragment.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace banyan {
namespace {

StatePart PartOf(std::string name, absl::Span<float> values) {
  return {std::move(name), {reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(float)}};
}

// A call that has not begun ends at once; what has begun is awaited later.
absl::Status ErrorAtOnce(Ticket& ticket) {
  return ticket.done() ? ticket.Wait(absl::ZeroDuration()) : absl::OkStatus();
}

}  // namespace

UpdateFragment::UpdateFragment(std::string key, std::string weight_key, std::vector<GroupPart> tensors,
                               bool has_momentum)
    : key_(std::move(key)), weight_key_(std::move(weight_key)), tensors_(std::move(tensors)) {
  outer_.reserve(tensors_.size());
  for (const GroupPart& each : tensors_) {
    outer_.emplace_back(each.agreed, has_momentum);
    elements_ += each.agreed.elements();
  }
}

absl::Status UpdateFragment::Init(Session& session, absl::Duration timeout) {
  const absl::Status status = session.InitGroup(key_, tensors_).Wait(timeout);
  if (!status.ok()) return status;
  for (OuterTensor& each : outer_) each.Begin();
  return absl::OkStatus();
}

absl::Status UpdateFragment::InitWeight(Session& session, absl::Duration timeout) {
  if (weight_key_.empty()) return absl::OkStatus();
  const absl::Span<float> weight(&weight_, 1);
  return session.Init(weight_key_, weight, weight).Wait(timeout);
}

absl::Status UpdateFragment::Start(Session& session, double weight) {
  std::vector<ConstTensorView> gradients;
  std::vector<TensorView> results;
  for (OuterTensor& each : outer_) {
    each.Compare(weight);
    gradients.emplace_back(each.exchanged());
    results.emplace_back(each.exchanged());
  }
  // What an earlier try has sent stands.
  if (!weight_key_.empty() && !weight_round_.has_value()) {
    weight_ = static_cast<float>(weight);
    const absl::Span<float> own(&weight_, 1);
    weight_round_ = session.PushPull(weight_key_, own, own);
    if (absl::Status status = ErrorAtOnce(*weight_round_); !status.ok()) {
      weight_round_.reset();
      return status;
    }
  }
  round_ = session.PushPullGroup(key_, gradients, results);
  absl::Status status = ErrorAtOnce(*round_);
  if (!status.ok()) round_.reset();
  return status;
}

absl::Status UpdateFragment::Finish(const OuterStep& step, double alpha, absl::Duration timeout) {
  if (absl::Status status = round_->Wait(timeout); !status.ok()) return status;
  if (weight_round_.has_value()) {
    if (absl::Status status = weight_round_->Wait(timeout); !status.ok()) return status;
  }
  for (OuterTensor& each : outer_) {
    each.Move(step, weight_);
    each.Load(alpha);
  }
  round_.reset();
  weight_round_.reset();
  return absl::OkStatus();
}

void UpdateFragment::Load() {
  for (OuterTensor& each : outer_) each.Load(0);
}

void UpdateFragment::AddStateParts(std::vector<StatePart>& parts) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].values.empty()) continue;
    parts.push_back(PartOf(absl::StrCat(tensors_[i].name, "/parameters"), outer_[i].parameters()));
    if (outer_[i].momentum().empty()) continue;
    parts.push_back(PartOf(absl::StrCat(tensors_[i].name, "/momentum"), outer_[i].momentum()));
  }
}

}  // namespace banyan
