// Numbers of one type in memory that somebody else owns: an absl::Span whose type is known at run time. Spans, vectors
// and arrays of float, double, int32_t and int64_t become views by themselves. C++ has no halves: views of these name
// their type. Values; thread-compatible.
#ifndef BANYAN_CORE_TENSOR_VIEW_H_
#define BANYAN_CORE_TENSOR_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "absl/types/span.h"
#include "core/check.h"
#include "core/data_type.h"

namespace banyan {

template <typename T>
concept TensorElement =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>;

template <TensorElement T>
inline constexpr DataType kTypeOf = std::is_same_v<T, float>    ? DataType::kFloat32
                                    : std::is_same_v<T, double> ? DataType::kFloat64
                                    : sizeof(T) == 4            ? DataType::kInt32
                                                                : DataType::kInt64;

// Has a row of such elements that can be written, or only read.
template <typename Values>
concept ElementsToWrite = requires(Values& values) {
  requires TensorElement<std::remove_pointer_t<decltype(values.data())>>;
  values.size();
};
template <typename Values>
concept ElementsToRead = requires(const Values& values) {
  requires TensorElement<std::remove_cv_t<std::remove_pointer_t<decltype(values.data())>>>;
  values.size();
};

class TensorView {
 public:
  // Of no elements.
  TensorView() = default;
  TensorView(void* data, int64_t elements, DataType type) : data_(data), elements_(elements), type_(type) {}
  template <TensorElement T>
  TensorView(T* data, size_t elements) : TensorView(data, static_cast<int64_t>(elements), kTypeOf<T>) {}
  // Of a container that stays, or of another view.
  template <typename Values>
  requires ElementsToWrite<std::remove_reference_t<Values>> &&
      (std::is_lvalue_reference_v<Values> || std::is_trivially_copyable_v<Values>)
          TensorView(Values&& values)  // NOLINT(google-explicit-constructor, bugprone-forwarding-reference-overload)
      : TensorView(values.data(), values.size()) {}

  void* data() const { return data_; }
  int64_t elements() const { return elements_; }
  DataType type() const { return type_; }
  int64_t size_bytes() const { return elements_ * SizeOf(type_); }
  bool empty() const { return elements_ == 0; }
  absl::Span<uint8_t> bytes() const { return {static_cast<uint8_t*>(data_), static_cast<size_t>(size_bytes())}; }
  // The numbers as what they are. REQUIRES: they are of this type.
  template <TensorElement T>
  absl::Span<T> As() const {
    BANYAN_CHECK(empty() || NumberTypeOf(type_) == kTypeOf<T>);
    return {static_cast<T*>(data_), static_cast<size_t>(elements_)};
  }
  absl::Span<float> floats() const { return As<float>(); }
  // REQUIRES: they lie inside.
  TensorView Slice(int64_t first, int64_t count) const {
    BANYAN_CHECK(first >= 0 && count >= 0 && first <= elements_ && count <= elements_ - first);
    return {static_cast<uint8_t*>(data_) + first * SizeOf(type_), count, type_};
  }

 private:
  void* data_ = nullptr;
  int64_t elements_ = 0;
  DataType type_ = DataType::kFloat32;
};

class ConstTensorView {
 public:
  // Of no elements.
  ConstTensorView() = default;
  ConstTensorView(const void* data, int64_t elements, DataType type) : data_(data), elements_(elements), type_(type) {}
  template <TensorElement T>
  ConstTensorView(const T* data, size_t elements) : ConstTensorView(data, static_cast<int64_t>(elements), kTypeOf<T>) {}
  template <ElementsToRead Values>
  ConstTensorView(const Values& values)  // NOLINT(google-explicit-constructor)
      : ConstTensorView(values.data(), values.size()) {}
  // For the length of the expression that it stands in.
  ConstTensorView(std::initializer_list<float> values)  // NOLINT(google-explicit-constructor)
      : ConstTensorView(values.begin(), values.size()) {}
  ConstTensorView(const TensorView& values)  // NOLINT(google-explicit-constructor)
      : ConstTensorView(values.data(), values.elements(), values.type()) {}

  const void* data() const { return data_; }
  int64_t elements() const { return elements_; }
  DataType type() const { return type_; }
  int64_t size_bytes() const { return elements_ * SizeOf(type_); }
  bool empty() const { return elements_ == 0; }
  // The numbers as what they are. REQUIRES: they are of this type.
  template <TensorElement T>
  absl::Span<const T> As() const {
    BANYAN_CHECK(empty() || NumberTypeOf(type_) == kTypeOf<T>);
    return {static_cast<const T*>(data_), static_cast<size_t>(elements_)};
  }
  absl::Span<const float> floats() const { return As<float>(); }

 private:
  const void* data_ = nullptr;
  int64_t elements_ = 0;
  DataType type_ = DataType::kFloat32;
};

}  // namespace banyan

#endif  // BANYAN_CORE_TENSOR_VIEW_H_
