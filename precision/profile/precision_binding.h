// Which tensors, or slices of one, may take part in low-bit rounds: the structure of a model beside what its operating
// profile knows of the workload (NEURON-Fabric, Wang, Huang and Lung, 2026, section 5). What a binding does not name is
// FP32. Immutable after ReadBinding; thread-compatible.
#ifndef BANYAN_PRECISION_PROFILE_PRECISION_BINDING_H_
#define BANYAN_PRECISION_PROFILE_PRECISION_BINDING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "precision/profile/operating_profile.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

inline constexpr int kBindingSchema = 1;

// What a tensor does in the model. From kEmbedding on roles are sensitive: they stay FP32.
enum class TensorRole : uint8_t { kBackbone, kEncoder, kOther, kEmbedding, kNorm, kBias, kHead };

bool IsSensitive(TensorRole role);
absl::string_view RoleName(TensorRole role);
// "binary" or "ternary", as files have it.
absl::string_view FamilyName(LowBitFamily family);

struct SliceBinding {
  int64_t first = 0;  // element of the tensor
  int64_t elements = 0;
  TensorRole role = TensorRole::kOther;
  bool is_candidate = false;           // else it is FP32 only
  std::optional<LowBitFamily> family;  // that it may use; empty: any
  std::string reason;
};

struct TensorBinding {
  std::string name;
  int64_t elements = 0;
  std::vector<SliceBinding> slices;  // ascending, without overlap
};

class PrecisionBinding {
 public:
  PrecisionBinding() = default;
  // REQUIRES: names are told once, and slices lie in their tensors as TensorBinding says.
  PrecisionBinding(std::string name, Provenance provenance, std::vector<TensorBinding> tensors);

  const std::string& name() const { return name_; }
  const Provenance& provenance() const { return provenance_; }
  const std::vector<TensorBinding>& tensors() const { return tensors_; }
  // Returns nullptr where the binding does not name it.
  const TensorBinding* Find(absl::string_view tensor) const;
  // Returns slices that cover all `elements` of the tensor; what is not named is FP32.
  std::vector<SliceBinding> SlicesOf(absl::string_view tensor, int64_t elements) const;

  int64_t elements() const;
  int64_t candidate_elements() const;

 private:
  std::string name_;
  Provenance provenance_;
  std::vector<TensorBinding> tensors_;
  std::map<std::string, size_t, std::less<>> index_;
};

// Reads `text`; `file_name` only goes into messages. INVALID_ARGUMENT reads `file:line:column: what was expected, what
// came`.
absl::StatusOr<PrecisionBinding> ReadBinding(absl::string_view text, absl::string_view file_name);

// Returns the file that ReadBinding reads.
std::string BindingYaml(const PrecisionBinding& binding);

// What a job with low-bit rounds is told before it begins.
struct PrecisionFiles {
  OperatingProfile profile;
  PrecisionBinding binding;
};

}  // namespace banyan

#endif  // BANYAN_PRECISION_PROFILE_PRECISION_BINDING_H_
