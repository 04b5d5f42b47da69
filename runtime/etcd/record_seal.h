// Keeps what lies in etcd from being changed by others: whoever may write there without the secret of the job's
// schedulers can take records away, but make none that they read. A value; thread-safe.
#ifndef BANYAN_RUNTIME_ETCD_RECORD_SEAL_H_
#define BANYAN_RUNTIME_ETCD_RECORD_SEAL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

class RecordSeal {
 public:
  // Seals nothing.
  RecordSeal() = default;
  // `secret` is what all schedulers of the job have, and nobody else.
  RecordSeal(absl::string_view secret, absl::string_view job);

  // Returns what is stored under `key` for `bytes`.
  std::string Close(absl::string_view key, absl::string_view bytes) const;
  // Returns the bytes again. DATA_LOSS when nobody with the secret has stored them under `key`.
  absl::StatusOr<std::string> Open(absl::string_view key, std::string stored) const;

 private:
  // The code of HMAC-SHA-512-256 for bytes under a key.
  std::string CodeOf(absl::string_view key, absl::string_view bytes) const;

  std::string secret_;  // empty: seals nothing
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_ETCD_RECORD_SEAL_H_
