// The counters behind Traffic. Thread-safe: the protocol thread counts, others look.
#ifndef BANYAN_RUNTIME_TRANSPORT_TRAFFIC_COUNTERS_H_
#define BANYAN_RUNTIME_TRANSPORT_TRAFFIC_COUNTERS_H_

#include <cstddef>
#include <mutex>

#include "core/ids.h"
#include "runtime/transport/traffic.h"

namespace banyan {

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

#endif  // BANYAN_RUNTIME_TRANSPORT_TRAFFIC_COUNTERS_H_
