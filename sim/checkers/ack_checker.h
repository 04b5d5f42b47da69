// Checks acknowledgements and credits between nodes:
// - An ack or BUSY only names what had arrived there, and its times are those of the chunk.
// - Link sequences rise, and begin anew only when an end of the link has started anew or membership has changed.
// - No link carries more unacknowledged bytes than its window, so that queues stay bounded.
// Thread-compatible; registered with the network, owned by the cluster.
#ifndef BANYAN_SIM_CHECKERS_ACK_CHECKER_H_
#define BANYAN_SIM_CHECKERS_ACK_CHECKER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "sim/traffic_observer.h"
#include "sim/violations.h"

namespace banyan {

class AckChecker : public TrafficObserver {
 public:
  struct Limits {
    // Payload bytes without a link ack on one directed link; 0: not checked.
    int64_t window_bytes = 0;
    int64_t chunk_bytes = 0;                         // of the largest chunk: a window may be over by one
    absl::Duration resend_after = absl::Seconds(2);  // without a link ack a chunk is taken for lost
  };

  // `clock` gives a node's own time. `violations` outlives this.
  AckChecker(const Limits& limits, std::function<Timestamp(NodeId)> clock, Violations* violations);

  void OnSent(const SentMessage& sent) override;
  void OnDelivered(const SentMessage& sent) override;
  void OnProcessStarted(Timestamp now, NodeId process) override;
  void OnLossNoticed(Timestamp now, NodeId node, NodeId peer, uint32_t connection) override;

 private:
  using NodePair = std::pair<NodeId, NodeId>;
  // A chunk on one hop of its way.
  using ChunkOnWay = std::tuple<ChunkId, NodeId, NodeId>;  // source, destination

  struct InFlight {
    std::map<uint64_t, uint32_t> connections;  // by the sequence of each copy: the first ack of any counts
    int64_t bytes = 0;                         // of one
    Timestamp sent_at;                         // the last of them
  };
  struct Arrival {
    Timestamp sent_at;       // by the sender's clock
    bool is_direct = false;  // straight from its source to its destination
  };
  struct Link {
    uint64_t last_sequence = 0;
    bool may_begin_anew = false;
    std::map<uint64_t, std::vector<Arrival>> delivered;  // by sequence; several where it began anew
    std::map<ChunkOnWay, InFlight> in_flight;
    std::map<uint64_t, ChunkOnWay> by_sequence;
    std::set<ChunkOnWay> acknowledged;
    int64_t in_flight_bytes = 0;
  };

  // The epochs that nodes were told of: a scheduler that is found again repeats the last one, which changes nothing.
  class Told {
   public:
    bool Rises(NodeId node, Epoch epoch) {
      const auto [entry, is_first] = epochs_.try_emplace(node, epoch);
      if (!is_first && epoch <= entry->second) return false;
      entry->second = epoch;
      return true;
    }
    void Forget(NodeId node) { epochs_.erase(node); }

   private:
    std::map<NodeId, Epoch> epochs_;
  };

  void CheckChunk(const SentMessage& sent, const ChunkMessage& chunk);
  void CheckLinkAck(const SentMessage& sent, const LinkAck& ack);
  template <typename Answer>
  void CheckAnswer(const SentMessage& sent, const Answer& answer, bool from_relay_too);
  // The node drops what it has sent and has not been acknowledged, and may open its links anew.
  void ForgetInFlight(NodeId node);
  void TakeBackOverdue(const ChunkMessage& newest, Link* link);
  void TakeBack(Link* link, std::map<ChunkOnWay, InFlight>::iterator entry);
  void Complain(const SentMessage& sent, const std::string& rule, const std::string& what);

  const Limits limits_;
  const std::function<Timestamp(NodeId)> clock_;
  Violations* const violations_;
  std::map<NodePair, Link> links_;
  Told begun_;
  Told planned_;
  std::map<NodeId, std::set<ChunkOnWay>> arrived_;  // by node that received it, relays among them
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_ACK_CHECKER_H_
