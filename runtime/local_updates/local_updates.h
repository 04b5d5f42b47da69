// Local updates over a Session: workers train by themselves for many steps, and then move together. DiLoCo
// (arXiv:2311.08105), its streaming form (arXiv:2501.18512), local SGD (arXiv:1805.09767) and HFA of GeoMX are choices
// of options. Installed as <banyan/local_updates.h>.
//
//   auto updates = banyan::LocalUpdates::Begin(*session, {{{"w", values}}}, banyan::DiLoCo(/*sync_every=*/50));
//   for (...) {
//     ... one step of any optimizer on `values` ...
//     absl::Status done = (*updates)->Step();
//   }
//   absl::Status done = (*updates)->Flush();
//
// What a worker sends is its outer gradient: where it began minus where it is. Every worker takes the same outer step
// along the same mean, so all have the outer momentum, and no death takes it along. How outer gradients travel is the
// job's choice, by `compression.rules` for the keys `outer/*`; its `aggregation.op` is mean. Sites may use
// banyan.torch instead, whose tensors are called like "fc.weight(12x8)" here.
#ifndef BANYAN_RUNTIME_LOCAL_UPDATES_LOCAL_UPDATES_H_
#define BANYAN_RUNTIME_LOCAL_UPDATES_LOCAL_UPDATES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/tensor_view.h"
#include "runtime/session/session.h"

namespace banyan {

class LocalActions;
class UpdateFragment;

// A tensor of the model in its own memory, of float32, float16 or bfloat16; those of a fragment are of one type. Names,
// sizes and order are the same at all sites.
struct ModelTensor {
  std::string name;
  TensorView values;
};

// Makes a tensor of the model its mean over the workers of one site, by whatever costs little there, such as MPI. All
// of them call it alike.
using SiteMean = std::function<absl::Status(TensorView values)>;

// The same in all workers.
struct LocalUpdateOptions {
  int64_t sync_every = 100;          // steps between two rounds of a fragment
  int64_t fragment_sync_delay = 0;   // steps from sending a fragment to waiting for it; below sync_every
  double fragment_update_alpha = 0;  // what a worker keeps of its own when a result comes, in [0, 1)
  double learning_rate = 0.7;        // of the outer SGD
  double momentum = 0.9;             // Nesterov's; 0 for none
  bool is_weighted = false;          // workers count by their set_weight, in jobs that leave none out of rounds
  int64_t site_every = 0;            // steps between two means of a site; 0: there are none
  SiteMean site_mean = {};           // REQUIRED with site_every
  std::string name = "outer";        // what the job's keys begin with
};

// The whole model every `sync_every` steps, with Nesterov momentum.
LocalUpdateOptions DiLoCo(int64_t sync_every = 100);
// Fragments take turns while training goes on, with the defaults of the paper. Give Begin four fragments.
LocalUpdateOptions StreamingDiLoCo(int64_t sync_every = 100);
// The mean of the parameters.
LocalUpdateOptions LocalSgd(int64_t sync_every = 8);
// The mean of the parameters on two levels: every `k1` steps in the site, every `k1 * k2` steps in the job.
LocalUpdateOptions Hfa(SiteMean site_mean, int64_t k1 = 20, int64_t k2 = 10);

// Thread-compatible. Does not own the model. Destroyed with a fragment under way, it waits for that: Flush before, or
// destroy the session first.
//
// Invariants:
// - Between two rounds of a fragment its outer parameters and momentum are the same in all workers.
// - The model is written in Begin, Step, Flush and Load alone.
class LocalUpdates {
 public:
  // Gives all workers the parameters of the lowest one; waits until all have called it. Fragments are sent in turn,
  // spread over `sync_every` steps. `session` outlives the calls of this. Errors: INVALID_ARGUMENT naming the option or
  // tensor, FAILED_PRECONDITION where results of the job are no means, and those of Session::InitGroup.
  static absl::StatusOr<std::unique_ptr<LocalUpdates>> Begin(Session& session,
                                                             std::vector<std::vector<ModelTensor>> fragments,
                                                             LocalUpdateOptions options,
                                                             absl::Duration timeout = absl::InfiniteDuration());
  LocalUpdates(const LocalUpdates&) = delete;
  LocalUpdates& operator=(const LocalUpdates&) = delete;
  ~LocalUpdates();

  // Counts an inner step that is done, and does what is due after it. Errors: FAILED_PRECONDITION, and nothing is
  // counted, while this worker is late and has called no ShareState; those of Session's PushPullGroup, and of
  // `site_mean`. What an error has kept from being done is due at the next Step or Flush; so after DEADLINE_EXCEEDED
  // either waits on. Each fragment is waited for until `timeout`.
  absl::Status Step(absl::Duration timeout = absl::InfiniteDuration());
  // Waits for what is under way, at the end of training.
  absl::Status Flush(absl::Duration timeout = absl::InfiniteDuration());

  // How much this worker's next outer gradients count: its samples or tokens. FAILED_PRECONDITION without is_weighted,
  // INVALID_ARGUMENT for less than 0.
  absl::Status set_weight(double weight);
  // Of the outer steps from here on; a change takes place in all workers after the same step.
  void set_learning_rate(double rate) { counters_.learning_rate = rate; }

  // What Session::ShareState takes: the outer parameters, the momentum, and the place in the schedule. Pass boundaries
  // only while nothing is pending: FetchState then brings the newcomer all of it, and Load sets the model. So nobody
  // can come late where something is always pending, as with a delay of sync_every / fragments or more. The memory
  // stays where it is while this lives.
  std::vector<StatePart> StateParts();
  // Sets the model to the outer parameters.
  void Load();

  // Tells whether a fragment has been sent whose result is not in yet.
  bool is_pending() const;
  int64_t local_step() const { return counters_.local_step; }
  // Rounds of all fragments.
  int64_t outer_step() const { return counters_.outer_step; }
  // By this worker, in all.
  int64_t sent_elements() const { return sent_elements_; }
  // For results, in all.
  absl::Duration waited() const { return waited_; }

 private:
  // What is shared beside tensors.
  struct Counters {
    int64_t local_step = 0;
    int64_t outer_step = 0;
    double learning_rate = 0;
  };

  LocalUpdates(Session& session, std::vector<std::vector<ModelTensor>> fragments, LocalUpdateOptions options);
  absl::Status Init(absl::Duration timeout);
  absl::Status DoWhatIsDue(absl::Duration timeout);
  absl::Status TakeSiteMean();
  absl::Status Start(UpdateFragment& fragment);
  absl::Status Finish(UpdateFragment& fragment, absl::Duration timeout);

  Session& session_;
  const LocalUpdateOptions options_;
  double weight_ = 1;
  Counters counters_;
  uint64_t late_after_ = 0;  // the last round before this worker began
  int64_t sent_elements_ = 0;
  absl::Duration waited_;
  std::unique_ptr<LocalActions> actions_;
  std::vector<std::unique_ptr<UpdateFragment>> fragments_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_LOCAL_UPDATES_LOCAL_UPDATES_H_
