// Seals the frames of one direction of a data connection, and opens them at the other end: each frame by an AEAD
// (AES-256-GCM or ChaCha20-Poly1305, of OpenSSL), with a key that serves this direction of this connection alone.
//
// A frame on the wire is its ciphertext, of the same length, and the tag of 16 bytes. The nonce is the number of the
// frame, from 0 on, and is not sent: TCP keeps the order. The associated data is one byte: whether another frame of
// the same message follows. So a frame that was changed, left out, repeated, moved, or made the end of its message
// does not open.
//
// Thread-compatible; a sealer and an opener are owned by the end of a connection.
//
// Invariants:
// - No nonce is used twice with a key.
// - Nothing of a frame that does not open is handed on, and nothing opens after it.
#ifndef BANYAN_RUNTIME_TRANSPORT_SEALED_FRAMES_H_
#define BANYAN_RUNTIME_TRANSPORT_SEALED_FRAMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "zmq.hpp"

struct evp_cipher_ctx_st;

namespace banyan {

enum class Aead : uint8_t { kAes256Gcm = 1, kChaCha20Poly1305 = 2 };

// Returns the faster one on this processor: AES-256-GCM where it has instructions for it.
Aead FastestAead();
// Returns the one for two ends of which each has a faster one: AES-256-GCM only where both have instructions for it.
constexpr Aead AeadFor(Aead one, Aead other) { return one == other ? one : Aead::kChaCha20Poly1305; }

inline constexpr size_t kAeadKeyBytes = 32;
inline constexpr size_t kAeadTagBytes = 16;
using AeadKey = std::array<uint8_t, kAeadKeyBytes>;

// A key seals no more than this. After 2^50 bytes (2^46 blocks) of AES-GCM somebody who sees them all can tell them
// from random ones with a probability of 2^-36.
inline constexpr uint64_t kMostSealedBytes = uint64_t{1} << 50;

// What a sealer and an opener have in common: a cipher with its key, and the number of the next frame.
class FrameCipher {
 public:
  FrameCipher(Aead aead, const AeadKey& key, bool seals);

 protected:
  struct Free {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  // Begins the next frame.
  void Begin(bool has_more);

  std::unique_ptr<evp_cipher_ctx_st, Free> context_;
  uint64_t next_frame_ = 0;

 private:
  const bool seals_;
};

class FrameSealer : private FrameCipher {
 public:
  FrameSealer(Aead aead, const AeadKey& key) : FrameCipher(aead, key, /*seals=*/true) {}

  // Puts sealed frames into the place of these, which are those of one message.
  void Seal(std::vector<zmq::message_t>& frames);
  // Returns whether the key has sealed all that it may: the connection is to be made anew.
  bool is_used_up() const { return sealed_bytes_ >= kMostSealedBytes; }

 private:
  uint64_t sealed_bytes_ = 0;
};

class FrameOpener : private FrameCipher {
 public:
  FrameOpener(Aead aead, const AeadKey& key) : FrameCipher(aead, key, /*seals=*/false) {}

  // Opens the frames of one message in their own memory. DATA_LOSS says which one does not open; then there are none.
  absl::Status Open(std::vector<zmq::message_t>& frames);

 private:
  bool OpenOne(zmq::message_t& frame, bool has_more);

  bool is_broken_ = false;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_SEALED_FRAMES_H_
