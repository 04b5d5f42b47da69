#include "runtime/workers/group_description.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {

absl::Status GroupDescription::Add(const DescribeGroup& described) {
  for (const TensorLayout::Part& part : described.parts) {
    name_bytes_ += part.name.size();
    layout_.parts.push_back(part);
    if (layout_.parts.size() <= TensorLayout::kMostParts && name_bytes_ <= TensorLayout::kMostNameBytes) continue;
    *this = GroupDescription();
    return absl::ResourceExhaustedError(absl::StrCat("expected a group of at most ", TensorLayout::kMostParts,
                                                     " tensors, with names of ", TensorLayout::kMostNameBytes,
                                                     " bytes together"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorLayout> GroupDescription::Take(int64_t elements) {
  TensorLayout layout = std::exchange(*this, GroupDescription()).layout_;
  if (!layout.is_group() || layout.Elements() == elements) return layout;
  return absl::InvalidArgumentError(
      absl::StrCat("expected a group of ", elements, " elements, got tensors of ", layout.Elements()));
}

}  // namespace banyan
