#include "runtime/etcd/etcd_record_store.h"

#include <sodium.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/check.h"
#include "posix/steady_clock.h"
#include "runtime/records/record_format.h"

namespace banyan {

// ---- the seal ----

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
      "it is not sealed with the key of this job's schedulers: another program has written it, or a scheduler that had "
      "no key or knew no seals");
}

// ---- the store ----

namespace {

constexpr absl::Duration kWriteRetryInterval = absl::Milliseconds(50);
// Keys of one answer, as long as they are small: etcd's gateway gives up on answers of more than 4 MB.
constexpr int64_t kPageKeys = 1000;

absl::Status Damaged(absl::string_view where, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(where, ": ", what,
                                          "; bring etcd back from a copy, or delete the keys of this job in etcd to "
                                          "begin a new one"));
}

absl::Status WithAdvice(const absl::Status& status) {
  if (!absl::IsResourceExhausted(status)) return status;
  return absl::ResourceExhaustedError(
      absl::StrCat(status.message(),
                   "; let etcd forget old revisions (--auto-compaction-retention), then run 'etcdctl defrag' and "
                   "'etcdctl alarm disarm'"));
}

const etcd::KeyValue* FirstOf(const etcd::TxnResponse& response, int index) {
  if (index >= response.responses_size() || response.responses(index).response_range().kvs_size() == 0) return nullptr;
  return &response.responses(index).response_range().kvs(0);
}

}  // namespace

EtcdRecordStore::EtcdRecordStore(std::unique_ptr<EtcdApi> api, absl::string_view job, LeaderFence fence,
                                 const Leadership* leadership, RecordSeal seal)
    : api_(std::move(api)), keys_(job), fence_(std::move(fence)), leadership_(leadership), seal_(std::move(seal)) {}

template <typename Answer>
absl::StatusOr<Answer> EtcdRecordStore::Ask(const std::function<absl::StatusOr<Answer>()>& call) const {
  while (true) {
    absl::StatusOr<Answer> answer = call();
    if (!absl::IsUnavailable(answer.status())) return answer;
    if (SteadyNow() >= leadership_->LeadsUntil()) return leadership_->WhyLost();
    absl::SleepFor(kWriteRetryInterval);
  }
}

absl::Status EtcdRecordStore::Commit(const Operations& operations, uint64_t next) {
  etcd::TxnRequest request;
  *request.add_compare() = EtcdCreatedIn(fence_.key, fence_.create_revision);
  *request.add_compare() = generation_ == 0 ? EtcdCreatedIn(keys_.Generation(), 0)
                                            : EtcdHasValue(keys_.Generation(), absl::StrCat(generation_));
  for (const etcd::RequestOp& operation : operations) *request.add_success() = operation;
  *request.add_failure() = EtcdReadOp(fence_.key);
  *request.add_failure() = EtcdReadOp(keys_.Generation());
  const absl::StatusOr<etcd::TxnResponse> response =
      Ask<etcd::TxnResponse>([this, &request] { return api_->Commit(request); });
  if (!response.ok()) return WithAdvice(response.status());
  if (response->succeeded()) return absl::OkStatus();
  return ReadRefusal(*response, next);
}

absl::Status EtcdRecordStore::ReadRefusal(const etcd::TxnResponse& response, uint64_t next) const {
  const etcd::KeyValue* const leader = FirstOf(response, 0);
  if (leader == nullptr || leader->create_revision() != fence_.create_revision) {
    return absl::AbortedError(
        absl::StrCat("expected to lead by ", fence_.key, " of revision ", fence_.create_revision, ", got ",
                     leader == nullptr ? "no such key"
                                       : absl::StrCat("revision ", leader->create_revision(), " of ", leader->value()),
                     ": this process leads no more"));
  }
  const etcd::KeyValue* const generation = FirstOf(response, 1);
  const std::string found = generation == nullptr ? "none" : generation->value();
  if (next != generation_ && found == absl::StrCat(next)) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("expected ", generation_, " in ", keys_.Generation(), ", got ", found,
                                         ": another program has changed it"));
}

absl::StatusOr<std::vector<etcd::KeyValue>> EtcdRecordStore::ReadAll(const std::string& prefix) const {
  std::vector<etcd::KeyValue> found;
  etcd::RangeRequest request = EtcdRead(prefix);
  request.set_range_end(EtcdRangeEnd(prefix));
  request.set_limit(kPageKeys);
  while (true) {
    absl::StatusOr<etcd::RangeResponse> page =
        Ask<etcd::RangeResponse>([this, &request] { return api_->Read(request); });
    if (absl::IsResourceExhausted(page.status()) && request.limit() > 1) {
      request.set_limit(std::max<int64_t>(1, request.limit() / 8));
      continue;
    }
    if (!page.ok()) return page.status();
    for (etcd::KeyValue& one : *page->mutable_kvs()) found.push_back(std::move(one));
    if (!page->more() || page->kvs_size() == 0) return found;
    request.set_key(found.back().key() + '\0');
  }
}

absl::Status EtcdRecordStore::ReadParts(const std::string& prefix, std::string& bytes) const {
  const absl::StatusOr<std::vector<etcd::KeyValue>> parts = ReadAll(prefix);
  if (!parts.ok()) return parts.status();
  for (const etcd::KeyValue& part : *parts) {
    const std::string expected = EtcdPartKey(prefix, bytes.size());
    if (part.key() != expected)
      return Damaged(expected, absl::StrCat("the key is missing, though there is ", part.key()));
    const absl::StatusOr<std::string> opened = seal_.Open(part.key(), part.value());
    if (!opened.ok()) return Damaged(part.key(), opened.status().message());
    bytes += *opened;
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> EtcdRecordStore::ReadGeneration() const {
  const absl::StatusOr<etcd::RangeResponse> response =
      Ask<etcd::RangeResponse>([this] { return api_->Read(EtcdRead(keys_.Generation())); });
  if (!response.ok()) return response.status();
  uint64_t generation = 0;
  if (response->kvs_size() > 0) {
    const std::string& text = response->kvs(0).value();
    if (absl::SimpleAtoi(text, &generation) && generation > 0) return generation;
    return Damaged(keys_.Generation(), absl::StrCat("expected a number, got '", text, "'"));
  }
  for (const std::string& prefix : {keys_.Snapshots(), keys_.Logs()}) {
    const absl::StatusOr<std::vector<etcd::KeyValue>> found = ReadAll(prefix);
    if (!found.ok()) return found.status();
    if (!found->empty()) {
      return Damaged(keys_.Generation(), absl::StrCat("the key is missing, though there is ", found->front().key()));
    }
  }
  return 0;
}

absl::StatusOr<StoredRecords> EtcdRecordStore::Open() {
  const absl::StatusOr<uint64_t> generation = ReadGeneration();
  if (!generation.ok()) return generation.status();
  if (*generation == 0) {
    if (absl::Status status = BeginGeneration(1, ""); !status.ok()) return status;
    return StoredRecords();
  }
  generation_ = *generation;
  absl::StatusOr<StoredRecords> stored = ReadRecords();
  if (!stored.ok()) return stored;
  if (absl::Status status = RemoveOthers(); !status.ok()) return status;
  return stored;
}

absl::StatusOr<StoredRecords> EtcdRecordStore::Peek() {
  const absl::StatusOr<uint64_t> generation = ReadGeneration();
  if (!generation.ok()) return generation.status();
  generation_ = *generation;
  return generation_ == 0 ? StoredRecords() : ReadRecords();
}

absl::StatusOr<StoredRecords> EtcdRecordStore::ReadRecords() {
  StoredRecords stored;
  std::string snapshot_bytes;
  const std::string snapshot_prefix = keys_.SnapshotOf(generation_);
  if (absl::Status status = ReadParts(snapshot_prefix, snapshot_bytes); !status.ok()) return status;
  absl::StatusOr<std::string> snapshot = DecodeSnapshotFile(snapshot_bytes, generation_);
  if (!snapshot.ok()) return Damaged(snapshot_prefix, snapshot.status().message());
  stored.snapshot = *std::move(snapshot);

  // The head is the same for every log of the generation, and so is not stored.
  std::string log_bytes = EncodeLogHead(generation_);
  const std::string log_prefix = keys_.LogOf(generation_);
  if (absl::Status status = ReadParts(log_prefix, log_bytes); !status.ok()) return status;
  absl::StatusOr<LogContents> log = DecodeLog(log_bytes, generation_);
  if (!log.ok()) return Damaged(log_prefix, log.status().message());
  stored.tail = std::move(log->records);
  log_bytes_ = log->whole_bytes;
  if (const size_t torn = log_bytes.size() - log->whole_bytes; torn > 0) {
    stored.warning = absl::StrCat(log_prefix, ": after ", stored.tail.size(), " whole records ", torn,
                                  " bytes of a write that was not finished are removed");
  }
  return stored;
}

absl::Status EtcdRecordStore::RemoveOthers() {
  const std::string snapshot = keys_.SnapshotOf(generation_);
  const std::string log = keys_.LogOf(generation_);
  return Commit(
      {EtcdDeleteOp(keys_.Snapshots(), snapshot), EtcdDeleteOp(EtcdRangeEnd(snapshot), EtcdRangeEnd(keys_.Snapshots())),
       EtcdDeleteOp(keys_.Logs(), log), EtcdDeleteOp(EtcdPartKey(log, log_bytes_), EtcdRangeEnd(keys_.Logs()))},
      generation_);
}

absl::Status EtcdRecordStore::PutParts(const std::string& prefix, uint64_t offset, absl::string_view bytes,
                                       Operations last, uint64_t next) {
  while (true) {
    const absl::string_view part = bytes.substr(0, kPartBytes);
    const std::string key = EtcdPartKey(prefix, offset);
    const etcd::RequestOp put = EtcdPutOp(key, seal_.Close(key, part));
    bytes.remove_prefix(part.size());
    offset += part.size();
    if (bytes.empty()) {
      last.push_back(put);
      return Commit(last, next);
    }
    if (absl::Status status = Commit({put}, generation_); !status.ok()) return status;
  }
}

absl::Status EtcdRecordStore::Append(const std::vector<std::string>& records) {
  const std::string batch = EncodeBatch(records, generation_, log_bytes_);
  absl::Status status = PutParts(keys_.LogOf(generation_), log_bytes_, batch, {}, generation_);
  if (status.ok()) log_bytes_ += batch.size();
  return status;
}

absl::Status EtcdRecordStore::BeginGeneration(uint64_t generation, const std::string& snapshot) {
  const std::string old_snapshot = keys_.SnapshotOf(generation_);
  const std::string old_log = keys_.LogOf(generation_);
  absl::Status status =
      PutParts(keys_.SnapshotOf(generation), 0, EncodeSnapshotFile(snapshot, generation),
               {EtcdPutOp(keys_.Generation(), absl::StrCat(generation)),
                EtcdDeleteOp(old_snapshot, EtcdRangeEnd(old_snapshot)), EtcdDeleteOp(old_log, EtcdRangeEnd(old_log))},
               generation);
  if (!status.ok()) return status;
  generation_ = generation;
  log_bytes_ = LogHeadBytes();
  return absl::OkStatus();
}

absl::Status EtcdRecordStore::Replace(const std::string& snapshot) {
  return BeginGeneration(generation_ + 1, snapshot);
}

}  // namespace banyan
