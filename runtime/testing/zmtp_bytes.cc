#include "runtime/testing/zmtp_bytes.h"

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr char kMore = 1;
constexpr char kLong = 2;
constexpr char kCommand = 4;
constexpr size_t kShortBytes = 255;
constexpr size_t kGreetingBytes = 64;

std::string BigEndian(uint64_t value, int size_bytes) {
  std::string bytes;
  for (int i = size_bytes - 1; i >= 0; --i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

std::string Property(absl::string_view name, absl::string_view value) {
  return absl::StrCat(BigEndian(name.size(), 1), name, BigEndian(value.size(), 4), value);
}

}  // namespace

std::string ZmtpGreeting(absl::string_view mechanism) {
  std::string greeting("\xff\0\0\0\0\0\0\0\1\x7f\3\0", 12);
  greeting.append(mechanism.data(), mechanism.size());
  greeting.resize(kGreetingBytes);
  return greeting;
}

std::string ZmtpReady(absl::string_view routing_id) {
  return ZmtpCommand("READY", absl::StrCat(Property("Socket-Type", "DEALER"), Property("Identity", routing_id)));
}

std::string ZmtpHandshake() { return ZmtpGreeting() + ZmtpReady(); }

size_t ZmtpHandshakeSize(absl::string_view bytes) {
  if (bytes.size() < kGreetingBytes + 2 || bytes[kGreetingBytes] != kCommand) return 0;
  const size_t size = kGreetingBytes + 2 + static_cast<uint8_t>(bytes[kGreetingBytes + 1]);
  return size <= bytes.size() ? size : 0;
}

std::string ZmtpFrame(absl::string_view body, bool more) {
  if (body.size() > kShortBytes) return absl::StrCat(ZmtpFrameHeader(body.size(), more), body);
  return absl::StrCat(std::string(1, more ? kMore : 0), BigEndian(body.size(), 1), body);
}

std::string ZmtpFrameHeader(uint64_t size_bytes, bool more) {
  return absl::StrCat(std::string(1, static_cast<char>(kLong | (more ? kMore : 0))), BigEndian(size_bytes, 8));
}

std::string ZmtpCommand(absl::string_view name, absl::string_view data) {
  const std::string body = absl::StrCat(BigEndian(name.size(), 1), name, data);
  if (body.size() <= kShortBytes) return absl::StrCat(std::string(1, kCommand), BigEndian(body.size(), 1), body);
  return absl::StrCat(std::string(1, static_cast<char>(kCommand | kLong)), BigEndian(body.size(), 8), body);
}

}  // namespace banyan
