// etcd in memory, for tests: its keys, revisions, transactions and leases, as far as schedulers use them, and its
// limits. Time does not pass here: leases end when a test says so. Calls fail when a test says so, with or without
// their effect. Thread-safe; outlives the interfaces to it.
#ifndef BANYAN_RUNTIME_ETCD_TESTING_FAKE_ETCD_H_
#define BANYAN_RUNTIME_ETCD_TESTING_FAKE_ETCD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/etcd/etcd_api.h"

namespace banyan {

// What is lost of a call that fails.
enum class FakeEtcdLoss { kRequest, kAnswer };

class FakeEtcd {
 public:
  std::unique_ptr<EtcdApi> NewApi();

  // The next `calls` calls work, and the `failures` after them end with `failure`.
  void FailAfter(int calls, FakeEtcdLoss loss, int failures,
                 absl::Status failure = absl::UnavailableError("the test says so"));
  // Commits whose request was lost take effect now, after all.
  void DeliverLostCommits();
  // Ends all leases, and with them their keys.
  void EndLeases();

  std::map<std::string, std::string> Values() const;
  void Delete(const std::string& key);
  void Put(const std::string& key, const std::string& value);
  int calls() const;
  int leases() const;

 private:
  friend class FakeEtcdApi;

  struct Value {
    int64_t create_revision = 0;
    std::string value;
    int64_t lease = 0;
  };

  // Each call goes through here: `act` changes the state.
  template <typename Answer, typename Act>
  absl::StatusOr<Answer> Call(Act act);
  absl::StatusOr<etcd::RangeResponse> Read(const etcd::RangeRequest& request) const;
  absl::StatusOr<etcd::TxnResponse> Commit(const etcd::TxnRequest& request);
  bool Holds(const etcd::Compare& compare) const;
  void Apply(const etcd::RequestOp& operation, etcd::TxnResponse& response);
  void End(int64_t lease);

  mutable std::mutex mutex_;
  std::map<std::string, Value> values_;
  std::map<int64_t, int64_t> leases_;  // their length in seconds
  int64_t revision_ = 1;
  int64_t last_lease_ = 0;
  int calls_ = 0;
  int good_calls_ = 0;  // still to come before the failures
  int failures_ = 0;    // still to come
  FakeEtcdLoss loss_ = FakeEtcdLoss::kRequest;
  absl::Status failure_;
  std::vector<etcd::TxnRequest> lost_commits_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_ETCD_TESTING_FAKE_ETCD_H_
