#include "runtime/transport/traffic.h"

namespace banyan {

void TrafficCounters::CountSent(ConnectionId connection, size_t size_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  ConnectionTraffic& counted = traffic_.connections[connection];
  ++counted.sent_messages;
  counted.sent_bytes += size_bytes;
}

void TrafficCounters::CountReceived(ConnectionId connection, size_t size_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  ConnectionTraffic& counted = traffic_.connections[connection];
  ++counted.received_messages;
  counted.received_bytes += size_bytes;
}

void TrafficCounters::CountRejected() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++traffic_.rejected_messages;
}

void TrafficCounters::CountRejectedWorkerMessage() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++traffic_.rejected_worker_messages;
}

void TrafficCounters::CountDroppedSend() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++traffic_.dropped_sends;
}

void TrafficCounters::Close(ConnectionId connection) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto counted = traffic_.connections.find(connection);
  if (counted == traffic_.connections.end()) return;
  traffic_.closed.sent_messages += counted->second.sent_messages;
  traffic_.closed.sent_bytes += counted->second.sent_bytes;
  traffic_.closed.received_messages += counted->second.received_messages;
  traffic_.closed.received_bytes += counted->second.received_bytes;
  traffic_.connections.erase(counted);
}

Traffic TrafficCounters::Get() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return traffic_;
}

}  // namespace banyan
