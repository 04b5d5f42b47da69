// Moves the packets of an emulated WAN: from every node's TUN device through the forwarding core to another one's. One
// thread reads all devices until they are empty, moves what is due, writes what has arrived, and sleeps until the next
// of it. Thread-compatible.
//
// While packets come fast it lets them gather for a moment before it looks again, so that one wake-up moves many. The
// moment is short beside any delay of the network.
#ifndef BANYAN_WAN_FORWARDER_H_
#define BANYAN_WAN_FORWARDER_H_

#include <time.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/time.h"
#include "posix/file_descriptor.h"
#include "topology/network_view.h"
#include "wan/forwarding_core.h"
#include "wan/offload_packet.h"
#include "wan/packet_pool.h"
#include "wan/rate_script.h"

namespace banyan {

inline constexpr absl::Duration kLeastGatherTime = absl::Microseconds(100);
inline constexpr absl::Duration kMostGatherTime = absl::Milliseconds(1);

// Returns the time that a busy forwarder lets packets gather before it looks for them again. So much later may a packet
// leave or arrive: a sixteenth of the network's shortest delay, between these two. Pure function.
absl::Duration GatherTime(const NetworkView& view);

struct ForwarderCounters {
  int64_t read_packets = 0;        // from devices, offloaded ones as one
  int64_t written_packets = 0;     // likewise
  int64_t unroutable_packets = 0;  // not IPv4, or to no node
  int64_t refused_packets = 0;     // that the pool or a device had no room for
  int64_t wakeups = 0;
};

class Forwarder {
 public:
  // `tuns` are the devices of the view's nodes, in their order; the node at position i has WanAddress(i).
  Forwarder(const NetworkView& view, std::vector<FileDescriptor> tuns, const ForwardingOptions& options,
            RateScript script);

  // Runs until `stop_fd` is readable, and calls `serve` whenever `served_fd` is. Fails when the system refuses to wait.
  absl::Status Run(int stop_fd, int served_fd, const std::function<void()>& serve);

  // Sets the rate of the link between two nodes in one direction; `serve` calls it. Returns false when there is no such
  // link.
  bool SetRate(NodeId from, NodeId to, double rate_bps);
  // Likewise: nothing that `from` sends reaches `to` from now on, or all of it does again.
  bool SetCut(NodeId from, NodeId to, bool is_cut) { return core_.SetCut(from, to, is_cut); }
  std::vector<ChannelState> States();
  // Run returns when it has answered.
  void Stop() { stopping_ = true; }
  const ForwarderCounters& counters() const { return counters_; }

 private:
  absl::Status Register(int stop_fd, int served_fd);
  absl::Status Wait();
  void Handle(size_t source, const std::function<void()>& serve);
  // Both return how many packets they have moved.
  int ReadAll(size_t node);
  int MoveDue();
  void Take(size_t from, size_t size);
  void SendTrains(size_t from, size_t to, const OffloadPacket& packet, uint32_t slot, int at_once);
  int SegmentsAtOnce(size_t from, size_t to, const OffloadPacket& packet) const;
  void WriteTrain(const TrainEnd& end);
  void WriteRun(const OffloadPacket& packet, int first, int count, int tun);
  void CountWrite(bool written);
  void Gather(int moved);

  const size_t nodes_;
  const timespec gather_;
  std::vector<FileDescriptor> tuns_;
  ForwardingCore core_;
  RateScript script_;
  PacketPool pool_;
  PacketPool::Buffer scratch_;  // what is read next
  FileDescriptor epoll_;
  std::vector<size_t> ready_;
  ForwarderCounters counters_;
  Timestamp start_;
  bool stopping_ = false;
};

}  // namespace banyan

#endif  // BANYAN_WAN_FORWARDER_H_
