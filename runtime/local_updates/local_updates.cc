#include "runtime/local_updates/local_updates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "posix/steady_clock.h"
#include "runtime/local_updates/local_actions.h"
#include "runtime/local_updates/outer_tensor.h"
#include "runtime/session/session.h"

namespace banyan {

// ---- a fragment ----

namespace {

StatePart PartOf(std::string name, absl::Span<float> values) {
  return {std::move(name), {reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(float)}};
}

// A call that has not begun ends at once; what has begun is awaited later.
absl::Status ErrorAtOnce(Ticket& ticket) {
  return ticket.done() ? ticket.Wait(absl::ZeroDuration()) : absl::OkStatus();
}

}  // namespace

// A part of a model that is sent at once. Thread-compatible; owned by LocalUpdates.
class UpdateFragment {
 public:
  // `key` is the name of its group in the job, `weight_key` that of the workers' weights; empty for none. The model is
  // what `tensors` agree on.
  UpdateFragment(std::string key, std::string weight_key, std::vector<GroupPart> tensors, bool has_momentum);

  // Makes its group known, and gives the model the parameters of the lowest worker. Returns the last round before.
  absl::StatusOr<uint64_t> Init(Session& session, absl::Duration timeout);
  // Makes the key of the weights known, where there is one. All workers do so after the Init of all fragments.
  absl::Status InitWeight(Session& session, absl::Duration timeout);
  // Sends how far this worker has come since the last time. After an error, such as that no room came in time, it may
  // be called again. REQUIRES: it is not pending.
  absl::Status Start(Session& session, double weight);
  // Waits for the mean, steps along it, and blends the result into the model. After an error it is pending still.
  // REQUIRES: it is pending.
  absl::Status Finish(const OuterStep& step, double alpha, absl::Duration timeout);
  // Sets the model to the outer parameters.
  void Load();

  void AddStateParts(std::vector<StatePart>& parts);
  bool is_pending() const { return round_.has_value(); }
  int64_t elements() const { return elements_; }
  // Of the model.
  const std::vector<GroupPart>& tensors() const { return tensors_; }

 private:
  const std::string key_;
  const std::string weight_key_;
  const std::vector<GroupPart> tensors_;
  std::vector<OuterTensor> outer_;  // of each tensor
  int64_t elements_ = 0;
  float weight_ = 1;  // this worker's, and then the mean of all
  // Tickets go before the memory that their results come to.
  std::optional<Ticket> weight_round_;
  std::optional<Ticket> round_;
};

UpdateFragment::UpdateFragment(std::string key, std::string weight_key, std::vector<GroupPart> tensors,
                               bool has_momentum)
    : key_(std::move(key)), weight_key_(std::move(weight_key)), tensors_(std::move(tensors)) {
  outer_.reserve(tensors_.size());
  for (const GroupPart& each : tensors_) {
    outer_.emplace_back(each.agreed, has_momentum);
    elements_ += each.agreed.elements();
  }
}

absl::StatusOr<uint64_t> UpdateFragment::Init(Session& session, absl::Duration timeout) {
  Ticket init = session.InitGroup(key_, tensors_);
  if (absl::Status status = init.Wait(timeout); !status.ok()) return status;
  for (OuterTensor& each : outer_) each.Begin();
  return init.round();
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

// ---- all of them ----

namespace {

absl::Status CheckSchedule(const LocalUpdateOptions& options, size_t fragments) {
  if (fragments == 0 || options.sync_every < static_cast<int64_t>(fragments)) {
    return absl::InvalidArgumentError(
        absl::StrCat("sync_every: expected a fragment, and at least one step for each, got ", options.sync_every,
                     " for ", fragments));
  }
  if (options.fragment_sync_delay < 0 || options.fragment_sync_delay >= options.sync_every) {
    return absl::InvalidArgumentError(absl::StrCat("fragment_sync_delay: expected 0 to below sync_every=",
                                                   options.sync_every, ", got ", options.fragment_sync_delay));
  }
  if (options.site_every < 0 || (options.site_every > 0) != static_cast<bool>(options.site_mean)) {
    return absl::InvalidArgumentError(
        absl::StrCat("site_every: expected at least 1 with a site_mean and 0 without, got ", options.site_every));
  }
  return absl::OkStatus();
}

absl::Status CheckNumbers(const LocalUpdateOptions& options) {
  if (!(options.fragment_update_alpha >= 0 && options.fragment_update_alpha < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("fragment_update_alpha: expected 0 to below 1, got ", options.fragment_update_alpha));
  }
  if (!(options.learning_rate >= 0 && std::isfinite(options.learning_rate))) {
    return absl::InvalidArgumentError(
        absl::StrCat("learning_rate: expected a finite number of at least 0, got ", options.learning_rate));
  }
  if (!(options.momentum >= 0 && options.momentum < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("momentum: expected 0 to below 1, got ", options.momentum));
  }
  return absl::OkStatus();
}

// What results must be for an outer step: weighted workers divide by what comes of their weights, and so know a mean.
absl::Status CheckJob(const Session& session, bool is_weighted) {
  const absl::string_view op = session.aggregation_op();
  if (is_weighted && session.may_leave_out()) {
    return absl::FailedPreconditionError(
        "local updates: expected a job that counts all workers in each round, as weights have a key of their own; "
        "leave aggregation.quorum and not_finite: skip away, or is_weighted");
  }
  if (op == "mean" || (is_weighted && op == "sum")) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("local updates: expected a job whose aggregation.op is mean", is_weighted ? " or sum" : "", ", got ",
                   op, ", whose results are no mean; run a job with aggregation: {op: mean}"));
}

absl::Status CheckTypes(const std::vector<ModelTensor>& tensors) {
  for (const ModelTensor& each : tensors) {
    if (each.values.type() == DataType::kFloat32 || IsHalf(each.values.type())) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(each.name, ": expected float32, float16 or bfloat16, got ", NameOf(each.values.type())));
  }
  return absl::OkStatus();
}

}  // namespace

LocalUpdateOptions DiLoCo(int64_t sync_every) { return {.sync_every = sync_every}; }

LocalUpdateOptions StreamingDiLoCo(int64_t sync_every) {
  return {.sync_every = sync_every, .fragment_sync_delay = 5, .fragment_update_alpha = 0.5};
}

LocalUpdateOptions LocalSgd(int64_t sync_every) {
  return {.sync_every = sync_every, .learning_rate = 1, .momentum = 0};
}

LocalUpdateOptions Hfa(SiteMean site_mean, int64_t k1, int64_t k2) {
  LocalUpdateOptions options = LocalSgd(k1 * k2);
  options.site_every = k1;
  options.site_mean = std::move(site_mean);
  return options;
}

absl::StatusOr<std::unique_ptr<LocalUpdates>> LocalUpdates::Begin(Session& session,
                                                                  std::vector<std::vector<ModelTensor>> fragments,
                                                                  LocalUpdateOptions options, absl::Duration timeout) {
  absl::Status status = CheckSchedule(options, fragments.size());
  status.Update(CheckNumbers(options));
  for (const std::vector<ModelTensor>& each : fragments) status.Update(CheckTypes(each));
  status.Update(CheckJob(session, options.is_weighted));
  if (!status.ok()) return status;
  auto updates = absl::WrapUnique(new LocalUpdates(session, std::move(fragments), std::move(options)));
  if (status = updates->Init(timeout); !status.ok()) return status;
  return updates;
}

LocalUpdates::LocalUpdates(Session& session, std::vector<std::vector<ModelTensor>> fragments,
                           LocalUpdateOptions options)
    : session_(session), options_(std::move(options)) {
  counters_.learning_rate = options_.learning_rate;
  actions_ = std::make_unique<LocalActions>(LocalActions::Schedule{.sync_every = options_.sync_every,
                                                                   .fragments = static_cast<int64_t>(fragments.size()),
                                                                   .delay = options_.fragment_sync_delay,
                                                                   .site_every = options_.site_every});
  for (size_t i = 0; i < fragments.size(); ++i) {
    const std::string key = absl::StrCat(options_.name, "/", i);
    std::vector<GroupPart> tensors;
    for (const ModelTensor& each : fragments[i]) {
      tensors.push_back({absl::StrCat(key, "/", each.name), each.values, each.values});
    }
    std::string weight_key = options_.is_weighted ? absl::StrCat(options_.name, "-weight/", i) : "";
    fragments_.push_back(
        std::make_unique<UpdateFragment>(key, std::move(weight_key), std::move(tensors), options_.momentum > 0));
  }
}

LocalUpdates::~LocalUpdates() = default;

absl::Status LocalUpdates::Init(absl::Duration timeout) {
  absl::Status status;
  for (const auto& each : fragments_) {
    const absl::StatusOr<uint64_t> last_round = each->Init(session_, timeout);
    if (!last_round.ok()) return last_round.status();
    late_after_ = std::max(late_after_, *last_round);
  }
  // In the order of banyan.torch, as each init waits for all workers.
  for (const auto& each : fragments_) {
    if (status.ok()) status = each->InitWeight(session_, timeout);
  }
  if (!status.ok()) return status;
  // By it workers of banyan.torch tell whether what they do not train differs; 0 is a worker that knows of none.
  const std::vector<int64_t> nothing(1);
  return session_.Init(absl::StrCat(options_.name, "-fixed"), absl::MakeConstSpan(nothing)).Wait(timeout);
}

absl::Status LocalUpdates::Step(absl::Duration timeout) {
  if (late_after_ > 0 && !session_.HasSharedState()) {
    // Else it would hear that at its first synchronisation.
    return absl::FailedPreconditionError(absl::StrCat(
        "local updates: the job is past round ", late_after_, ", and this worker has not got its training state: call ",
        "ShareState and FetchState before the first step, or ShareState of no parts to begin without"));
  }
  actions_->Add(++counters_.local_step);
  return DoWhatIsDue(timeout);
}

absl::Status LocalUpdates::DoWhatIsDue(absl::Duration timeout) {
  for (; !actions_->due().empty(); actions_->PopFirst()) {
    const LocalAction& action = actions_->due().front();
    absl::Status status;
    if (action.kind == LocalAction::Kind::kSiteMean) {
      status = TakeSiteMean();
    } else if (UpdateFragment& fragment = *fragments_[action.fragment]; action.kind == LocalAction::Kind::kStart) {
      status = Start(fragment);
    } else {
      status = Finish(fragment, timeout);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LocalUpdates::TakeSiteMean() {
  for (const auto& fragment : fragments_) {
    for (const GroupPart& each : fragment->tensors()) {
      if (absl::Status status = options_.site_mean(each.agreed); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status LocalUpdates::Start(UpdateFragment& fragment) {
  absl::Status status = fragment.Start(session_, weight_);
  if (status.ok()) sent_elements_ += fragment.elements();
  return status;
}

absl::Status LocalUpdates::Finish(UpdateFragment& fragment, absl::Duration timeout) {
  if (!fragment.is_pending()) return absl::OkStatus();  // flushed, or sent before this worker came
  const Timestamp begun = SteadyNow();
  const OuterStep step = {.learning_rate = counters_.learning_rate, .momentum = options_.momentum};
  const absl::Status status = fragment.Finish(step, options_.fragment_update_alpha, timeout);
  waited_ += SteadyNow() - begun;
  if (status.ok()) ++counters_.outer_step;
  return status;
}

absl::Status LocalUpdates::Flush(absl::Duration timeout) {
  absl::Status status = DoWhatIsDue(timeout);
  for (const auto& each : fragments_) {
    if (status.ok()) status = Finish(*each, timeout);
  }
  return status;
}

absl::Status LocalUpdates::set_weight(double weight) {
  if (!options_.is_weighted) {
    return absl::FailedPreconditionError("set_weight: expected is_weighted, at all sites alike");
  }
  if (!(std::isfinite(weight) && weight >= 0)) {
    return absl::InvalidArgumentError(absl::StrCat("weight: expected a finite number of at least 0, got ", weight));
  }
  weight_ = weight;
  return absl::OkStatus();
}

std::vector<StatePart> LocalUpdates::StateParts() {
  std::vector<StatePart> parts;
  parts.push_back(
      {absl::StrCat(options_.name, "/counters"), {reinterpret_cast<uint8_t*>(&counters_), sizeof(counters_)}});
  for (const auto& each : fragments_) each->AddStateParts(parts);
  return parts;
}

void LocalUpdates::Load() {
  for (const auto& each : fragments_) each->Load();
}

bool LocalUpdates::is_pending() const {
  bool is_pending = false;
  for (const auto& each : fragments_) is_pending = is_pending || each->is_pending();
  return is_pending;
}

}  // namespace banyan
