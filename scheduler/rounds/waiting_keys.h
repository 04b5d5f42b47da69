// Keys that nodes have asked for before the job has started, in order of arrival. Thread-compatible; owned by
// KeyRegistrar.
#ifndef BANYAN_SCHEDULER_ROUNDS_WAITING_KEYS_H_
#define BANYAN_SCHEDULER_ROUNDS_WAITING_KEYS_H_

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/ids.h"
#include "proto/scheduler_messages.h"

namespace banyan {

class WaitingKeys {
 public:
  struct Entry {
    NodeId node;
    RegisterKeys::Key key;
  };

  // Adds a key, once per node and key. False at kMaxWaitingKeys and kMaxWaitingTensors.
  bool Add(NodeId node, const RegisterKeys::Key& key);
  // Drops the keys of a node that is gone: the next start of it may have other keys.
  void Drop(NodeId node);
  std::vector<Entry> TakeAll();

  size_t size() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;
  std::set<std::tuple<NodeId, std::string, int64_t, uint64_t>> seen_;  // with the layout's hash
  size_t grouped_tensors_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_WAITING_KEYS_H_
