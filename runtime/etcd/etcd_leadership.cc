#include "runtime/etcd/etcd_leadership.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "posix/steady_clock.h"
#include "runtime/etcd/etcd_keys.h"

namespace banyan {
namespace {

// Renewals per lease while all is well, and the wait after one that failed.
constexpr int kRenewals = 6;
constexpr absl::Duration kRetryInterval = absl::Milliseconds(50);

const etcd::KeyValue* KeyOf(const etcd::RangeResponse& response) {
  return response.kvs_size() > 0 ? &response.kvs(0) : nullptr;
}

absl::Status LedBy(const std::string& name) { return absl::AlreadyExistsError(absl::StrCat(name, " leads")); }

// Of the lease: a step that is under way, and clocks that do not run alike.
constexpr int kMarginDivisor = 10;

}  // namespace

void LeaderLease::Renew(Timestamp asked_at, absl::Duration length, Timestamp now) {
  if (std::exchange(was_granted_, true) && !Holds(now)) return;
  const Timestamp until = asked_at + (length - length / kMarginDivisor);
  holds_until_ = std::max<int64_t>(holds_until_, until.nanoseconds());
}

EtcdLeadership::EtcdLeadership(std::unique_ptr<EtcdApi> api, std::string job, std::string name, absl::Duration lease)
    : api_(std::move(api)), name_(std::move(name)), length_(lease), fence_({EtcdKeys(job).Leader(), 0}) {}

EtcdLeadership::~EtcdLeadership() { Resign(); }

void EtcdLeadership::Resign() {
  lease_.End();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  GiveBack();
}

absl::Status EtcdLeadership::Campaign() {
  const absl::StatusOr<etcd::RangeResponse> found = api_->Read(EtcdRead(fence_.key));
  if (!found.ok()) return found.status();
  if (const etcd::KeyValue* leader = KeyOf(*found); leader != nullptr) {
    // It may be this one's own, made by a try whose answer was lost; then that lease ends in time.
    return LedBy(leader->value());
  }
  const absl::Status status = MakeKey();
  if (!status.ok()) {
    GiveBack();
    return status;
  }
  thread_ = std::thread([this] { KeepAlive(); });
  return absl::OkStatus();
}

absl::Status EtcdLeadership::MakeKey() {
  etcd::LeaseGrantRequest request;
  request.set_ttl(absl::ToInt64Seconds(length_));
  const Timestamp asked_at = SteadyNow();
  const absl::StatusOr<etcd::LeaseGrantResponse> granted = api_->Grant(request);
  if (!granted.ok()) return granted.status();
  lease_id_ = granted->id();
  const absl::StatusOr<etcd::TxnResponse> response = PutKey();
  if (!response.ok()) return response.status();
  // The key has come with the transaction, or was there before.
  const etcd::KeyValue* const leader = response->responses_size() > 0
                                           ? KeyOf(response->responses(response->responses_size() - 1).response_range())
                                           : nullptr;
  if (leader == nullptr)
    return absl::UnavailableError(absl::StrCat("etcd has made ", fence_.key, " without showing it"));
  if (leader->lease() != lease_id_) return LedBy(leader->value());
  fence_.create_revision = leader->create_revision();
  lease_.Renew(asked_at, absl::Seconds(granted->ttl()), SteadyNow());
  return absl::OkStatus();
}

absl::StatusOr<etcd::TxnResponse> EtcdLeadership::PutKey() const {
  etcd::RequestOp put = EtcdPutOp(fence_.key, name_);
  put.mutable_request_put()->set_lease(lease_id_);
  etcd::TxnRequest request;
  *request.add_compare() = EtcdCreatedIn(fence_.key, 0);
  *request.add_success() = put;
  *request.add_success() = EtcdReadOp(fence_.key);
  *request.add_failure() = EtcdReadOp(fence_.key);
  return api_->Commit(request);
}

void EtcdLeadership::KeepAlive() {
  std::unique_lock<std::mutex> lock(mutex_);
  absl::Duration wait = length_ / kRenewals;
  while (!changed_.wait_for(lock, absl::ToChronoMilliseconds(wait), [this] { return stopping_; })) {
    lock.unlock();
    const bool renewed = RenewOnce();
    if (!lease_.Holds(SteadyNow())) return;
    wait = renewed ? length_ / kRenewals : kRetryInterval;
    lock.lock();
  }
}

bool EtcdLeadership::RenewOnce() {
  etcd::LeaseKeepAliveRequest request;
  request.set_id(lease_id_);
  const Timestamp asked_at = SteadyNow();
  const absl::StatusOr<etcd::LeaseKeepAliveResponse> answer = api_->KeepAlive(request);
  std::string why_silent;
  if (!answer.ok()) {
    why_silent = std::string(answer.status().message());
    // Any other refusal may pass before the lease ends.
    if (absl::IsNotFound(answer.status())) lease_.End();
  } else if (answer->ttl() <= 0) {
    why_silent = "etcd has ended the lease";
    lease_.End();
  } else {
    lease_.Renew(asked_at, absl::Seconds(answer->ttl()), SteadyNow());
  }
  const bool renewed = why_silent.empty();
  std::lock_guard<std::mutex> lock(mutex_);
  why_silent_ = std::move(why_silent);
  return renewed;
}

absl::Status EtcdLeadership::WhyLost() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return absl::AbortedError(
      absl::StrCat("this process leads no more: its lease of ", absl::FormatDuration(length_), " was not renewed (",
                   why_silent_.empty() ? "the process or its machine stood still" : why_silent_, ")"));
}

void EtcdLeadership::GiveBack() {
  if (lease_id_ == 0) return;
  etcd::LeaseRevokeRequest request;
  request.set_id(std::exchange(lease_id_, 0));
  // Without an answer the lease ends by itself.
  api_->Revoke(request).IgnoreError();
}

}  // namespace banyan
