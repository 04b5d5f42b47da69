#include "proto/field_wire.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

namespace banyan {
namespace {

// The types that a field's tag names. Of a group only the ends have tags, and nothing here writes one.
constexpr uint8_t kVarintType = 0;
constexpr uint8_t kFixed64Type = 1;
constexpr uint8_t kLengthType = 2;
constexpr uint8_t kGroupType = 3;
constexpr uint8_t kGroupEndType = 4;
constexpr uint8_t kFixed32Type = 5;
constexpr int kTypeBits = 3;
constexpr uint8_t kTypeMask = (1 << kTypeBits) - 1;

// Of a varint.
constexpr size_t kMostVarintBytes = 10;
constexpr int kVarintBits = 7;
constexpr uint8_t kMoreFollow = 1 << kVarintBits;
constexpr int kMostGroups = 100;  // inside of each other

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are in memory");

constexpr uint32_t TagOf(int number, uint8_t type) { return static_cast<uint32_t>(number) << kTypeBits | type; }

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= kMoreFollow; value >>= kVarintBits) out.push_back(static_cast<char>(value | kMoreFollow));
  out.push_back(static_cast<char>(value));
}

void AppendTag(int number, uint8_t type, std::string& out) { AppendVarint(TagOf(number, type), out); }

// Reads bytes from the first on. What is missing or malformed makes a read fail, and the place is unspecified then.
class Input {
 public:
  explicit Input(absl::string_view bytes) : bytes_(bytes) {}

  size_t at() const { return at_; }
  // Whether all has been read, and the last tag was one.
  bool is_done() const { return at_ == bytes_.size() && !is_malformed_; }

  bool ReadVarint(uint64_t& value) {
    value = 0;
    for (size_t byte = 0; byte < kMostVarintBytes && at_ < bytes_.size(); ++byte) {
      const auto bits = static_cast<uint8_t>(bytes_[at_++]);
      value |= static_cast<uint64_t>(bits & (kMoreFollow - 1)) << (byte * kVarintBits);
      if (bits < kMoreFollow) return true;
    }
    return false;
  }

  bool ReadLength(uint32_t& length) {
    uint64_t value = 0;
    if (!ReadVarint(value)) return false;
    length = static_cast<uint32_t>(value);
    return true;
  }

  bool ReadNumber(uint8_t type, uint64_t& value) {
    if (type == kVarintType) return ReadVarint(value);
    const size_t from = at_;
    if (!Skip(sizeof(value))) return false;
    std::memcpy(&value, bytes_.data() + from, sizeof(value));
    return true;
  }

  // Returns 0 at the end, and where there is no tag.
  uint32_t ReadTag() {
    if (at_ == bytes_.size()) return 0;
    uint32_t tag = 0;
    is_malformed_ = !ReadLength(tag) || tag == 0;
    return is_malformed_ ? 0 : tag;
  }

  bool Skip(size_t bytes) {
    if (bytes > bytes_.size() - at_) return false;
    at_ += bytes;
    return true;
  }

  // Passes over what follows the tag.
  bool SkipField(uint32_t tag, int groups = kMostGroups) {
    if (tag >> kTypeBits == 0) return false;
    uint64_t value = 0;
    switch (tag & kTypeMask) {
      case kVarintType:
        return ReadVarint(value);
      case kFixed64Type:
        return Skip(sizeof(uint64_t));
      case kFixed32Type:
        return Skip(sizeof(uint32_t));
      case kLengthType: {
        uint32_t length = 0;
        return ReadLength(length) && Skip(length);
      }
      case kGroupType:
        return groups > 0 && SkipGroup(tag, groups - 1);
      default:
        return false;
    }
  }

 private:
  bool SkipGroup(uint32_t begin, int groups) {
    while (const uint32_t tag = ReadTag()) {
      if ((tag & kTypeMask) == kGroupEndType) return tag >> kTypeBits == begin >> kTypeBits;
      if (!SkipField(tag, groups)) return false;
    }
    return false;
  }

  const absl::string_view bytes_;
  size_t at_ = 0;
  bool is_malformed_ = false;
};

uint64_t OfWire(WireKind kind, uint64_t value) {
  return kind == WireKind::kZigZag ? value >> 1 ^ (~(value & 1) + 1) : value;
}

uint8_t TypeOf(WireKind kind) { return kind == WireKind::kFixed64 ? kFixed64Type : kVarintType; }

}  // namespace

// ---- out ----

void WireWriter::PutRaw(WireKind kind, uint64_t raw) {
  if (kind == WireKind::kVarint) return AppendVarint(raw, out_);
  if (kind == WireKind::kZigZag) return AppendVarint(raw << 1 ^ (~(raw >> 63) + 1), out_);
  char bytes[sizeof(raw)];
  std::memcpy(bytes, &raw, sizeof(raw));
  out_.append(bytes, sizeof(bytes));
}

void WireWriter::Put(int number, WireKind kind, uint64_t raw) {
  AppendTag(number, TypeOf(kind), out_);
  PutRaw(kind, raw);
}

void WireWriter::PutBytes(int number, absl::string_view bytes) {
  AppendTag(number, kLengthType, out_);
  AppendVarint(bytes.size(), out_);
  out_.append(bytes.data(), bytes.size());
}

size_t WireWriter::BeginLength(int number) {
  AppendTag(number, kLengthType, out_);
  // Most lengths take one byte.
  out_.push_back(0);
  return out_.size() - 1;
}

void WireWriter::EndLength(size_t at) {
  const size_t length = out_.size() - at - 1;
  std::string bytes;
  AppendVarint(length, bytes);
  out_.replace(at, 1, bytes);
}

// ---- in ----

bool FieldIndex::Parse(absl::string_view bytes) {
  bytes_ = bytes;
  if (FindFields()) return true;
  *this = FieldIndex();
  return false;
}

bool FieldIndex::FindFields() {
  Input input(bytes_);
  while (const uint32_t tag = input.ReadTag()) {
    const auto number = static_cast<int>(tag >> kTypeBits);
    const uint8_t type = tag & kTypeMask;
    if (number < 1 || number > kMostNumber || (type > kLengthType)) {
      if (number < 1 || !input.SkipField(tag)) return false;
      continue;
    }
    uint64_t value = 0;
    const char* data = nullptr;
    if (type == kLengthType) {
      uint32_t length = 0;
      if (!input.ReadLength(length)) return false;
      data = bytes_.data() + input.at();
      if (!input.Skip(length)) return false;
      value = length;
    } else if (!input.ReadNumber(type, value)) {
      return false;
    }
    fields_[number] = {value, data, fields_[number].count + 1, type};
  }
  return input.is_done();
}

uint64_t FieldIndex::Number(int number, WireKind kind) const {
  return Has(number, kind) ? OfWire(kind, fields_[number].value) : 0;
}

absl::string_view FieldIndex::Bytes(int number) const {
  const Field& field = fields_[number];
  return field.type == kLengthType ? absl::string_view(field.data, field.value) : absl::string_view();
}

bool FieldIndex::Has(int number, WireKind kind) const { return fields_[number].type == TypeOf(kind); }

bool FieldIndex::NextBytes(int number, size_t& at, absl::string_view& bytes) const {
  const absl::string_view rest = bytes_.substr(at);
  Input input(rest);
  while (const uint32_t tag = input.ReadTag()) {
    if (tag != TagOf(number, kLengthType)) {
      if (!input.SkipField(tag)) return false;
      continue;
    }
    uint32_t length = 0;
    if (!input.ReadLength(length)) return false;
    bytes = rest.substr(input.at(), length);
    at += input.at() + length;
    return true;
  }
  return false;
}

int FieldIndex::CountPacked(int number, WireKind kind) const {
  if (fields_[number].count == 0) return 0;
  int count = 0;
  Place place;
  uint64_t raw = 0;
  while (NextNumber(number, kind, place, raw)) ++count;
  return place.is_malformed ? -1 : count;
}

bool FieldIndex::NextNumber(int number, WireKind kind, Place& place, uint64_t& raw) const {
  const uint8_t type = TypeOf(kind);
  while (place.at >= place.packed_end) {
    const absl::string_view rest = bytes_.substr(place.at);
    Input input(rest);
    const uint32_t tag = input.ReadTag();
    if (tag == 0) return false;
    uint32_t length = 0;
    if (tag == TagOf(number, kLengthType)) {
      input.ReadLength(length);
    } else if (tag == TagOf(number, type)) {
      const bool is_number = input.ReadNumber(TypeOf(kind), raw);
      place.at += input.at();
      raw = OfWire(kind, raw);
      return is_number;
    } else {
      input.SkipField(tag);
    }
    place.at += input.at();
    place.packed_end = place.at + length;
  }
  Input input(bytes_.substr(place.at, place.packed_end - place.at));
  place.is_malformed = !input.ReadNumber(TypeOf(kind), raw);
  raw = OfWire(kind, raw);
  place.at += input.at();
  return !place.is_malformed;
}

void WireReader::RefuseBytes(const char* name) { fields_.Refuse(name, "Protobuf", "other bytes"); }

void WireReader::ReadText(const char* name, absl::string_view bytes, std::string& member, TextRule rule) {
  const std::string text(bytes);
  switch (rule) {
    case TextRule::kText:
      member = fields_.Text(name, text);
      break;
    case TextRule::kName:
      member = fields_.Name(name, text);
      break;
    case TextRule::kReason:
      member = fields_.Reason(name, text);
      break;
  }
}

// ---- one of several messages ----

Enveloped OpenEnvelope(absl::string_view bytes) {
  Input input(bytes);
  const uint32_t tag = input.ReadTag();
  Enveloped envelope;
  if ((tag & kTypeMask) != kLengthType || !input.ReadLength(envelope.length)) {
    return envelope;
  }
  envelope.number = static_cast<int>(tag >> kTypeBits);
  envelope.body = bytes.substr(input.at());
  return envelope;
}

std::string SealEnvelope(int number, absl::string_view body) {
  std::string out;
  AppendTag(number, kLengthType, out);
  AppendVarint(body.size(), out);
  out.append(body.data(), body.size());
  return out;
}

}  // namespace banyan
