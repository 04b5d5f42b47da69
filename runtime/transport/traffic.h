// Counters of what a process's sockets have carried, for status and logs. A value; thread-compatible.
#ifndef BANYAN_RUNTIME_TRANSPORT_TRAFFIC_H_
#define BANYAN_RUNTIME_TRANSPORT_TRAFFIC_H_

#include <cstdint>
#include <map>

#include "core/ids.h"

namespace banyan {

struct ConnectionTraffic {
  uint64_t sent_messages = 0;
  uint64_t sent_bytes = 0;  // headers and payloads
  uint64_t received_messages = 0;
  uint64_t received_bytes = 0;

  friend bool operator==(const ConnectionTraffic&, const ConnectionTraffic&) = default;
};

struct Traffic {
  std::map<ConnectionId, ConnectionTraffic> connections;  // those that exist now
  ConnectionTraffic closed;                               // those that no longer do, together
  uint64_t rejected_messages = 0;                         // from peers: did not decode
  uint64_t rejected_worker_messages = 0;
  uint64_t dropped_sends = 0;  // on connections that were down or full

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_TRAFFIC_H_
