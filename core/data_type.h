// The types of numbers in memory and in tensors. Pure functions.
#ifndef BANYAN_CORE_DATA_TYPE_H_
#define BANYAN_CORE_DATA_TYPE_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace banyan {

// The numbers up to kLastElementType are those of the wire, of records and of banyan.h.
enum class DataType : uint8_t {
  kFloat32,
  kFloat16,
  kBFloat16,
  kFloat64,
  kInt32,
  kInt64,
  // Of the same numbers, where rounds have a reduction of their own, whatever the job's aggregation is.
  kFloat64Sum,
  kFloat64Max,
  kFloat64Min,
  kFloat64Product,
  kInt32Sum,
  kInt32Max,
  kInt32Min,
  kInt32Product,
  kInt64Sum,
  kInt64Max,
  kInt64Min,
  kInt64Product,
  kByte
};
// The greatest that a tensor's elements can have.
inline constexpr DataType kLastElementType = DataType::kInt64Product;

// What rounds make of tensors of a type: what the job's aggregation says, or this.
enum class Reduction : uint8_t { kOfJob, kSum, kMax, kMin, kProduct };
inline constexpr Reduction ReductionOf(DataType type) {
  if (type < DataType::kFloat64Sum || type > kLastElementType) return Reduction::kOfJob;
  return static_cast<Reduction>((static_cast<int>(type) - static_cast<int>(DataType::kFloat64Sum)) % 4 + 1);
}
// Returns the type of the numbers, whatever their reduction is.
inline constexpr DataType NumberTypeOf(DataType type) {
  if (ReductionOf(type) == Reduction::kOfJob) return type;
  constexpr DataType kNumbers[] = {DataType::kFloat64, DataType::kInt32, DataType::kInt64};
  return kNumbers[(static_cast<int>(type) - static_cast<int>(DataType::kFloat64Sum)) / 4];
}

// Returns the bytes of one number.
inline constexpr int64_t SizeOf(DataType type) {
  switch (NumberTypeOf(type)) {
    case DataType::kFloat32:
    case DataType::kInt32:
      return 4;
    case DataType::kFloat16:
    case DataType::kBFloat16:
      return 2;
    case DataType::kFloat64:
    case DataType::kInt64:
      return 8;
    default:
      return 1;
  }
}

// Returns "float32", "bfloat16" and so on.
inline constexpr absl::string_view NameOf(DataType type) {
  constexpr absl::string_view kNames[] = {
      "float32",     "float16",     "bfloat16",        "float64",       "int32",     "int64",     "float64 sum",
      "float64 max", "float64 min", "float64 product", "int32 sum",     "int32 max", "int32 min", "int32 product",
      "int64 sum",   "int64 max",   "int64 min",       "int64 product", "byte"};
  return kNames[static_cast<int>(type)];
}

inline constexpr bool IsHalf(DataType type) { return type == DataType::kFloat16 || type == DataType::kBFloat16; }
inline constexpr bool IsInteger(DataType type) {
  return NumberTypeOf(type) == DataType::kInt32 || NumberTypeOf(type) == DataType::kInt64;
}
// Types whose sums are their own, and which travel as they are whatever a job's compression is.
inline constexpr bool IsExact(DataType type) { return NumberTypeOf(type) == DataType::kFloat64 || IsInteger(type); }
// Says whether the mean of tensors of this type is their sum over their number.
inline constexpr bool HasMean(DataType type) { return !IsInteger(type) && ReductionOf(type) == Reduction::kOfJob; }
// Returns the type in which elements of `type` are summed, and results are held: float32 for halves.
inline constexpr DataType SumTypeOf(DataType type) { return IsHalf(type) ? DataType::kFloat32 : type; }

}  // namespace banyan

#endif  // BANYAN_CORE_DATA_TYPE_H_
