// The tensors of a model by name and shape, and the plain list in which a file tells them: one tensor a line, as in
// `encoder.layer.0.attention.q.weight 768x768`. Empty lines and what follows a # do not count. Pure functions.
#ifndef BANYAN_PRECISION_PROFILE_NAMED_SHAPE_H_
#define BANYAN_PRECISION_PROFILE_NAMED_SHAPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

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

// INVALID_ARGUMENT reads `file:line: what was expected, what came`. Names are told once.
absl::StatusOr<std::vector<NamedShape>> ReadTensorList(absl::string_view text, absl::string_view file_name);

}  // namespace banyan

#endif  // BANYAN_PRECISION_PROFILE_NAMED_SHAPE_H_
