#include "precision/profile/binding_proposal.h"

#include <initializer_list>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

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

constexpr int64_t kMostShapeElements = int64_t{1} << 40;

// "768x3072", each at least 1; nothing where it is something else, or too large to be a tensor.
std::optional<std::vector<int64_t>> ParseShape(absl::string_view text) {
  std::vector<int64_t> dimensions;
  int64_t elements = 1;
  for (absl::string_view part : absl::StrSplit(text, 'x')) {
    int64_t dimension = 0;
    if (!absl::SimpleAtoi(part, &dimension) || dimension < 1 || dimension > kMostShapeElements / elements) {
      return std::nullopt;
    }
    elements *= dimension;
    dimensions.push_back(dimension);
  }
  return dimensions;
}

}  // namespace

absl::StatusOr<std::vector<NamedShape>> ReadTensorList(absl::string_view text, absl::string_view file_name) {
  std::vector<NamedShape> tensors;
  std::set<std::string> names;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::vector<absl::string_view> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    const std::optional<std::vector<int64_t>> shape = words.size() == 2 ? ParseShape(words[1]) : std::nullopt;
    if (!shape.has_value()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s:%d: expected a name and a shape such as `fc1.weight 128x784`, got '%s'", file_name, number, line));
    }
    if (!names.insert(std::string(words[0])).second) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s:%d: tensor '%s' is listed twice; remove one", file_name, number, words[0]));
    }
    tensors.push_back({std::string(words[0]), *shape});
  }
  if (tensors.empty()) {
    return absl::InvalidArgumentError(absl::StrFormat("%s: expected a line for each tensor, got none", file_name));
  }
  return tensors;
}

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
