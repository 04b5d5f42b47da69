#include "proto/field_reader.h"

#include <algorithm>
#include <cmath>

namespace banyan {
namespace {

constexpr int64_t kMaxTimestampNanoseconds = int64_t{1} << 62;

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

double FieldReader::Finite(absl::string_view field, double value) {
  if (std::isfinite(value)) return value;
  Refuse(field, "a finite number", absl::StrCat(value));
  return 0;
}

double FieldReader::FiniteBetween(absl::string_view field, double value, double low, double high) {
  return Between(field, Finite(field, value), low, high);
}

absl::Duration FieldReader::Duration(absl::string_view field, int64_t nanoseconds, absl::Duration low) {
  const absl::Duration duration = absl::Nanoseconds(nanoseconds);
  if (duration >= low && duration <= kMaxWireDuration) return duration;
  Refuse(field, absl::StrCat(absl::FormatDuration(low), " to ", absl::FormatDuration(kMaxWireDuration)),
         absl::FormatDuration(duration));
  return low;
}

Timestamp FieldReader::Time(absl::string_view field, int64_t nanoseconds) {
  return Timestamp::FromNanoseconds(Between(field, nanoseconds, int64_t{0}, kMaxTimestampNanoseconds));
}

std::string FieldReader::Text(absl::string_view field, const std::string& text) {
  if (text.size() <= limits_.max_name_bytes) return text;
  Refuse(field, absl::StrCat("at most ", limits_.max_name_bytes, " bytes"), absl::StrCat(text.size()));
  return std::string();
}

std::string FieldReader::Name(absl::string_view field, const std::string& text) {
  if (text.empty()) Refuse(field, "a name", "no character");
  const auto control = std::find_if(text.begin(), text.end(), IsControl);
  if (control != text.end()) {
    Refuse(field, "no control character", absl::StrCat("one with code ", static_cast<int>(*control)));
  }
  return Text(field, text);
}

std::string FieldReader::Reason(absl::string_view field, const std::string& text) {
  if (text.size() <= limits_.max_reason_bytes) return text;
  Refuse(field, absl::StrCat("at most ", limits_.max_reason_bytes, " bytes"), absl::StrCat(text.size()));
  return std::string();
}

int FieldReader::Count(absl::string_view field, int count, int low, int high) {
  if (count >= low && count <= high) return count;
  Refuse(field, absl::StrCat(low, " to ", high, " entries"), absl::StrCat(count));
  return 0;
}

void FieldReader::Refuse(absl::string_view field, absl::string_view expected, absl::string_view came) {
  if (!first_error_.ok()) return;
  first_error_ = absl::InvalidArgumentError(absl::StrCat(PathOf(field), ": ", expected, " expected, ", came, " came"));
}

std::string FieldReader::PathOf(absl::string_view field) const {
  if (parent_ == nullptr) return std::string(field);
  const std::string index = index_ == kNoIndex ? "" : absl::StrCat("[", index_, "]");
  return parent_->PathOf(absl::StrCat(name_, index, ".", field));
}

}  // namespace banyan
