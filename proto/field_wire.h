// Descriptions (proto/fields.h) to and from the bytes of Protobuf, as the published .proto files have them. proto3:
// what is 0 or empty is left out, unknown fields are ignored, lists of numbers are packed.
#ifndef BANYAN_PROTO_FIELD_WIRE_H_
#define BANYAN_PROTO_FIELD_WIRE_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/field_reader.h"
#include "proto/fields.h"
#include "proto/key_runs.h"
#include "proto/wire_limits.h"

namespace banyan {

// ---- what types are on the wire ----

enum class WireKind : uint8_t { kVarint, kZigZag, kFixed64 };

template <typename T>
inline constexpr bool kIsId = false;
template <typename Tag, typename Value>
inline constexpr bool kIsId<StrongId<Tag, Value>> = true;
template <typename T>
inline constexpr bool kIsScalar = std::is_arithmetic_v<T> || std::is_enum_v<T> || kIsId<T> ||
                                  std::is_same_v<T, Timestamp> || std::is_same_v<T, absl::Duration>;
template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsList<std::set<T>> = true;

template <typename T>
constexpr WireKind KindOf() {
  const bool is_fixed = std::is_same_v<T, double> || std::is_same_v<T, Timestamp> || std::is_same_v<T, Incarnation> ||
                        std::is_same_v<T, StartId>;
  return is_fixed ? WireKind::kFixed64 : WireKind::kVarint;
}

template <typename T>
uint64_t RawOf(const T& value) {
  if constexpr (kIsId<T>) {
    return value.value();
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(value);
  } else if constexpr (std::is_same_v<T, Timestamp>) {
    return static_cast<uint64_t>(value.nanoseconds());
  } else if constexpr (std::is_same_v<T, absl::Duration>) {
    return static_cast<uint64_t>(absl::ToInt64Nanoseconds(value));
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

template <typename T>
T OfRaw(uint64_t raw) {
  if constexpr (kIsId<T>) {
    return T(static_cast<typename T::ValueType>(raw));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(raw);
  } else if constexpr (std::is_same_v<T, Timestamp>) {
    return Timestamp::FromNanoseconds(static_cast<int64_t>(raw));
  } else if constexpr (std::is_same_v<T, absl::Duration>) {
    return absl::Nanoseconds(static_cast<int64_t>(raw));
  } else if constexpr (std::is_same_v<T, bool>) {
    return raw != 0;
  } else {
    return static_cast<T>(raw);
  }
}

// ---- out ----

// Appends the fields of one message to `out`. Lives on the stack beside it.
class WireWriter {
 public:
  static constexpr bool kReads = false;

  explicit WireWriter(std::string& out, uint32_t more_keys = 0) : out_(out), more_keys_(more_keys) {}

  WireLimits limits() const { return {}; }

  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, Member& member, Limits... limits) {
    if constexpr (kIsScalar<Member>) {
      PutUnlessZero(number, KindOf<Member>(), RawOf(member));
    } else if constexpr (std::is_same_v<Member, std::string>) {
      if (!member.empty()) PutText(number, member, limits...);
    } else if constexpr (kIsOptional<Member>) {
      if (member.has_value()) (*this)(number, name, Explicit(*member), limits...);
    } else if constexpr (kIsList<Member>) {
      using Entry = typename Member::value_type;
      if constexpr (kIsScalar<Entry>) {
        PutPacked(number, KindOf<Entry>(), member);
      } else if constexpr (std::is_same_v<Entry, std::string>) {
        for (const std::string& entry : member) PutBytes(number, entry);
      } else {
        List(number, name, member, [](WireWriter& v, Entry& entry) { Fields(v, entry); });
      }
    } else {
      PutMessage(number, 0, [&member](WireWriter& v) { Fields(v, member); });
    }
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char*, Fixed<Member> wrapped, Limits...) {
    if constexpr (kIsList<Member>) {
      PutPacked(number, WireKind::kFixed64, wrapped.member);
    } else {
      PutUnlessZero(number, WireKind::kFixed64, RawOf(wrapped.member));
    }
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char*, ZigZag<Member> wrapped, Limits...) {
    PutUnlessZero(number, WireKind::kZigZag, RawOf(wrapped.member));
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, Explicit<Member> wrapped, Limits... limits) {
    if constexpr (kIsScalar<Member>) {
      Put(number, KindOf<Member>(), RawOf(wrapped.member));
    } else {
      (*this)(number, name, wrapped.member, limits...);
    }
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, UnlessDefault<Member> wrapped, Limits... limits) {
    if (!(wrapped.member == Member())) (*this)(number, name, wrapped.member, limits...);
  }

  template <typename Entry, typename Describe, typename... Limits>
  void List(int number, const char*, std::vector<Entry>& entries, Describe describe, Limits...) {
    for (Entry& entry : entries) PutMessage(number, 0, [&](WireWriter& v) { describe(v, entry); });
  }

  template <typename Entry>
  void Runs(int number, const char*, std::vector<Entry>& entries) {
    WriteKeyRuns(entries, [&](Entry first, uint32_t more_keys) {
      PutMessage(number, more_keys, [&first](WireWriter& v) { Fields(v, first); });
    });
  }
  void MoreKeys(int number) { PutUnlessZero(number, WireKind::kVarint, more_keys_); }

  template <typename Function>
  void Check(Function) {}

 private:
  void PutUnlessZero(int number, WireKind kind, uint64_t raw) {
    if (raw != 0) Put(number, kind, raw);
  }
  void Put(int number, WireKind kind, uint64_t raw);
  void PutBytes(int number, absl::string_view bytes);
  void PutText(int number, const std::string& text, TextRule rule = TextRule::kText) {
    PutBytes(number, rule == TextRule::kReason ? absl::string_view(text).substr(0, kMaxWireReasonBytes) : text);
  }
  void PutRaw(WireKind kind, uint64_t raw);
  // Puts the tag of what has a length, and returns where EndLength puts that.
  size_t BeginLength(int number);
  void EndLength(size_t at);

  template <typename Numbers>
  void PutPacked(int number, WireKind kind, const Numbers& numbers) {
    if (numbers.empty()) return;
    const size_t at = BeginLength(number);
    for (const auto& value : numbers) PutRaw(kind, RawOf(value));
    EndLength(at);
  }

  template <typename Describe>
  void PutMessage(int number, uint32_t more_keys, Describe describe) {
    const size_t at = BeginLength(number);
    WireWriter within(out_, more_keys);
    describe(within);
    EndLength(at);
  }

  std::string& out_;
  const uint32_t more_keys_;
};

// Returns the body of `message`. A writer changes nothing, though descriptions serve readers as well.
template <typename Struct>
std::string EncodeFields(const Struct& message) {
  std::string out;
  WireWriter writer(out);
  Fields(writer, const_cast<Struct&>(message));
  return out;
}

// ---- in ----

// The fields of one message's bytes by their numbers. Does not own the bytes.
class FieldIndex {
 public:
  // No message has a higher one; those of later versions are ignored.
  static constexpr int kMostNumber = 31;

  // False where they are no Protobuf; it has no fields then.
  bool Parse(absl::string_view bytes);

  // The last value of this kind, 0 if there is none.
  uint64_t Number(int number, WireKind kind) const;
  absl::string_view Bytes(int number) const;
  bool Has(int number, WireKind kind) const;
  bool HasBytes(int number) const { return fields_[number].type == kLengthType; }
  // How many values of any type.
  int Count(int number) const { return static_cast<int>(fields_[number].count); }
  // How many numbers a list has; -1 where they are no Protobuf.
  int CountPacked(int number, WireKind kind) const;

  // Calls `use` with each entry of a list.
  template <typename Use>
  void Each(int number, Use use) const {
    size_t at = 0;
    absl::string_view entry;
    while (NextBytes(number, at, entry)) use(entry);
  }
  template <typename Use>
  void EachPacked(int number, WireKind kind, Use use) const {
    Place place;
    uint64_t raw = 0;
    while (NextNumber(number, kind, place, raw)) use(raw);
  }

 private:
  bool FindFields();

  static constexpr uint8_t kNoType = 255;
  static constexpr uint8_t kLengthType = 2;
  struct Field {
    uint64_t value = 0;  // of a number; the length of bytes
    const char* data = nullptr;
    uint32_t count = 0;
    uint8_t type = kNoType;
  };

  // A place in the message, up to `packed_end` within packed numbers.
  struct Place {
    size_t at = 0;
    size_t packed_end = 0;
    bool is_malformed = false;
  };

  // Finds the next entry of this number behind `at`, and moves that behind it.
  bool NextBytes(int number, size_t& at, absl::string_view& bytes) const;
  // Finds the next number of a list, packed or not.
  bool NextNumber(int number, WireKind kind, Place& place, uint64_t& raw) const;

  absl::string_view bytes_;
  std::array<Field, kMostNumber + 1> fields_;
};

// Reads the fields of one message and judges them: see FieldReader. Lives on the stack of its decoder.
class WireReader {
 public:
  static constexpr bool kReads = true;

  WireReader(absl::string_view bytes, FieldReader fields) : fields_(fields) {
    if (!index_.Parse(bytes)) RefuseBytes("bytes");
  }

  const WireLimits& limits() const { return fields_.limits(); }
  uint32_t more_keys() const { return more_keys_; }
  const FieldIndex& index() const { return index_; }

  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, Member& member, Limits... limits) {
    if constexpr (kIsScalar<Member>) {
      ReadScalar(name, index_.Number(number, KindOf<Member>()), member, limits...);
    } else if constexpr (std::is_same_v<Member, std::string>) {
      ReadText(name, index_.Bytes(number), member, limits...);
    } else if constexpr (kIsOptional<Member>) {
      using Value = typename Member::value_type;
      if constexpr (kIsScalar<Value>) {
        if (!index_.Has(number, KindOf<Value>())) return;
      } else {
        if (!index_.HasBytes(number)) return;
      }
      (*this)(number, name, member.emplace(), limits...);
    } else if constexpr (kIsList<Member>) {
      using Entry = typename Member::value_type;
      if constexpr (kIsScalar<Entry>) {
        ReadPacked(number, KindOf<Entry>(), name, member, limits...);
      } else if constexpr (std::is_same_v<Entry, std::string>) {
        ReadTexts(number, name, member, limits...);
      } else {
        List(
            number, name, member, [](WireReader& v, Entry& entry) { Fields(v, entry); }, limits...);
      }
    } else {
      WireReader within(index_.Bytes(number), fields_.Within(name));
      Fields(within, member);
    }
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, Fixed<Member> wrapped, Limits... limits) {
    if constexpr (kIsList<Member>) {
      ReadPacked(number, WireKind::kFixed64, name, wrapped.member, limits...);
    } else {
      ReadScalar(name, index_.Number(number, WireKind::kFixed64), wrapped.member, limits...);
    }
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, ZigZag<Member> wrapped, Limits... limits) {
    ReadScalar(name, index_.Number(number, WireKind::kZigZag), wrapped.member, limits...);
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, Explicit<Member> wrapped, Limits... limits) {
    const bool is_there = kIsScalar<Member> ? index_.Has(number, KindOf<Member>()) : index_.HasBytes(number);
    if (is_there) (*this)(number, name, wrapped.member, limits...);
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, UnlessDefault<Member> wrapped, Limits... limits) {
    (*this)(number, name, wrapped.member, limits...);
  }

  template <typename Entry, typename Describe, typename... Limits>
  void List(int number, const char* name, std::vector<Entry>& entries, Describe describe, Limits... limits) {
    const int count = CountEntries(name, index_.Count(number), limits...);
    if (count == 0) return;
    entries.reserve(count);
    index_.Each(number, [&](absl::string_view bytes) {
      WireReader within(bytes, fields_.Within(name, static_cast<int>(entries.size())));
      describe(within, entries.emplace_back());
    });
  }

  template <typename Entry>
  void Runs(int number, const char* name, std::vector<Entry>& entries) {
    if (CountEntries(name, index_.Count(number)) == 0) return;
    int i = 0;
    index_.Each(number, [&](absl::string_view bytes) {
      FieldReader fields = fields_.Within(name, i++);
      WireReader within(bytes, fields);
      Entry first;
      Fields(within, first);
      fields.AddRun(first, within.more_keys(), entries);
    });
  }
  void MoreKeys(int number) { more_keys_ = static_cast<uint32_t>(index_.Number(number, WireKind::kVarint)); }

  template <typename Function>
  void Check(Function check) {
    check(fields_);
  }

 private:
  void RefuseBytes(const char* name);

  int CountEntries(const char* name, int count) { return fields_.Count(name, count); }
  template <typename... Others>
  int CountEntries(const char* name, int count, Entries entries, Others...) {
    return fields_.Count(name, count, entries.low, entries.high);
  }
  template <typename Limit, typename... Others>
  int CountEntries(const char* name, int count, Limit, Others... others) {
    return CountEntries(name, count, others...);
  }

  template <typename Member>
  void ReadScalar(const char* name, uint64_t raw, Member& member) {
    if constexpr (std::is_same_v<Member, Timestamp>) {
      member = fields_.Time(name, static_cast<int64_t>(raw));
    } else {
      member = OfRaw<Member>(raw);
    }
  }
  template <typename Member, typename... Others>
  void ReadScalar(const char* name, uint64_t raw, Member& member, Entries, Others... others) {
    ReadScalar(name, raw, member, others...);
  }
  template <typename Member, typename... Others>
  void ReadScalar(const char* name, uint64_t raw, Member& member, Metric, Others... others) {
    ReadScalar(name, raw, member, others...);
  }
  template <typename Member>
  void ReadScalar(const char* name, uint64_t raw, Member& member, NonZero) {
    member = fields_.NonZero<Member>(name, static_cast<typename Member::ValueType>(raw));
  }
  template <typename Member, typename Number>
  void ReadScalar(const char* name, uint64_t raw, Member& member, Range<Number> range) {
    if constexpr (std::is_same_v<Number, double>) {
      member = fields_.FiniteBetween(name, OfRaw<double>(raw), range.low, range.high);
    } else if constexpr (std::is_enum_v<Number>) {
      member = static_cast<Member>(fields_.Between(name, static_cast<uint32_t>(raw), static_cast<uint32_t>(range.low),
                                                   static_cast<uint32_t>(range.high)));
    } else {
      const Number number = fields_.Between(name, static_cast<Number>(raw), range.low, range.high);
      member = OfRaw<Member>(static_cast<uint64_t>(number));
    }
  }
  void ReadScalar(const char* name, uint64_t raw, double& member, Finite) {
    member = fields_.Finite(name, OfRaw<double>(raw));
  }
  template <typename Member>
  void ReadScalar(const char* name, uint64_t raw, Member& member, UpTo<Member> enums) {
    member = fields_.OneOf(name, static_cast<int32_t>(raw), enums.last);
  }
  void ReadScalar(const char* name, uint64_t raw, absl::Duration& member, AtLeast least) {
    member = fields_.Duration(name, static_cast<int64_t>(raw), least.low);
  }

  void ReadText(const char*, absl::string_view bytes, std::string& member) {
    member.assign(bytes.data(), bytes.size());
  }
  void ReadText(const char* name, absl::string_view bytes, std::string& member, TextRule rule);
  template <typename... Others>
  void ReadText(const char* name, absl::string_view bytes, std::string& member, Entries, Others... others) {
    ReadText(name, bytes, member, others...);
  }

  template <typename... Limits>
  void ReadTexts(int number, const char* name, std::vector<std::string>& texts, Limits... limits) {
    if (CountEntries(name, index_.Count(number), limits...) == 0) return;
    index_.Each(number, [&](absl::string_view bytes) { ReadText(name, bytes, texts.emplace_back(), limits...); });
  }

  template <typename List, typename... Limits>
  void ReadPacked(int number, WireKind kind, const char* name, List& list, Limits... limits) {
    const int numbers = index_.CountPacked(number, kind);
    if (numbers < 0) return RefuseBytes(name);
    const int count = CountEntries(name, numbers, limits...);
    if (count == 0) return;
    if constexpr (requires { list.reserve(size_t{1}); }) list.reserve(count);
    index_.EachPacked(number, kind, [&](uint64_t raw) {
      typename List::value_type value;
      ReadScalar(name, raw, value, limits...);
      list.insert(list.end(), value);
    });
  }

  FieldIndex index_;
  FieldReader fields_;
  uint32_t more_keys_ = 0;
};

// ---- one of several messages ----

// The number of a message in its envelope, a Protobuf message with one field, and its name for errors.
struct MessageKind {
  int number = 0;
  const char* name = "";
};

// What an envelope holds from end to end; the number is 0 where the bytes are none.
struct Enveloped {
  int number = 0;
  uint32_t length = 0;  // that it claims to have
  absl::string_view body;
};
Enveloped OpenEnvelope(absl::string_view bytes);

// Returns the envelope around a body.
std::string SealEnvelope(int number, absl::string_view body);

// Returns the bytes of an alternative of `message`; `kinds` has a row for each.
template <typename Variant, size_t n>
std::string EncodeOneOf(const Variant& message, const std::array<MessageKind, n>& kinds) {
  static_assert(n == std::variant_size_v<Variant>);
  const int number = kinds[message.index()].number;
  return std::visit(
      [number](const auto& alternative) {
        std::string out;
        // The header of a chunk, the most frequent message, fits in without growing.
        out.reserve(256);
        WireWriter writer(out);
        writer(number, "", const_cast<std::remove_cvref_t<decltype(alternative)>&>(alternative));
        return out;
      },
      message);
}

// Reads the alternative that the number says, which has a row in `kinds`.
template <typename Variant, size_t n>
void ReadOneOf(const Enveloped& envelope, const std::array<MessageKind, n>& kinds, FieldReader fields,
               Variant& message) {
  static_assert(n == std::variant_size_v<Variant>);
  const auto read = [&]<size_t i>(std::integral_constant<size_t, i>) {
    if (kinds[i].number != envelope.number) return false;
    WireReader reader(envelope.body, fields);
    Fields(reader, message.template emplace<i>());
    return true;
  };
  [&]<size_t... i>(std::index_sequence<i...>) { (void)(read(std::integral_constant<size_t, i>()) || ...); }
  (std::make_index_sequence<n>());
}

// Returns the row of a number, nullptr if there is none.
template <size_t n>
const MessageKind* KindOfNumber(const std::array<MessageKind, n>& kinds, int number) {
  for (const MessageKind& kind : kinds) {
    if (kind.number == number) return &kind;
  }
  return nullptr;
}

}  // namespace banyan

#endif  // BANYAN_PROTO_FIELD_WIRE_H_
