#include "proto/field_wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace banyan {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

// Of a varint.
constexpr size_t kMostVarintBytes = 10;

void AppendVarint(uint64_t value, std::string& out) {
  uint8_t bytes[kMostVarintBytes];
  const uint8_t* const end = CodedOutputStream::WriteVarint64ToArray(value, bytes);
  out.append(reinterpret_cast<const char*>(bytes), end - bytes);
}

void AppendTag(int number, WireFormatLite::WireType type, std::string& out) {
  AppendVarint(WireFormatLite::MakeTag(number, type), out);
}

CodedInputStream StreamOf(absl::string_view bytes) {
  return CodedInputStream(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
}

uint64_t OfWire(WireKind kind, uint64_t value) {
  return kind == WireKind::kZigZag ? static_cast<uint64_t>(WireFormatLite::ZigZagDecode64(value)) : value;
}

uint8_t TypeOf(WireKind kind) {
  return kind == WireKind::kFixed64 ? WireFormatLite::WIRETYPE_FIXED64 : WireFormatLite::WIRETYPE_VARINT;
}

bool ReadNumber(CodedInputStream& input, uint8_t type, uint64_t& value) {
  return type == WireFormatLite::WIRETYPE_VARINT ? input.ReadVarint64(&value) : input.ReadLittleEndian64(&value);
}

}  // namespace

// ---- out ----

void WireWriter::PutRaw(WireKind kind, uint64_t raw) {
  if (kind == WireKind::kVarint) return AppendVarint(raw, out_);
  if (kind == WireKind::kZigZag) {
    return AppendVarint(WireFormatLite::ZigZagEncode64(static_cast<int64_t>(raw)), out_);
  }
  uint8_t bytes[sizeof(raw)];
  CodedOutputStream::WriteLittleEndian64ToArray(raw, bytes);
  out_.append(reinterpret_cast<const char*>(bytes), sizeof(bytes));
}

void WireWriter::Put(int number, WireKind kind, uint64_t raw) {
  AppendTag(number, static_cast<WireFormatLite::WireType>(TypeOf(kind)), out_);
  PutRaw(kind, raw);
}

void WireWriter::PutBytes(int number, absl::string_view bytes) {
  AppendTag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, out_);
  AppendVarint(bytes.size(), out_);
  out_.append(bytes.data(), bytes.size());
}

size_t WireWriter::BeginLength(int number) {
  AppendTag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, out_);
  // Most lengths take one byte.
  out_.push_back(0);
  return out_.size() - 1;
}

void WireWriter::EndLength(size_t at) {
  const size_t length = out_.size() - at - 1;
  uint8_t bytes[kMostVarintBytes];
  const uint8_t* const end = CodedOutputStream::WriteVarint64ToArray(length, bytes);
  out_.replace(at, 1, reinterpret_cast<const char*>(bytes), end - bytes);
}

// ---- in ----

bool FieldIndex::Parse(absl::string_view bytes) {
  bytes_ = bytes;
  if (FindFields()) return true;
  *this = FieldIndex();
  return false;
}

bool FieldIndex::FindFields() {
  CodedInputStream input = StreamOf(bytes_);
  while (const uint32_t tag = input.ReadTag()) {
    const int number = WireFormatLite::GetTagFieldNumber(tag);
    const auto type = static_cast<uint8_t>(WireFormatLite::GetTagWireType(tag));
    if (number < 1 || number > kMostNumber || (type > kLengthType)) {
      if (number < 1 || !WireFormatLite::SkipField(&input, tag)) return false;
      continue;
    }
    uint64_t value = 0;
    const char* data = nullptr;
    if (type == kLengthType) {
      uint32_t length = 0;
      if (!input.ReadVarint32(&length)) return false;
      data = bytes_.data() + input.CurrentPosition();
      if (length > bytes_.size() - input.CurrentPosition() || !input.Skip(static_cast<int>(length))) return false;
      value = length;
    } else if (!ReadNumber(input, type, value)) {
      return false;
    }
    fields_[number] = {value, data, fields_[number].count + 1, type};
  }
  return input.ConsumedEntireMessage();
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
  CodedInputStream input = StreamOf(rest);
  while (const uint32_t tag = input.ReadTag()) {
    if (tag != WireFormatLite::MakeTag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      if (!WireFormatLite::SkipField(&input, tag)) return false;
      continue;
    }
    uint32_t length = 0;
    if (!input.ReadVarint32(&length)) return false;
    bytes = rest.substr(input.CurrentPosition(), length);
    at += input.CurrentPosition() + length;
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
  const auto type = static_cast<WireFormatLite::WireType>(TypeOf(kind));
  while (place.at >= place.packed_end) {
    const absl::string_view rest = bytes_.substr(place.at);
    CodedInputStream input = StreamOf(rest);
    const uint32_t tag = input.ReadTag();
    if (tag == 0) return false;
    uint32_t length = 0;
    if (tag == WireFormatLite::MakeTag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      input.ReadVarint32(&length);
    } else if (tag == WireFormatLite::MakeTag(number, type)) {
      const bool is_number = ReadNumber(input, TypeOf(kind), raw);
      place.at += input.CurrentPosition();
      raw = OfWire(kind, raw);
      return is_number;
    } else {
      WireFormatLite::SkipField(&input, tag);
    }
    place.at += input.CurrentPosition();
    place.packed_end = place.at + length;
  }
  CodedInputStream input = StreamOf(bytes_.substr(place.at, place.packed_end - place.at));
  place.is_malformed = !ReadNumber(input, TypeOf(kind), raw);
  raw = OfWire(kind, raw);
  place.at += input.CurrentPosition();
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
  CodedInputStream input = StreamOf(bytes);
  const uint32_t tag = input.ReadTag();
  Enveloped envelope;
  if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED ||
      !input.ReadVarint32(&envelope.length)) {
    return envelope;
  }
  envelope.number = WireFormatLite::GetTagFieldNumber(tag);
  envelope.body = bytes.substr(input.CurrentPosition());
  return envelope;
}

std::string SealEnvelope(int number, absl::string_view body) {
  std::string out;
  AppendTag(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, out);
  AppendVarint(body.size(), out);
  out.append(body.data(), body.size());
  return out;
}

}  // namespace banyan
