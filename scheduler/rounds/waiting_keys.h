// Keys that nodes have asked for before the job has started, in order of arrival. Thread-compatible; owned by
// KeyRegistrar.
#ifndef BANYAN_SCHEDULER_ROUNDS_WAITING_KEYS_H_
#define BANYAN_SCHEDULER_ROUNDS_WAITING_KEYS_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/ids.h"
#include "proto/scheduler_messages.h"

namespace banyan {

class WaitingKeys {
 public:
  struct Entry {
    RegisterKeys::Key key;
    std::vector<NodeId> nodes;  // that have asked for it, in order of arrival
  };

  // Adds a key, once per node and key. False at kMaxWaitingKeys, kMaxWaitingAskers and kMaxWaitingTensors.
  bool Add(NodeId node, const RegisterKeys::Key& key);
  // Drops the keys of a node that is gone: the next start of it may have other keys.
  void Drop(NodeId node);
  std::vector<Entry> TakeAll();

  // Returns how many keys wait, one that nodes give several shapes as often.
  size_t size() const { return entries_.size(); }

 private:
  using Shape = std::tuple<std::string, int64_t, uint64_t>;  // name, elements and the layout's hash
  static Shape ShapeOf(const RegisterKeys::Key& key) { return {key.name, key.elements, key.layout.Hash()}; }

  std::vector<Entry> entries_;
  std::map<Shape, size_t> index_;  // of entries_
  size_t askers_ = 0;              // of all entries together
  size_t grouped_tensors_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_WAITING_KEYS_H_
