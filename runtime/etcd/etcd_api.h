// What schedulers ask of etcd. Pure interface: etcd itself over HTTP, and memory for tests. Calls may block for a few
// time-outs. Thread-compatible.
//
// Invariants:
// - UNAVAILABLE says that nobody answered. Whether the call had its effect is open then, and it may have it later.
// - Other errors are etcd's own words, and the call had no effect.
#ifndef BANYAN_RUNTIME_ETCD_ETCD_API_H_
#define BANYAN_RUNTIME_ETCD_ETCD_API_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/etcd/etcd_api.pb.h"

namespace banyan {

class EtcdApi {
 public:
  virtual ~EtcdApi() = default;

  // Reads keys in their order, as the last completed commit has left them.
  virtual absl::StatusOr<etcd::RangeResponse> Read(const etcd::RangeRequest& request) = 0;
  virtual absl::StatusOr<etcd::TxnResponse> Commit(const etcd::TxnRequest& request) = 0;
  virtual absl::StatusOr<etcd::LeaseGrantResponse> Grant(const etcd::LeaseGrantRequest& request) = 0;
  // Makes the lease as long as at first. A TTL of 0 in the answer says that it has ended.
  virtual absl::StatusOr<etcd::LeaseKeepAliveResponse> KeepAlive(const etcd::LeaseKeepAliveRequest& request) = 0;
  // Ends the lease, and with it the keys that have it.
  virtual absl::StatusOr<etcd::LeaseRevokeResponse> Revoke(const etcd::LeaseRevokeRequest& request) = 0;
};

// What proves to etcd that a process leads: the key of this name that came to be in this revision is its own.
struct LeaderFence {
  std::string key;
  int64_t create_revision = 0;
};

// Make the messages that several parts use. Pure functions.
etcd::RangeRequest EtcdRead(absl::string_view key);
etcd::RequestOp EtcdReadOp(absl::string_view key);
etcd::RequestOp EtcdPutOp(absl::string_view key, absl::string_view value);
// Deletes the keys from `first` up to, but without, `end`.
etcd::RequestOp EtcdDeleteOp(absl::string_view first, absl::string_view end);
// Holds while the key is the one that came to be in this revision; 0: while there is no such key.
etcd::Compare EtcdCreatedIn(absl::string_view key, int64_t revision);
etcd::Compare EtcdHasValue(absl::string_view key, absl::string_view value);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_ETCD_ETCD_API_H_
