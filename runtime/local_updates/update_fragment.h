// A part of a model that is sent at once. Thread-compatible; owned by LocalUpdates.
#ifndef BANYAN_RUNTIME_LOCAL_UPDATES_UPDATE_FRAGMENT_H_
#define BANYAN_RUNTIME_LOCAL_UPDATES_UPDATE_FRAGMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/local_updates/outer_tensor.h"
#include "runtime/session/session.h"

namespace banyan {

class UpdateFragment {
 public:
  // `key` is the name of its group in the job, `weight_key` that of the workers' weights; empty for none. The model is
  // what `tensors` agree on.
  UpdateFragment(std::string key, std::string weight_key, std::vector<GroupPart> tensors, bool has_momentum);

  // Makes its group known, and gives the model the parameters of the lowest worker.
  absl::Status Init(Session& session, absl::Duration timeout);
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

}  // namespace banyan

#endif  // BANYAN_RUNTIME_LOCAL_UPDATES_UPDATE_FRAGMENT_H_
