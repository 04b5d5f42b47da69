// The connections of one link that carry chunks: which of them are up, and how much each has on its way. A connection
// is overtaken when a chunk that it carries has arrived over another one: it probably recovers from a lost packet, and
// what is sent on it now would wait for that. One that seems stalled is distrusted. Thread-compatible; owned by
// LinkChunks.
//
// Invariants:
// - All connections are down at first, and their ids never change.
// - A connection's in_flight_bytes is the sum of what Add put on it and Remove has not taken off.
// - An idle connection is up, carries nothing, and so is not overtaken.
#ifndef BANYAN_NODE_LINK_DATA_CONNECTIONS_H_
#define BANYAN_NODE_LINK_DATA_CONNECTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ids.h"

namespace banyan {

class DataConnections {
 public:
  explicit DataConnections(const std::vector<ConnectionId>& ids);

  // Marks `connection` as up or down. Ids that are not of this link are ignored.
  void OnUp(ConnectionId connection);
  void OnDown(ConnectionId connection);

  // Puts `size_bytes` on `connection`, or takes them off it. REQUIRES: the id is of this link.
  void Add(ConnectionId connection, int64_t size_bytes);
  void Remove(ConnectionId connection, int64_t size_bytes);
  // Counts a chunk on `connection` that has arrived over another one, until Recover does so for the same chunk.
  void Overtake(ConnectionId connection);
  void Recover(ConnectionId connection);
  // Keeps chunks off a connection that seems stalled as long as another one is up; ends with `is_trusted`, or when the
  // connection is lost.
  void SetTrusted(ConnectionId connection, bool is_trusted);
  // Forgets what is on the connections, and distrust; they stay up or down.
  void Clear();

  // Returns the connection for the next chunk: of the first `most_used` that are up, not overtaken and trusted, the one
  // with the least on its way. If there is none, another one; empty when all are down.
  std::optional<ConnectionId> LeastLoaded(int64_t most_used) const;
  // Returns the first connection that is up, trusted and carries nothing; empty when there is none.
  std::optional<ConnectionId> Idle() const;

  bool is_up() const;                      // any connection
  bool was_up() const { return was_up_; }  // any connection, ever
  // Returns 0 for an id that is not of this link.
  int64_t in_flight_bytes(ConnectionId connection) const;

 private:
  struct State {
    bool up = false;
    bool is_trusted = true;
    int64_t in_flight_bytes = 0;
    int64_t overtaken = 0;  // chunks on it that have arrived over another connection
  };

  std::map<ConnectionId, State> states_;
  bool was_up_ = false;
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_DATA_CONNECTIONS_H_
