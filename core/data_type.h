// The types of numbers in memory and in tensors. Pure functions.
#ifndef BANYAN_CORE_DATA_TYPE_H_
#define BANYAN_CORE_DATA_TYPE_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace banyan {

// The numbers up to kLastElementType are those of the wire, of records and of banyan.h.
enum class DataType : uint8_t { kFloat32, kFloat16, kBFloat16, kFloat64, kInt32, kInt64, kByte };
// The greatest that a tensor's elements can have.
inline constexpr DataType kLastElementType = DataType::kInt64;

// Returns the bytes of one number.
inline constexpr int64_t SizeOf(DataType type) {
  switch (type) {
    case DataType::kFloat32:
    case DataType::kInt32:
      return 4;
    case DataType::kFloat16:
    case DataType::kBFloat16:
      return 2;
    case DataType::kFloat64:
    case DataType::kInt64:
      return 8;
    case DataType::kByte:
      break;
  }
  return 1;
}

// Returns "float32", "bfloat16" and so on.
inline constexpr absl::string_view NameOf(DataType type) {
  constexpr absl::string_view kNames[] = {"float32", "float16", "bfloat16", "float64", "int32", "int64", "byte"};
  return kNames[static_cast<int>(type)];
}

inline constexpr bool IsHalf(DataType type) { return type == DataType::kFloat16 || type == DataType::kBFloat16; }
inline constexpr bool IsInteger(DataType type) { return type == DataType::kInt32 || type == DataType::kInt64; }
// Types whose sums are their own, and which travel as they are whatever a job's compression is.
inline constexpr bool IsExact(DataType type) { return type == DataType::kFloat64 || IsInteger(type); }
// Returns the type in which elements of `type` are summed, and results are held: float32 for halves.
inline constexpr DataType SumTypeOf(DataType type) { return IsHalf(type) ? DataType::kFloat32 : type; }

}  // namespace banyan

#endif  // BANYAN_CORE_DATA_TYPE_H_
