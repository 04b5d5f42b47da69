#include "runtime/transport/sealed_frames.h"

#include <openssl/evp.h>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr size_t kNonceBytes = 12;
// OpenSSL counts in int.
constexpr size_t kBytesAtOnce = size_t{1} << 30;

const EVP_CIPHER* CipherOf(Aead aead) { return aead == Aead::kAes256Gcm ? EVP_aes_256_gcm() : EVP_chacha20_poly1305(); }

// Encrypts or decrypts; `out` may be `in`.
void Update(EVP_CIPHER_CTX* context, const uint8_t* in, uint8_t* out, size_t size) {
  while (size > 0) {
    const size_t part = std::min(size, kBytesAtOnce);
    int done = 0;
    BANYAN_CHECK(EVP_CipherUpdate(context, out, &done, in, static_cast<int>(part)) == 1);
    in += part;
    out += part;
    size -= part;
  }
}

void DropOwner(void*, void* owner) { delete static_cast<zmq::message_t*>(owner); }

}  // namespace

Aead FastestAead() {
#if defined(__x86_64__)
  const bool has_aes = __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
#elif defined(__aarch64__)
  const bool has_aes = (getauxval(AT_HWCAP) & HWCAP_AES) != 0 && (getauxval(AT_HWCAP) & HWCAP_PMULL) != 0;
#else
  const bool has_aes = false;
#endif
  return has_aes ? Aead::kAes256Gcm : Aead::kChaCha20Poly1305;
}

void FrameCipher::Free::operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }

FrameCipher::FrameCipher(Aead aead, const AeadKey& key, bool seals) : context_(EVP_CIPHER_CTX_new()), seals_(seals) {
  BANYAN_CHECK(context_ != nullptr);
  BANYAN_CHECK(EVP_CipherInit_ex(context_.get(), CipherOf(aead), nullptr, key.data(), nullptr, seals ? 1 : 0) == 1);
}

void FrameCipher::Begin(bool has_more) {
  std::array<uint8_t, kNonceBytes> nonce = {};
  const uint64_t number = next_frame_++;
  for (size_t i = 0; i < sizeof(number); ++i) nonce[kNonceBytes - 1 - i] = static_cast<uint8_t>(number >> (8 * i));
  BANYAN_CHECK(EVP_CipherInit_ex(context_.get(), nullptr, nullptr, nullptr, nonce.data(), seals_ ? 1 : 0) == 1);
  const uint8_t more = has_more ? 1 : 0;
  int done = 0;
  BANYAN_CHECK(EVP_CipherUpdate(context_.get(), nullptr, &done, &more, sizeof(more)) == 1);
}

void FrameSealer::Seal(std::vector<zmq::message_t>& frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    const zmq::message_t& frame = frames[i];
    zmq::message_t sealed(frame.size() + kAeadTagBytes);
    auto* out = sealed.data<uint8_t>();
    Begin(i + 1 < frames.size());
    Update(context_.get(), frame.data<uint8_t>(), out, frame.size());
    int done = 0;
    BANYAN_CHECK(EVP_CipherFinal_ex(context_.get(), out + frame.size(), &done) == 1 && done == 0);
    BANYAN_CHECK(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, kAeadTagBytes, out + frame.size()) == 1);
    sealed_bytes_ += sealed.size();
    frames[i] = std::move(sealed);
  }
}

absl::Status FrameOpener::Open(std::vector<zmq::message_t>& frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    if (OpenOne(frames[i], i + 1 < frames.size())) continue;
    is_broken_ = true;
    frames.clear();
    return absl::DataLossError(absl::StrCat("sealed frame ", next_frame_ == 0 ? 0 : next_frame_ - 1,
                                            " does not open: it was changed, left out or repeated on its way"));
  }
  return absl::OkStatus();
}

bool FrameOpener::OpenOne(zmq::message_t& frame, bool has_more) {
  if (is_broken_ || frame.size() < kAeadTagBytes) return false;
  const size_t size = frame.size() - kAeadTagBytes;
  auto* bytes = frame.data<uint8_t>();
  Begin(has_more);
  Update(context_.get(), bytes, bytes, size);
  BANYAN_CHECK(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, kAeadTagBytes, bytes + size) == 1);
  int done = 0;
  if (EVP_CipherFinal_ex(context_.get(), bytes + size, &done) != 1) return false;
  if (size == 0) {
    frame.rebuild();
    return true;
  }
  // Without the tag; the memory stays where it is.
  auto owner = std::make_unique<zmq::message_t>(std::move(frame));
  zmq::message_t* const kept = owner.release();
  frame = zmq::message_t(kept->data(), size, DropOwner, kept);
  return true;
}

}  // namespace banyan
