// What a process's sockets have carried, for status and logs: values, thread-compatible, and what counts them.
#ifndef BANYAN_RUNTIME_TRANSPORT_TRAFFIC_H_
#define BANYAN_RUNTIME_TRANSPORT_TRAFFIC_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

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

// The counters behind Traffic. Thread-safe: the protocol thread counts, others look.
class TrafficCounters {
 public:
  void CountSent(ConnectionId connection, size_t size_bytes);
  void CountReceived(ConnectionId connection, size_t size_bytes);
  void CountRejected();
  void CountRejectedWorkerMessage();
  void CountDroppedSend();
  // Adds what the connection carried to `closed`.
  void Close(ConnectionId connection);

  Traffic Get() const;

 private:
  mutable std::mutex mutex_;
  Traffic traffic_;  // guarded by mutex_
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_TRAFFIC_H_
