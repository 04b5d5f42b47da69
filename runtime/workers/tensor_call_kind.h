// Says what a call on a tensor has and does, by its kind. Free functions; thread-safe.
#ifndef BANYAN_RUNTIME_WORKERS_TENSOR_CALL_KIND_H_
#define BANYAN_RUNTIME_WORKERS_TENSOR_CALL_KIND_H_

#include "proto/session_messages.h"

namespace banyan {

inline bool HasGradient(TensorCallKind kind) { return kind != TensorCallKind::kPull; }
inline bool HasResult(TensorCallKind kind) {
  return kind != TensorCallKind::kPush && kind != TensorCallKind::kRegisterWeights;
}
// Says whether a call of this kind belongs to a round: a new one, or one that has begun.
inline bool IsOfARound(TensorCallKind kind) { return kind != TensorCallKind::kRegisterWeights; }
// Says whether a call of this kind begins the key's next round.
inline bool OpensRound(TensorCallKind kind) {
  return IsOfARound(kind) && kind != TensorCallKind::kInit && kind != TensorCallKind::kPull;
}

}  // namespace banyan

#endif  // BANYAN_RUNTIME_WORKERS_TENSOR_CALL_KIND_H_
