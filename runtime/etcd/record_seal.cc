#include "runtime/etcd/record_seal.h"

#include <sodium.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

const unsigned char* SodiumBytes(absl::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

unsigned char* SodiumBytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

RecordSeal::RecordSeal(absl::string_view secret, absl::string_view job) : secret_(crypto_auth_KEYBYTES, '\0') {
  BANYAN_CHECK(sodium_init() >= 0);
  // Not the secret itself, which has another use.
  const std::string use = absl::StrCat("banyan records of ", job);
  BANYAN_CHECK(crypto_generichash(SodiumBytes(secret_), secret_.size(), SodiumBytes(use), use.size(),
                                  SodiumBytes(secret), secret.size()) == 0);
}

std::string RecordSeal::CodeOf(absl::string_view key, absl::string_view bytes) const {
  const uint64_t key_bytes = key.size();
  crypto_auth_hmacsha512256_state state;
  crypto_auth_hmacsha512256_init(&state, SodiumBytes(secret_), secret_.size());
  crypto_auth_hmacsha512256_update(&state, reinterpret_cast<const unsigned char*>(&key_bytes), sizeof(key_bytes));
  crypto_auth_hmacsha512256_update(&state, SodiumBytes(key), key.size());
  crypto_auth_hmacsha512256_update(&state, SodiumBytes(bytes), bytes.size());
  std::string code(crypto_auth_hmacsha512256_BYTES, '\0');
  crypto_auth_hmacsha512256_final(&state, SodiumBytes(code));
  return code;
}

std::string RecordSeal::Close(absl::string_view key, absl::string_view bytes) const {
  return secret_.empty() ? std::string(bytes) : absl::StrCat(bytes, CodeOf(key, bytes));
}

absl::StatusOr<std::string> RecordSeal::Open(absl::string_view key, std::string stored) const {
  if (secret_.empty()) return stored;
  if (stored.size() >= crypto_auth_hmacsha512256_BYTES) {
    const absl::string_view all = stored;
    const size_t bytes = stored.size() - crypto_auth_hmacsha512256_BYTES;
    const std::string code = CodeOf(key, all.substr(0, bytes));
    if (sodium_memcmp(code.data(), all.substr(bytes).data(), code.size()) == 0) {
      stored.resize(bytes);
      return stored;
    }
  }
  return absl::DataLossError(
      "it is not sealed with the key of this job's schedulers: somebody else has written it, or a scheduler that had "
      "no "
      "key or knew no seals");
}

}  // namespace banyan
