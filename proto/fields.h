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
#include <string>
#include <vector>

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

// Of a number that people watch, before its limits: it is a metric, on the page of the job, and has a row in
// docs/metrics.md. No limit.
struct Metric {
  const char* help;            // a sentence
  const char* name = nullptr;  // where it is not that of the field
};

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

// A part, or an optional one, that is a message of its own on the wire, and whose members stand among those of its
// owner in JSON.
template <typename Visitor, typename Member>
void InOwner(Visitor& v, int number, const char* name, Member& member) {
  if constexpr (requires { v.InOwner(member); }) {
    v.InOwner(member);
  } else {
    v(number, name, member);
  }
}

// ---- entries that are otherwise in JSON ----

// An entry of a list that is an object in JSON, with a member for each.
template <typename Value>
struct Named {
  std::string name;
  Value value = {};
  friend bool operator==(const Named&, const Named&) = default;
};

template <typename Visitor, typename Value>
void Fields(Visitor& v, Named<Value>& m) {
  v(1, "name", m.name);
  v(2, "value", m.value);
}

// Two values, which are an array in JSON.
template <typename Value>
struct Two {
  Value first = {};
  Value second = {};
  friend bool operator==(const Two&, const Two&) = default;
};

template <typename Visitor, typename Value>
void Fields(Visitor& v, Two<Value>& m) {
  v(1, "first", m.first);
  v(2, "second", m.second);
}

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
