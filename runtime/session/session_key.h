// One key as its session knows it: its memory, who has which slot, which rounds are open. Thread-compatible; guarded by
// SessionKeys' mutex.
//
// Invariants:
// - A slot is free, or in the hands of the node or of the worker.
// - A round is open from the call that pushes it until the node completes it or refuses the call. At most as many
//   rounds are open as the job has in flight.
#ifndef BANYAN_RUNTIME_SESSION_SESSION_KEY_H_
#define BANYAN_RUNTIME_SESSION_SESSION_KEY_H_

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/data_type.h"
#include "core/tensor_view.h"
#include "posix/home_process.h"
#include "proto/session_messages.h"
#include "runtime/workers/tensor_segment.h"

namespace banyan {

class SessionKey {
 public:
  enum class State { kOpening, kOpened, kReady, kFailed };
  // Who has a slot. The session keeps results only while it copies them.
  enum class Holder : uint8_t { kNobody, kNode, kWorker, kSession };
  struct Slots {
    uint32_t gradient = 0;
    uint32_t result = 0;
    uint64_t round = 0;
  };

  explicit SessionKey(int64_t elements, DataType type = DataType::kFloat32) : elements_(elements), type_(type) {}

  int64_t elements() const { return elements_; }
  // Of the tensor in memory: an empty one has one that nobody sees.
  int64_t slot_elements() const { return std::max<int64_t>(elements_, 1); }
  DataType type() const { return type_; }
  State state() const { return state_; }
  const absl::Status& failure() const { return failure_; }
  TensorId tensor() const { return tensor_; }
  const std::shared_ptr<TensorSegment>& segment() const { return segment_; }

  void Opened(TensorId tensor, std::shared_ptr<TensorSegment> segment);
  void Fail(absl::Status status);
  // Takes memory that comes after the key has failed, for the case that its Init is called again.
  void Keep(TensorId tensor, std::shared_ptr<TensorSegment> segment);
  // Whether an Init that never reached the node's core has failed, so that another may follow; then begins anew.
  bool Retry();

  // Takes the slots and the round of a call that may start now; nothing while it must wait. `lent` is the gradient slot
  // that the worker has filled.
  std::optional<Slots> Take(TensorCallKind kind, uint32_t rounds_in_flight,
                            std::optional<uint32_t> lent = std::nullopt);
  void GradientFreed(uint32_t slot);
  // Takes the answer to the call of this kind on these slots. `round` is what the node calls the call's round; 0 when
  // it names none.
  void Answered(TensorCallKind kind, const Slots& slots, bool ok, uint64_t round);
  // Closes a round, by the node's number.
  void RoundCompleted(uint64_t round);

  // Lends a gradient slot to the worker; nothing while the node has them all, or before Init is done.
  std::optional<uint32_t> LendGradient();
  // Leaves the result of an answered call with the worker or the session. REQUIRES: it is free.
  void LendResult(uint32_t slot, Holder holder);
  void GiveBackGradient(uint32_t slot);
  void GiveBackResult(uint32_t slot);
  // The round that the next push opens.
  uint64_t next_round() const { return last_round_ + 1; }
  // INVALID_ARGUMENT unless what a call of this kind has is of the key's size and type.
  absl::Status CheckShapes(TensorCallKind kind, ConstTensorView gradient, ConstTensorView result) const;
  // Says whether a round that was pushed is not over.
  bool HasOpenRounds() const { return !open_rounds_.empty(); }
  // Says whether the worker has all of a kind.
  bool AllGradientsLent() const { return AllLent(gradients_); }
  bool AllResultsLent() const { return AllLent(results_); }
  // FAILED_PRECONDITION where the worker itself has all of what a call needs: nothing that the node does makes room.
  absl::Status CheckHeld(bool gradient, bool result) const;

 private:
  static std::optional<uint32_t> FirstFree(const std::vector<Holder>& slots);
  static bool AllLent(const std::vector<Holder>& slots);

  const int64_t elements_;
  const DataType type_;
  State state_ = State::kOpening;
  absl::Status failure_;
  bool is_refused_ = false;  // its Init, by the node's core
  TensorId tensor_;
  std::shared_ptr<TensorSegment> segment_;  // shared with calls that are copying
  std::vector<Holder> gradients_;
  std::vector<Holder> results_;
  uint64_t last_round_ = 0;
  // By this session's count, which runs ahead when the node refuses a call: the node's number, once it has taken the
  // call.
  std::map<uint64_t, std::optional<uint64_t>> open_rounds_;
};

// The keys of one session, and what guards them. Shared by the session and the leases on its slots, which may outlive
// it.
struct SessionKeys {
  const HomeProcess process;
  std::mutex mutex;
  std::condition_variable changed;          // a slot, a round or a key's state; the session's failure, too
  std::map<std::string, SessionKey> named;  // guarded by mutex; no key ever goes

  // Adds a key, in the place of one whose Init has failed. ALREADY_EXISTS when there is another one of the same shape,
  // INVALID_ARGUMENT for another shape. The mutex is held.
  absl::Status Add(const std::string& name, int64_t elements, DataType type = DataType::kFloat32);
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_SESSION_KEY_H_
