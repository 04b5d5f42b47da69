// The names of one job's keys in etcd, and the ranges that they make. Pure functions.
//
//   /banyan/JOB/leader                  who leads; goes with the leader's lease
//   /banyan/JOB/generation              the number N of the state that counts
//   /banyan/JOB/snapshot/N/OFFSET       the bytes of its snapshot from OFFSET on
//   /banyan/JOB/log/N/OFFSET            the bytes of the log after it, likewise
//
// Numbers in names have 16 hexadecimal digits, so that the order of names is that of numbers.
#ifndef BANYAN_RUNTIME_ETCD_ETCD_KEYS_H_
#define BANYAN_RUNTIME_ETCD_ETCD_KEYS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace banyan {

class EtcdKeys {
 public:
  explicit EtcdKeys(absl::string_view job);

  std::string Leader() const { return root_ + "leader"; }
  std::string Generation() const { return root_ + "generation"; }
  // All that begins with these belongs to snapshots, to logs; to those of one generation.
  std::string Snapshots() const { return root_ + "snapshot/"; }
  std::string Logs() const { return root_ + "log/"; }
  std::string SnapshotOf(uint64_t generation) const;
  std::string LogOf(uint64_t generation) const;

 private:
  std::string root_;
};

// The name of the part from `offset` on.
std::string EtcdPartKey(absl::string_view prefix, uint64_t offset);
// The first name behind all those that begin with `prefix`. REQUIRES: it does not end in the highest byte.
std::string EtcdRangeEnd(absl::string_view prefix);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_ETCD_ETCD_KEYS_H_
