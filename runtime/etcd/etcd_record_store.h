// etcd as the storage of a core's records: the bytes of a snapshot and of the log after it, cut into parts that fit a
// request (etcd_keys.h names them, records/record_format.h their form).
//
// Thread-compatible; a call goes on trying while etcd does not answer and this process leads. It opens once, after this
// process has become the leader.
//
// Invariants:
// - Each write compares the leader's key and the generation: a leader that was deposed changes nothing any more. Its
//   calls end with ABORTED.
// - A generation begins when the key `generation` changes. The same transaction removes the generation before.
// - A batch counts when its last part is there. A write that was given up and comes late says the same as its second
//   try, or fails since the generation has moved on.
#ifndef BANYAN_RUNTIME_ETCD_ETCD_RECORD_STORE_H_
#define BANYAN_RUNTIME_ETCD_ETCD_RECORD_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "protocol/leadership.h"
#include "protocol/record_store.h"
#include "runtime/etcd/etcd_api.h"
#include "runtime/etcd/etcd_keys.h"

namespace banyan {

// Keeps what lies in etcd from being changed by others: whoever may write there without the secret of the job's
// schedulers can take records away, but make none that they read. A value; thread-safe.
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

class EtcdRecordStore : public RecordStore {
 public:
  // Bytes of one part, so that a request stays below etcd's 1.5 MB.
  static constexpr size_t kPartBytes = size_t{1} << 20;

  // `fence` is what `leadership` rests on; that outlives this. What is stored is sealed with `seal`, and what is not
  // sealed so is damaged.
  EtcdRecordStore(std::unique_ptr<EtcdApi> api, absl::string_view job, LeaderFence fence, const Leadership* leadership,
                  RecordSeal seal = {});

  absl::StatusOr<StoredRecords> Open() override;
  // Returns what is stored now, and changes nothing: for a process that does not lead. Any error may come of a leader
  // that writes meanwhile. This is not to be opened then.
  absl::StatusOr<StoredRecords> Peek();
  absl::Status Append(const std::vector<std::string>& records) override;
  absl::Status Replace(const std::string& snapshot) override;

 private:
  using Operations = std::vector<etcd::RequestOp>;

  // Calls until there is an answer, or this process leads no more.
  template <typename Answer>
  absl::StatusOr<Answer> Ask(const std::function<absl::StatusOr<Answer>()>& call) const;
  // Does all operations or none, and only while this process leads and the generation is generation_. Afterwards it is
  // `next`.
  absl::Status Commit(const Operations& operations, uint64_t next);
  // Says why a commit was refused; OK when an earlier try has done all of it.
  absl::Status ReadRefusal(const etcd::TxnResponse& response, uint64_t next) const;

  absl::StatusOr<std::vector<etcd::KeyValue>> ReadAll(const std::string& prefix) const;
  // Adds the bytes of all parts under `prefix` to `bytes`, which stand before them. DATA_LOSS names a missing part.
  absl::Status ReadParts(const std::string& prefix, std::string& bytes) const;
  // Reads the generation; 0 when there is none and nothing else either.
  absl::StatusOr<uint64_t> ReadGeneration() const;
  absl::StatusOr<StoredRecords> ReadRecords();
  // Removes what belongs to no generation that counts, and what follows the whole batches.
  absl::Status RemoveOthers();
  // Puts `bytes`, which stand at `offset`, as parts under `prefix`. The last one is committed together with `last`.
  absl::Status PutParts(const std::string& prefix, uint64_t offset, absl::string_view bytes, Operations last,
                        uint64_t next);
  absl::Status BeginGeneration(uint64_t generation, const std::string& snapshot);

  const std::unique_ptr<EtcdApi> api_;
  const EtcdKeys keys_;
  const LeaderFence fence_;
  const Leadership* const leadership_;
  const RecordSeal seal_;
  uint64_t generation_ = 0;  // 0: none yet
  size_t log_bytes_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_ETCD_ETCD_RECORD_STORE_H_
