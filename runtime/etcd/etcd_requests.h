// Makes the messages of etcd that several parts use. Pure functions.
#ifndef BANYAN_RUNTIME_ETCD_ETCD_REQUESTS_H_
#define BANYAN_RUNTIME_ETCD_ETCD_REQUESTS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/etcd/etcd_api.pb.h"

namespace banyan {

// What proves to etcd that a process leads: the key of this name that came to be in this revision is its own.
struct LeaderFence {
  std::string key;
  int64_t create_revision = 0;
};

etcd::RangeRequest EtcdRead(absl::string_view key);
etcd::RequestOp EtcdReadOp(absl::string_view key);
etcd::RequestOp EtcdPutOp(absl::string_view key, absl::string_view value);
// Deletes the keys from `first` up to, but without, `end`.
etcd::RequestOp EtcdDeleteOp(absl::string_view first, absl::string_view end);
// Holds while the key is the one that came to be in this revision; 0: while there is no such key.
etcd::Compare EtcdCreatedIn(absl::string_view key, int64_t revision);
etcd::Compare EtcdHasValue(absl::string_view key, absl::string_view value);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_ETCD_ETCD_REQUESTS_H_
