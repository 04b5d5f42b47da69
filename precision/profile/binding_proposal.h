// Proposes a binding from the names and shapes of a model's tensors, as the common libraries name them. Whoever knows
// the model reads the proposal before a run takes it: each tensor comes with the reason for its route. Pure function.
#ifndef BANYAN_PRECISION_PROFILE_BINDING_PROPOSAL_H_
#define BANYAN_PRECISION_PROFILE_BINDING_PROPOSAL_H_

#include <string>
#include <vector>

#include "precision/profile/named_shape.h"
#include "precision/profile/precision_binding.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

// Weight matrices and convolutions may go low-bit. Embeddings, norms, biases, heads and what is not recognised stay
// FP32. Where no name says that it is the head, the last matrix is taken for it. `source` says where the list is from.
PrecisionBinding ProposeBinding(const std::vector<NamedShape>& tensors, LowBitFamily family, std::string name,
                                std::string source);

}  // namespace banyan

#endif  // BANYAN_PRECISION_PROFILE_BINDING_PROPOSAL_H_
