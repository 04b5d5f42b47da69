// What a session knows of one key: its memory, who has which slot, which rounds are open. Thread-compatible; guarded by
// SessionKeys' mutex.
#ifndef BANYAN_RUNTIME_SESSION_KEY_H_
#define BANYAN_RUNTIME_SESSION_KEY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "proto/session_messages.h"
#include "runtime/tensor_call_kind.h"
#include "runtime/tensor_segment.h"

namespace banyan {

class SessionKey {
 public:
  enum class State { kOpening, kOpened, kReady, kFailed };
  struct Slots {
    uint32_t gradient = 0;
    uint32_t result = 0;
    uint64_t round = 0;
  };

  explicit SessionKey(int64_t elements) : elements_(elements) {}

  int64_t elements() const { return elements_; }
  State state() const { return state_; }
  const absl::Status& failure() const { return failure_; }
  TensorId tensor() const { return tensor_; }
  const std::shared_ptr<TensorSegment>& segment() const { return segment_; }
  // Calls that will say when a round is complete.
  int awaited() const { return awaited_; }
  bool has_open_rounds() const { return !open_rounds_.empty(); }

  void Opened(TensorId tensor, std::shared_ptr<TensorSegment> segment);
  void Fail(absl::Status status);

  // The slots and the round of a call that may start now; nothing while it must wait. `lent`: the gradient slot that
  // the worker has filled.
  std::optional<Slots> Take(TensorCallKind kind, uint32_t rounds_in_flight,
                            std::optional<uint32_t> lent = std::nullopt);
  void GradientFreed(uint32_t slot);
  // The call of this kind on these slots is answered.
  void Answered(TensorCallKind kind, const Slots& slots, bool ok);

  // A gradient slot for the worker; nothing while the node has them all, or before Init is done.
  std::optional<uint32_t> LendGradient();
  // The result of an answered call stays with the worker. REQUIRES: it is free.
  void LendResult(uint32_t slot);
  void GiveBackGradient(uint32_t slot);
  void GiveBackResult(uint32_t slot);
  // The worker has all of a kind: nothing that the node does makes room for another call.
  bool AllGradientsLent() const;
  bool AllResultsLent() const;

 private:
  enum class Holder : uint8_t { kNobody, kNode, kWorker };

  static std::optional<uint32_t> FirstFree(const std::vector<Holder>& slots);
  static bool AllLent(const std::vector<Holder>& slots);

  const int64_t elements_;
  State state_ = State::kOpening;
  absl::Status failure_;
  TensorId tensor_;
  std::shared_ptr<TensorSegment> segment_;  // shared with calls that are copying
  std::vector<Holder> gradients_;
  std::vector<Holder> results_;
  int awaited_ = 0;
  uint64_t last_round_ = 0;
  std::set<uint64_t> open_rounds_;  // pushed, and not known to be complete
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_KEY_H_
