// Which nodes have said that no worker of theirs speaks for them, so that the log has it once. Thread-compatible; owned
// by EpochChanger.
//
// Invariants:
// - A node says so again with each report that it sends while that is so: a report without it ends the state.
#ifndef BANYAN_SCHEDULER_EPOCHS_LOST_WORKERS_H_
#define BANYAN_SCHEDULER_EPOCHS_LOST_WORKERS_H_

#include <map>
#include <string>
#include <utility>

#include "core/ids.h"

namespace banyan {

class LostWorkers {
 public:
  // Notes what a node says; true when that is new.
  bool Note(NodeId node, const std::string& what) {
    Said& said = said_[node];
    said.is_said_again = true;
    return std::exchange(said.what, what) != what;
  }
  // Notes a report, which comes before what it leads to.
  void OnReport(NodeId node) {
    const auto said = said_.find(node);
    if (said == said_.end()) return;
    if (!std::exchange(said->second.is_said_again, false)) said_.erase(said);
  }
  void Forget(NodeId node) { said_.erase(node); }

 private:
  struct Said {
    std::string what;
    bool is_said_again = false;  // since the last report
  };

  std::map<NodeId, Said> said_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_EPOCHS_LOST_WORKERS_H_
