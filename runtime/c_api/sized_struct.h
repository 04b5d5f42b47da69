// Reads structs of the C interface, which begin with the size that their caller knows. Pure function.
#ifndef BANYAN_RUNTIME_C_API_SIZED_STRUCT_H_
#define BANYAN_RUNTIME_C_API_SIZED_STRUCT_H_

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace banyan {

// Copies `given`, which may be null: all defaults. Fields that the caller's header does not have are zero. Errors:
// INVALID_ARGUMENT, with `name`, for no size, and for fields that this library does not know and that are not zero.
template <typename Struct>
absl::StatusOr<Struct> ReadSized(const Struct* given, absl::string_view name) {
  Struct read = {};
  read.size = sizeof(Struct);
  if (given == nullptr) return read;
  const size_t size = given->size;
  if (size < sizeof(size_t)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ".size: expected sizeof(", name, "), ", sizeof(Struct), " here, got ", size));
  }
  const char* const bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof(Struct); i < size; ++i) {
    if (bytes[i] == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(name, ": byte ", i, " is set, and this library knows only ",
                                                   sizeof(Struct), " bytes: install a newer one"));
  }
  std::memcpy(&read, given, std::min(size, sizeof(Struct)));
  read.size = sizeof(Struct);
  return read;
}

}  // namespace banyan

#endif  // BANYAN_RUNTIME_C_API_SIZED_STRUCT_H_
