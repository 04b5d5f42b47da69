#include "core/tensor_layout.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/digest.h"

namespace banyan {
namespace {

// Returns what a shape is at its part `index`, which another one is not.
std::string DescribePart(const TensorShape& shape, size_t index) {
  const std::vector<TensorLayout::Part>& parts = shape.layout.parts;
  if (parts.empty()) return absl::StrCat(shape.elements, " elements as a single tensor");
  if (index >= parts.size()) return absl::StrCat(parts.size(), " tensors");
  return absl::StrCat("'", parts[index].name, "' with ", parts[index].elements, " elements as tensor ", index + 1);
}

}  // namespace

int64_t TensorLayout::Elements() const {
  int64_t elements = 0;
  for (const Part& part : parts) elements += part.elements;
  return elements;
}

uint64_t TensorLayout::Hash() const {
  const auto number = static_cast<uint64_t>(type);
  if (parts.empty()) return number == 0 ? 0 : Digest({number});
  uint64_t hash = number == 0 ? parts.size() : Digest({number, parts.size()});
  for (const Part& part : parts) {
    const absl::Span<const uint8_t> name(reinterpret_cast<const uint8_t*>(part.name.data()), part.name.size());
    hash = DigestBytes(name, Digest({hash, static_cast<uint64_t>(part.elements), part.name.size()}));
  }
  return hash == 0 ? 1 : hash;
}

std::pair<std::string, std::string> DescribeDifference(const TensorShape& one, const TensorShape& other) {
  if (one.layout.type != other.layout.type) {
    return {absl::StrCat(NameOf(one.layout.type), " elements"), absl::StrCat(NameOf(other.layout.type), " elements")};
  }
  if (!one.layout.is_group() && !other.layout.is_group()) {
    return {absl::StrCat(one.elements, " elements"), absl::StrCat(other.elements)};
  }
  const auto& parts = one.layout.parts;
  const auto& others = other.layout.parts;
  const auto first = std::mismatch(parts.begin(), parts.end(), others.begin(), others.end()).first;
  const size_t index = first - parts.begin();
  return {DescribePart(one, index), DescribePart(other, index)};
}

}  // namespace banyan
