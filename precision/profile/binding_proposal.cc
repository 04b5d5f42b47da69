#include "precision/profile/binding_proposal.h"

#include <initializer_list>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

// Returns the first of `parts` that the name has, or an empty word.
absl::string_view PartOf(absl::string_view name, std::initializer_list<absl::string_view> parts) {
  for (absl::string_view part : parts) {
    if (absl::StrContains(name, part)) return part;
  }
  return "";
}

absl::string_view HeadPart(absl::string_view name) {
  return PartOf(name, {"classifier", "lm_head", "embed_out", "pooler", "head.", "cls.", "logits"});
}

SliceBinding FullPrecision(TensorRole role, std::string reason) {
  SliceBinding slice;
  slice.role = role;
  slice.reason = std::move(reason);
  return slice;
}

SliceBinding Propose(const NamedShape& tensor, bool is_last_matrix, LowBitFamily family) {
  const std::string name = absl::AsciiStrToLower(tensor.name);
  const auto named = [](absl::string_view part) { return absl::StrCat("its name has '", part, "'"); };
  if (absl::EndsWith(name, "bias")) return FullPrecision(TensorRole::kBias, "its name ends in 'bias'");
  if (const auto part = PartOf(name, {"norm", "ln_", "ln.", ".bn", "bn1", "bn2", "bn3"}); !part.empty()) {
    return FullPrecision(TensorRole::kNorm, named(part));
  }
  if (const auto part = HeadPart(name); !part.empty()) return FullPrecision(TensorRole::kHead, named(part));
  if (const auto part = PartOf(name, {"embed", "wte", "wpe"}); !part.empty()) {
    return FullPrecision(TensorRole::kEmbedding, named(part));
  }
  if (tensor.dimensions.size() < 2)
    return FullPrecision(TensorRole::kOther, "it is no matrix and its name says nothing");
  if (is_last_matrix) return FullPrecision(TensorRole::kHead, "the last matrix, and no name tells the head");
  SliceBinding slice;
  slice.is_candidate = true;
  slice.family = family;
  slice.role = tensor.dimensions.size() > 2 ? TensorRole::kBackbone : TensorRole::kEncoder;
  slice.reason = tensor.dimensions.size() > 2 ? "a convolution" : "a weight matrix";
  return slice;
}

// Returns the place of the matrix that is taken for the head; nothing where a name tells it.
std::optional<size_t> UnnamedHead(const std::vector<NamedShape>& tensors) {
  std::optional<size_t> last;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!HeadPart(absl::AsciiStrToLower(tensors[i].name)).empty()) return std::nullopt;
    if (tensors[i].dimensions.size() == 2) last = i;
  }
  return last;
}

}  // namespace

PrecisionBinding ProposeBinding(const std::vector<NamedShape>& tensors, LowBitFamily family, std::string name,
                                std::string source) {
  const std::optional<size_t> head = UnnamedHead(tensors);
  std::vector<TensorBinding> bound;
  for (size_t i = 0; i < tensors.size(); ++i) {
    SliceBinding slice = Propose(tensors[i], i == head, family);
    slice.elements = tensors[i].elements();
    bound.push_back({tensors[i].name, slice.elements, {std::move(slice)}});
  }
  return PrecisionBinding(std::move(name),
                          {std::move(source), "banyan preflight --propose", "names and shapes alone; read before use"},
                          std::move(bound));
}

}  // namespace banyan
