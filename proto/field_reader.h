// Takes the fields of one received message and checks them. The first field that is wrong is remembered with its path,
// what was expected and what came; reading goes on, so that readers are straight code and look at the outcome once, at
// the end. What was read is meaningful only if that is OK. Thread-compatible; lives on the stack of the decoder, beside
// the status it fills.
#ifndef BANYAN_PROTO_FIELD_READER_H_
#define BANYAN_PROTO_FIELD_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/key_runs.h"
#include "proto/wire_limits.h"

namespace banyan {

// Longer than any wait of a job; keeps sums of times far from overflow.
inline constexpr absl::Duration kMaxWireDuration = absl::Hours(24 * 366);

class FieldReader {
 public:
  // Both arguments outlive the reader.
  FieldReader(const WireLimits& limits, absl::Status& first_error) : limits_(limits), first_error_(first_error) {}

  // A reader for the fields of the message in `field`, or of the entry `index` of the list `field`. This reader
  // outlives it.
  FieldReader Within(absl::string_view field, int index = kNoIndex) const { return FieldReader(*this, field, index); }

  const WireLimits& limits() const { return limits_; }

  // An id that may not be 0: 0 is what a missing field reads as.
  template <typename Id>
  Id NonZero(absl::string_view field, typename Id::ValueType value) {
    if (value == 0) Refuse(field, "a number above 0", "0");
    return Id(value);
  }

  // `low` when it is refused, so that what is computed from it does not overflow.
  template <typename Number>
  Number Between(absl::string_view field, Number value, Number low, Number high) {
    if (value >= low && value <= high) return value;
    Refuse(field, absl::StrCat(low, " to ", high), absl::StrCat(value));
    return low;
  }

  // `Enum` counts from 0 to `last`.
  template <typename Enum>
  Enum OneOf(absl::string_view field, int value, Enum last) {
    return static_cast<Enum>(Between(field, value, 0, static_cast<int>(last)));
  }

  double Finite(absl::string_view field, double value);
  double FiniteBetween(absl::string_view field, double value, double low, double high);
  // From `low` to kMaxWireDuration.
  absl::Duration Duration(absl::string_view field, int64_t nanoseconds, absl::Duration low);
  // Not before the start of its clock, and so far from the end that differences and sums with durations do not
  // overflow.
  Timestamp Time(absl::string_view field, int64_t nanoseconds);

  // At most max_name_bytes of any kind: for what somebody else judges and answers.
  std::string Text(absl::string_view field, const std::string& text);
  // The same, not empty and free of control characters.
  std::string Name(absl::string_view field, const std::string& text);
  // At most max_reason_bytes of any kind.
  std::string Reason(absl::string_view field, const std::string& text);

  // The length of a list, or 0 when it is not between `low` and `high`: nothing is spent on a list of the wrong length.
  int Count(absl::string_view field, int count, int low, int high);
  // The length of a list with 0 to max_entries entries.
  int Count(absl::string_view field, int count) { return Count(field, count, 0, limits_.max_entries); }

  // Refuses a run of keys that is empty, or begins at or before the key `before`.
  void CheckKeys(uint32_t first_key, uint32_t last_key, uint32_t before) {
    Expect(first_key > before, "first_key", absl::StrCat("above ", before), absl::StrCat(first_key));
    Expect(first_key <= last_key, "last_key", absl::StrCat(first_key, " or above"), absl::StrCat(last_key));
  }
  // Adds an entry that stands for its own key and `more_keys` after it. Refuses what makes more entries than
  // max_entries.
  template <typename Entry>
  void AddRun(const Entry& entry, uint32_t more_keys, std::vector<Entry>& entries) {
    if (AddKeyRun(entry, more_keys, static_cast<size_t>(limits_.max_entries), entries)) return;
    Refuse("more_keys", absl::StrCat("at most ", limits_.max_entries, " entries in all"), absl::StrCat(more_keys));
  }
  // Adds `more_keys`, which follow `key`, to `keys`, those of the entries before. Refuses what makes more than
  // max_entries.
  void CheckMoreKeys(KeyId key, uint32_t more_keys, size_t& keys) {
    const size_t most = static_cast<size_t>(limits_.max_entries);
    const bool fits = more_keys < most && keys + more_keys < most && key.value() + more_keys >= key.value();
    keys += size_t{1} + more_keys;
    if (!fits) Refuse("more_keys", absl::StrCat("at most ", most, " keys in all"), absl::StrCat(more_keys));
  }
  // Refuses a message in which these do not agree.
  void Expect(bool holds, absl::string_view field, absl::string_view expected, absl::string_view came) {
    if (!holds) Refuse(field, expected, came);
  }

  void Refuse(absl::string_view field, absl::string_view expected, absl::string_view came);

 private:
  static constexpr int kNoIndex = -1;

  FieldReader(const FieldReader& parent, absl::string_view name, int index)
      : limits_(parent.limits_), first_error_(parent.first_error_), parent_(&parent), name_(name), index_(index) {}

  // Returns the path of `field` in the whole message, as in "keys[3].elements".
  std::string PathOf(absl::string_view field) const;

  const WireLimits& limits_;
  absl::Status& first_error_;
  const FieldReader* parent_ = nullptr;
  absl::string_view name_;
  int index_ = kNoIndex;
};

}  // namespace banyan

#endif  // BANYAN_PROTO_FIELD_READER_H_
