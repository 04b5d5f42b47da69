// The tensors of a model by name and shape, and a binding proposed from them. Values and pure functions.
#ifndef BANYAN_PRECISION_PROFILE_BINDING_PROPOSAL_H_
#define BANYAN_PRECISION_PROFILE_BINDING_PROPOSAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "precision/profile/precision_binding.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

struct NamedShape {
  std::string name;
  std::vector<int64_t> dimensions;  // empty for a single number

  int64_t elements() const {
    int64_t product = 1;
    for (int64_t dimension : dimensions) product *= dimension;
    return product;
  }
};

// Reads the plain list in which a file tells them: one tensor a line, as in `encoder.layer.0.attention.q.weight
// 768x768`. Empty lines and what follows a # do not count. INVALID_ARGUMENT reads `file:line: what was expected, what
// came`. Names are told once.
absl::StatusOr<std::vector<NamedShape>> ReadTensorList(absl::string_view text, absl::string_view file_name);

// Proposes a binding from tensors as the common libraries name them. Whoever knows the model reads the proposal before
// a run takes it: each tensor comes with the reason for its route. Weight matrices and convolutions may go low-bit.
// Embeddings, norms, biases, heads and what is not recognised stay FP32. Where no name says that it is the head, the
// last matrix is taken for it. `source` says where the list is from.
PrecisionBinding ProposeBinding(const std::vector<NamedShape>& tensors, LowBitFamily family, std::string name,
                                std::string source);

}  // namespace banyan

#endif  // BANYAN_PRECISION_PROFILE_BINDING_PROPOSAL_H_
