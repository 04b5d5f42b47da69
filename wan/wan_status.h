// The description and the state of an emulated WAN, as values and as the JSON of `banyan wan status --json`. The
// emulator answers with that JSON and leaves it on disk for whoever comes after its end. Pure.
#ifndef BANYAN_WAN_WAN_STATUS_H_
#define BANYAN_WAN_WAN_STATUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

struct WanStatus {
  struct Node {
    std::string name;
    std::string address;  // "10.99.0.1"
  };
  // One direction. Bytes are of IP packets; a packet is what MTU-sized segments are on the wire.
  struct Link {
    std::string from;
    std::string to;
    double mbps = 0;  // at present
    double delay_ms = 0;
    double loss_percent = 0;
    int64_t bytes = 0;    // that left the queue since the start
    int64_t packets = 0;  // likewise
    int64_t lost_packets = 0;
    int64_t dropped_packets = 0;  // for want of room in the queue
    int64_t queued_bytes = 0;
    int64_t queue_limit_bytes = 0;
    bool is_cut = false;          // nothing that `from` sends reaches `to`
    int64_t trimmed_packets = 0;  // for want of room in the queue
  };
  struct Forwarder {
    int64_t read_packets = 0;  // offloaded ones as one
    int64_t written_packets = 0;
    int64_t unroutable_packets = 0;
    int64_t refused_packets = 0;
    int64_t wakeups = 0;
    double cpu_seconds = 0;
  };

  std::string id;       // of this emulated WAN alone; in the environment of what runs in it
  std::string overlay;  // the file
  int64_t pid = 0;      // of the forwarder
  uint64_t seed = 0;
  double uptime_seconds = 0;
  std::vector<Node> nodes;
  std::vector<Link> links;
  Forwarder forwarder;

  // nullptr when there is none.
  const Node* FindNode(absl::string_view name) const;
  const Link* FindLink(absl::string_view from, absl::string_view to) const;
};

template <typename Visitor>
void Fields(Visitor& v, WanStatus::Node& m) {
  v(1, "name", m.name);
  v(2, "address", m.address);
}

template <typename Visitor>
void Fields(Visitor& v, WanStatus::Link& m) {
  v(1, "from", m.from);
  v(2, "to", m.to);
  v(3, "mbps", m.mbps);
  v(4, "delay_ms", m.delay_ms);
  v(5, "loss_percent", m.loss_percent);
  v(6, "bytes", m.bytes);
  v(7, "packets", m.packets);
  v(8, "lost_packets", m.lost_packets);
  v(9, "dropped_packets", m.dropped_packets);
  v(10, "queued_bytes", m.queued_bytes);
  v(11, "queue_limit_bytes", m.queue_limit_bytes);
  v(12, "cut", m.is_cut);
  v(13, "trimmed_packets", m.trimmed_packets);
}

template <typename Visitor>
void Fields(Visitor& v, WanStatus::Forwarder& m) {
  v(1, "read_packets", m.read_packets);
  v(2, "written_packets", m.written_packets);
  v(3, "unroutable_packets", m.unroutable_packets);
  v(4, "refused_packets", m.refused_packets);
  v(5, "wakeups", m.wakeups);
  v(6, "cpu_seconds", m.cpu_seconds);
}

template <typename Visitor>
void Fields(Visitor& v, WanStatus& m) {
  v(1, "id", m.id);
  v(2, "overlay", m.overlay);
  v(3, "pid", m.pid);
  v(4, "seed", m.seed);
  v(5, "uptime_seconds", m.uptime_seconds);
  v(6, "nodes", m.nodes);
  v(7, "links", m.links);
  v(8, "forwarder", m.forwarder);
}

// `state` is "running" or "dead".
std::string WanStatusJson(WanStatus status, const std::string& state);
// Parses what WanStatusJson has written; INVALID_ARGUMENT for anything else.
absl::StatusOr<WanStatus> ParseWanStatus(absl::string_view json);
// Returns `status` as text for people.
std::string WanStatusText(const WanStatus& status);

}  // namespace banyan

#endif  // BANYAN_WAN_WAN_STATUS_H_
