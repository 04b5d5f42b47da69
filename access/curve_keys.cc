#include "access/curve_keys.h"

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zmq.h"

namespace banyan {
namespace {

constexpr size_t kKeyBytes = 32;
constexpr size_t kKeyCharacters = 40;
using KeyBuffer = std::array<char, kKeyCharacters + 1>;

}  // namespace

CurveKeys MakeCurveKeys() {
  KeyBuffer public_key = {};
  KeyBuffer secret_key = {};
  // It fails only where ZeroMQ was built without CURVE, and then no key is of use.
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0) return {};
  return {public_key.data(), secret_key.data()};
}

absl::StatusOr<std::string> PublicKeyOf(const std::string& secret_key) {
  KeyBuffer public_key = {};
  // ZeroMQ reads 40 characters whatever is there. Where a zero ends them before, the rest of its key is whatever was in
  // memory.
  const bool is_long_enough = secret_key.size() == kKeyCharacters && secret_key.find('\0') == std::string::npos;
  if (is_long_enough && zmq_curve_public(public_key.data(), secret_key.c_str()) == 0) {
    return std::string(public_key.data());
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected a secret key of ", kKeyCharacters, " characters of Z85, got ", secret_key.size()));
}

std::string KeyText(absl::string_view bytes) {
  if (bytes.size() != kKeyBytes) return "";
  KeyBuffer text = {};
  zmq_z85_encode(text.data(), reinterpret_cast<const uint8_t*>(bytes.data()), kKeyBytes);
  return text.data();
}

}  // namespace banyan
