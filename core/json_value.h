// Reads JSON (RFC 8259) as a tree of values, which are parts of the text. Thread-compatible.
#ifndef BANYAN_CORE_JSON_VALUE_H_
#define BANYAN_CORE_JSON_VALUE_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// A value that is not what the reader expects: what() says of which member.
class JsonMismatch : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

class JsonValue {
 public:
  enum class Kind : uint8_t { kMissing, kNull, kBoolean, kNumber, kString, kArray, kObject };

  // INVALID_ARGUMENT, with what was expected, what came and at which byte, unless `text` is one value, nested at most
  // 64 deep. The text must outlive the value.
  static absl::StatusOr<JsonValue> Parse(absl::string_view text);

  Kind kind() const { return kind_; }
  // Returns whether there is a value, which may be null.
  explicit operator bool() const { return kind_ != Kind::kMissing; }
  bool IsNull() const { return kind_ == Kind::kNull; }

  // Returns the member of this name, the first of several; a missing value when there is none, or this is no object.
  const JsonValue& operator[](absl::string_view name) const;
  // The values of an array, or of an object's members, in order; none of another kind.
  std::vector<JsonValue>::const_iterator begin() const { return values_.begin(); }
  std::vector<JsonValue>::const_iterator end() const { return values_.end(); }
  size_t size() const { return values_.size(); }
  // Returns the name that this value has in its object, as written, with its escapes; empty outside of one.
  absl::string_view name() const { return name_; }
  // Returns the part of the text that this value is.
  absl::string_view text() const { return text_; }

  // Returns the value as a bool, int64_t, uint64_t, double or std::string, or as a vector or pair of them. Throws
  // JsonMismatch when it is none.
  template <typename T>
  T as() const {
    T value = {};
    Read(value);
    return value;
  }

 private:
  friend class JsonReader;

  void Read(bool& value) const;
  void Read(int64_t& value) const;
  void Read(uint64_t& value) const;
  void Read(double& value) const;
  void Read(std::string& value) const;
  template <typename T>
  void Read(std::vector<T>& values) const {
    if (kind_ != Kind::kArray) Refuse("an array");
    for (const JsonValue& value : values_) values.push_back(value.as<T>());
  }
  template <typename A, typename B>
  void Read(std::pair<A, B>& values) const {
    if (kind_ != Kind::kArray || values_.size() != 2) Refuse("an array of two");
    values = {values_[0].as<A>(), values_[1].as<B>()};
  }
  [[noreturn]] void Refuse(const char* expected) const;

  Kind kind_ = Kind::kMissing;
  absl::string_view name_;
  absl::string_view text_;
  std::vector<JsonValue> values_;
};

}  // namespace banyan

#endif  // BANYAN_CORE_JSON_VALUE_H_
