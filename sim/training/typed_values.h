// The values of simulated workers, which are numbers that float32 has, in a tensor's own type and back. Pure functions.
#ifndef BANYAN_SIM_TRAINING_TYPED_VALUES_H_
#define BANYAN_SIM_TRAINING_TYPED_VALUES_H_

#include "absl/types/span.h"
#include "core/buffer.h"
#include "core/data_type.h"

namespace banyan {

// Returns `values` in memory of this type, rounded where it does not have them.
Buffer InType(Buffer values, DataType type);

// Writes values of any type to `to`. REQUIRES: equal lengths.
void WriteAsFloats(const Buffer& values, absl::Span<float> to);

}  // namespace banyan

#endif  // BANYAN_SIM_TRAINING_TYPED_VALUES_H_
