// The words in which a message or a record is described. Beside each struct that crosses a border (a socket, a disk)
// stands one function that visits its fields, in rising order of their numbers in the published .proto file:
//
//   template <typename Visitor>
//   void Fields(Visitor& v, Heartbeat& m) {
//     v(1, "sent_at", m.sent_at);
//   }
//
// A field is its number, its name in errors, its member and its limits. Bytes out and in with all refusals
// (proto/field_wire.h), the size of an entry, malformed samples and the comparison with the .proto file follow from it.
// A visitor has:
// - operator()(number, name, member, limits...), and List for a list whose entries have a description of their own;
// - Runs(number, name, list) for a list with an entry for each key that travels as runs, and MoreKeys(number) in its
//   entries (proto/key_runs.h);
// - Check(function of a FieldReader) for what fields must agree on: called where fields are read, and only there;
// - kReads: whether it sets members;
// - limits(): those of the receiver.
// What a member is on the wire follows from its type: ids, integers, enums and bool are varints (those that are random
// numbers are fixed64), times are sfixed64 of nanoseconds, durations are int64 of nanoseconds, strings are bytes.
#ifndef BANYAN_PROTO_FIELDS_H_
#define BANYAN_PROTO_FIELDS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "proto/field_reader.h"
#include "proto/wire_limits.h"

namespace banyan {

// ---- limits ----

// Not 0, which is what a missing field reads as.
struct NonZero {};
inline constexpr NonZero kNonZero;

// From `low` to `high`, compared as that type; a double is finite besides.
template <typename Number>
struct Range {
  Number low;
  Number high;
};
template <typename Number>
Range(Number, Number) -> Range<Number>;

struct Finite {};
inline constexpr Finite kFinite;

// An enum that counts from 0 to this.
template <typename Enum>
struct UpTo {
  Enum last;
};
template <typename Enum>
UpTo(Enum) -> UpTo<Enum>;

// A duration from `low` to kMaxWireDuration.
struct AtLeast {
  absl::Duration low;
};
inline constexpr AtLeast kNotNegative = {absl::ZeroDuration()};

// How many entries a list has; without it 0 to WireLimits::max_entries.
struct Entries {
  int low = 0;
  int high = 0;
};

// What FieldReader calls a text, a name and a reason. A reason that is too long is cut where it is sent.
enum class TextRule : uint8_t { kText, kName, kReason };
inline constexpr TextRule kText = TextRule::kText;
inline constexpr TextRule kName = TextRule::kName;
inline constexpr TextRule kReason = TextRule::kReason;

// ---- members that travel otherwise than their type says ----

// As fixed64.
template <typename Member>
struct Fixed {
  Member& member;
};
template <typename Member>
Fixed(Member&) -> Fixed<Member>;

// As sint32 or sint64.
template <typename Member>
struct ZigZag {
  Member& member;
};
template <typename Member>
ZigZag(Member&) -> ZigZag<Member>;

// Written whatever its value; keeps the value that it has where it is missing, as in messages of older versions.
template <typename Member>
struct Explicit {
  Member& member;
};
template <typename Member>
Explicit(Member&) -> Explicit<Member>;

// A part that is left out while it is as by default.
template <typename Member>
struct UnlessDefault {
  Member& member;
};
template <typename Member>
UnlessDefault(Member&) -> UnlessDefault<Member>;

// ---- fields of several messages ----

// A share that is 1 where it is not said.
template <typename Visitor>
void ShareField(Visitor& v, int number, const char* name, double& member, double least) {
  double sent = member < 1 ? member : 0;
  v(number, name, sent);
  v.Check([&](FieldReader& fields) { member = sent == 0 ? 1 : fields.FiniteBetween(name, sent, least, 1); });
}

// Refuses a list of entries with first_key and last_key that are not in rising order, or overlap.
template <typename Entry>
void CheckRisingKeys(FieldReader& fields, const char* name, const std::vector<Entry>& entries) {
  uint32_t before = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    fields.Within(name, static_cast<int>(i))
        .CheckKeys(entries[i].first_key.value(), entries[i].last_key.value(), before);
    before = entries[i].last_key.value();
  }
}

// Refuses a list of runs of keys that stand for more keys than a list may have entries.
template <typename Entry>
void CheckRunsOfKeys(FieldReader& fields, const char* name, const std::vector<Entry>& entries) {
  size_t keys = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    fields.Within(name, static_cast<int>(i)).CheckMoreKeys(entries[i].key, entries[i].more_keys, keys);
  }
}

}  // namespace banyan

#endif  // BANYAN_PROTO_FIELDS_H_
