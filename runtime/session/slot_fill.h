// How a gradient gets into a slot of shared memory, and how many of its values are not finite: node and job are told.
// Pure functions.
#ifndef BANYAN_RUNTIME_SESSION_SLOT_FILL_H_
#define BANYAN_RUNTIME_SESSION_SLOT_FILL_H_

#include <cstdint>
#include <functional>

#include "compression/kernels/not_finite.h"
#include "core/tensor_view.h"
#include "runtime/workers/tensor_call_kind.h"

namespace banyan {

// Writes a gradient into a slot, and returns how many of its values are not finite.
using SlotFill = std::function<int64_t(TensorView slot)>;

inline SlotFill CopyOf(ConstTensorView values) {
  return [values](TensorView slot) { return values.empty() ? 0 : CopyCountingNotFinite(values, slot); };
}

// Fills the slot of a call, or takes it as it is without `fill`. Returns how many values of a gradient are not finite;
// 0 for a call that begins no round.
inline uint64_t FillSlot(const SlotFill& fill, TensorCallKind kind, TensorView slot) {
  if (slot.empty() || (!fill && !OpensRound(kind))) return 0;
  const int64_t not_finite = fill ? fill(slot) : CountNotFinite(ConstTensorView(slot));
  return OpensRound(kind) ? static_cast<uint64_t>(not_finite) : 0;
}

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_SLOT_FILL_H_
