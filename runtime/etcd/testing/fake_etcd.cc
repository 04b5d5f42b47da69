#include "runtime/etcd/testing/fake_etcd.h"

#include <algorithm>
#include <utility>

namespace banyan {
namespace {

constexpr size_t kMostRequestBytes = 1536 * 1024;
constexpr int kMostOperations = 128;
constexpr size_t kMostAnswerBytes = size_t{4} << 20;

}  // namespace

class FakeEtcdApi : public EtcdApi {
 public:
  explicit FakeEtcdApi(FakeEtcd* cluster) : cluster_(cluster) {}

  absl::StatusOr<etcd::RangeResponse> Read(const etcd::RangeRequest& request) override {
    return cluster_->Call<etcd::RangeResponse>([this, &request](bool) { return cluster_->Read(request); });
  }
  absl::StatusOr<etcd::TxnResponse> Commit(const etcd::TxnRequest& request) override {
    return cluster_->Call<etcd::TxnResponse>([this, &request](bool arrives) -> absl::StatusOr<etcd::TxnResponse> {
      if (arrives) return cluster_->Commit(request);
      cluster_->lost_commits_.push_back(request);
      return etcd::TxnResponse();
    });
  }
  absl::StatusOr<etcd::LeaseGrantResponse> Grant(const etcd::LeaseGrantRequest& request) override {
    return cluster_->Call<etcd::LeaseGrantResponse>([this, &request](bool arrives) {
      etcd::LeaseGrantResponse response;
      response.set_id(++cluster_->last_lease_);
      response.set_ttl(std::max<int64_t>(1, request.ttl()));
      if (arrives) cluster_->leases_[response.id()] = response.ttl();
      return absl::StatusOr<etcd::LeaseGrantResponse>(response);
    });
  }
  absl::StatusOr<etcd::LeaseKeepAliveResponse> KeepAlive(const etcd::LeaseKeepAliveRequest& request) override {
    return cluster_->Call<etcd::LeaseKeepAliveResponse>([this, &request](bool) {
      etcd::LeaseKeepAliveResponse response;
      response.set_id(request.id());
      const auto lease = cluster_->leases_.find(request.id());
      if (lease != cluster_->leases_.end()) response.set_ttl(lease->second);
      return absl::StatusOr<etcd::LeaseKeepAliveResponse>(response);
    });
  }
  absl::StatusOr<etcd::LeaseRevokeResponse> Revoke(const etcd::LeaseRevokeRequest& request) override {
    return cluster_->Call<etcd::LeaseRevokeResponse>([this, &request](bool arrives) {
      if (arrives) cluster_->End(request.id());
      return absl::StatusOr<etcd::LeaseRevokeResponse>(etcd::LeaseRevokeResponse());
    });
  }

 private:
  FakeEtcd* const cluster_;
};

std::unique_ptr<EtcdApi> FakeEtcd::NewApi() { return std::make_unique<FakeEtcdApi>(this); }

template <typename Answer, typename Act>
absl::StatusOr<Answer> FakeEtcd::Call(Act act) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++calls_;
  const bool fails = good_calls_ == 0 && failures_ > 0;
  if (good_calls_ > 0) --good_calls_;
  if (!fails) return act(true);
  --failures_;
  act(loss_ == FakeEtcdLoss::kAnswer).IgnoreError();
  return failure_;
}

void FakeEtcd::FailAfter(int calls, FakeEtcdLoss loss, int failures, absl::Status failure) {
  std::lock_guard<std::mutex> lock(mutex_);
  failure_ = std::move(failure);
  good_calls_ = calls;
  loss_ = loss;
  failures_ = failures;
}

void FakeEtcd::DeliverLostCommits() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const etcd::TxnRequest& commit : std::exchange(lost_commits_, {})) Commit(commit).IgnoreError();
}

void FakeEtcd::EndLeases() {
  std::lock_guard<std::mutex> lock(mutex_);
  while (!leases_.empty()) End(leases_.begin()->first);
}

void FakeEtcd::End(int64_t lease) {
  leases_.erase(lease);
  std::erase_if(values_, [lease](const auto& entry) { return entry.second.lease == lease; });
  ++revision_;
}

std::map<std::string, std::string> FakeEtcd::Values() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::map<std::string, std::string> values;
  for (const auto& [key, value] : values_) values[key] = value.value;
  return values;
}

void FakeEtcd::Delete(const std::string& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  values_.erase(key);
}

void FakeEtcd::Put(const std::string& key, const std::string& value) {
  std::lock_guard<std::mutex> lock(mutex_);
  Value& found = values_[key];
  if (found.create_revision == 0) found.create_revision = ++revision_;
  found.value = value;
}

int FakeEtcd::calls() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return calls_;
}

int FakeEtcd::leases() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(leases_.size());
}

absl::StatusOr<etcd::RangeResponse> FakeEtcd::Read(const etcd::RangeRequest& request) const {
  etcd::RangeResponse response;
  const std::string end = request.range_end().empty() ? request.key() + '\0' : request.range_end();
  for (auto it = values_.lower_bound(request.key()); it != values_.end() && it->first < end; ++it) {
    if (request.limit() > 0 && response.kvs_size() == request.limit()) {
      response.set_more(true);
      break;
    }
    etcd::KeyValue& one = *response.add_kvs();
    one.set_key(it->first);
    one.set_value(it->second.value);
    one.set_create_revision(it->second.create_revision);
    one.set_lease(it->second.lease);
  }
  if (response.ByteSizeLong() > kMostAnswerBytes) return absl::ResourceExhaustedError("the answer is too large");
  return response;
}

absl::StatusOr<etcd::TxnResponse> FakeEtcd::Commit(const etcd::TxnRequest& request) {
  if (request.ByteSizeLong() > kMostRequestBytes) return absl::InvalidArgumentError("the request is too large");
  if (std::max(request.success_size(), request.failure_size()) > kMostOperations) {
    return absl::InvalidArgumentError("too many operations");
  }
  etcd::TxnResponse response;
  response.set_succeeded(std::all_of(request.compare().begin(), request.compare().end(),
                                     [this](const etcd::Compare& compare) { return Holds(compare); }));
  ++revision_;
  for (const etcd::RequestOp& operation : response.succeeded() ? request.success() : request.failure()) {
    Apply(operation, response);
  }
  return response;
}

bool FakeEtcd::Holds(const etcd::Compare& compare) const {
  const auto found = values_.find(compare.key());
  if (compare.target() == etcd::Compare::VALUE) {
    return found != values_.end() && found->second.value == compare.value();
  }
  return compare.create_revision() == (found == values_.end() ? 0 : found->second.create_revision);
}

void FakeEtcd::Apply(const etcd::RequestOp& operation, etcd::TxnResponse& response) {
  etcd::ResponseOp& answer = *response.add_responses();
  if (operation.has_request_range()) {
    *answer.mutable_response_range() = Read(operation.request_range()).value();
  } else if (operation.has_request_put()) {
    Value& value = values_[operation.request_put().key()];
    if (value.create_revision == 0) value.create_revision = revision_;
    value.value = operation.request_put().value();
    value.lease = operation.request_put().lease();
  } else {
    const etcd::DeleteRangeRequest& range = operation.request_delete_range();
    std::erase_if(
        values_, [&range](const auto& entry) { return entry.first >= range.key() && entry.first < range.range_end(); });
  }
}

}  // namespace banyan
