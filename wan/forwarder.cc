#include "wan/forwarder.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <optional>
#include <utility>

#include "core/check.h"
#include "posix/steady_clock.h"
#include "wan/node_namespace.h"

namespace banyan {
namespace {

constexpr size_t kPoolBytes = 1u << 30;
// Of one device before the others get their turn.
constexpr int kMostReadAtOnce = 4096;
constexpr int kMostEvents = 64;
// What a train may occupy the slowest link of its route for, between bounds: long enough to save work, and well below
// the propagation.
constexpr double kTrainPartOfDelay = 0.5;
constexpr absl::Duration kLeastTrainTime = absl::Milliseconds(1);
constexpr absl::Duration kMostTrainTime = absl::Milliseconds(15);
// From this many packets per wake-up on more are worth waiting for.
constexpr int kBusyPackets = 4;
constexpr absl::Duration kLongestWait = absl::Seconds(1);

constexpr int kPartsOfDelay = 16;

}  // namespace

absl::Duration GatherTime(const NetworkView& view) {
  absl::Duration shortest = absl::InfiniteDuration();
  for (const NetworkLink& link : view.links()) shortest = std::min(shortest, link.delay);
  return std::clamp(shortest / kPartsOfDelay, kLeastGatherTime, kMostGatherTime);
}

Forwarder::Forwarder(const NetworkView& view, std::vector<FileDescriptor> tuns, const ForwardingOptions& options,
                     RateScript script)
    : nodes_(view.nodes().size()),
      gather_(absl::ToTimespec(GatherTime(view))),
      tuns_(std::move(tuns)),
      core_(view, options),
      script_(std::move(script)),
      pool_(kPoolBytes),
      scratch_(PacketPool::NewBuffer()) {
  BANYAN_CHECK(tuns_.size() == nodes_);
}

absl::Status Forwarder::Run(int stop_fd, int served_fd, const std::function<void()>& serve) {
  if (const absl::Status status = Register(stop_fd, served_fd); !status.ok()) return status;
  // Wake-ups come when they are asked for, not up to 50 us later.
  prctl(PR_SET_TIMERSLACK, 1);
  start_ = SteadyNow();
  while (!stopping_) {
    if (const absl::Status status = Wait(); !status.ok()) return status;
    int moved = 0;
    for (const size_t source : ready_) {
      if (source < nodes_) {
        // What falls due while many devices are read need not wait for all of them.
        moved += ReadAll(source) + MoveDue();
      } else {
        Handle(source, serve);
      }
    }
    moved += MoveDue();
    ++counters_.wakeups;
    Gather(moved);
  }
  return absl::OkStatus();
}

bool Forwarder::SetRate(NodeId from, NodeId to, double rate_bps) {
  const int64_t now_ns = SteadyNow().nanoseconds();
  core_.Advance(now_ns);
  return core_.SetRate(now_ns, from, to, rate_bps);
}

std::vector<ChannelState> Forwarder::States() {
  const int64_t now_ns = SteadyNow().nanoseconds();
  core_.Advance(now_ns);
  return core_.States(now_ns);
}

// Sources are numbered: the devices as their nodes, then stop_fd and served_fd.
absl::Status Forwarder::Register(int stop_fd, int served_fd) {
  epoll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) return absl::ErrnoToStatus(errno, "cannot make an epoll");
  const auto add = [this](int fd, uint64_t source) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = source;
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
  };
  bool good = add(stop_fd, nodes_) && add(served_fd, nodes_ + 1);
  for (size_t i = 0; i < nodes_; ++i) good = good && add(tuns_[i].get(), i);
  return good ? absl::OkStatus() : absl::ErrnoToStatus(errno, "cannot watch the devices");
}

// Until a source is ready or something is due; fills ready_.
absl::Status Forwarder::Wait() {
  const Timestamp now = SteadyNow();
  Timestamp deadline = std::min(start_ + script_.NextAt(), now + kLongestWait);
  deadline = std::min(deadline, Timestamp::FromNanoseconds(core_.NextEventNs()));
  const timespec timeout = absl::ToTimespec(std::max(absl::ZeroDuration(), deadline - now));
  std::array<epoll_event, kMostEvents> events;
  const int count = epoll_pwait2(epoll_.get(), events.data(), kMostEvents, &timeout, nullptr);
  ready_.clear();
  if (count < 0) return errno == EINTR ? absl::OkStatus() : absl::ErrnoToStatus(errno, "cannot wait for packets");
  for (int i = 0; i < count; ++i) ready_.push_back(events[i].data.u64);
  return absl::OkStatus();
}

void Forwarder::Handle(size_t source, const std::function<void()>& serve) {
  if (source == nodes_) {
    stopping_ = true;
  } else {
    serve();
  }
}

int Forwarder::ReadAll(size_t node) {
  for (int count = 0; count < kMostReadAtOnce; ++count) {
    const ssize_t size = read(tuns_[node].get(), scratch_.get(), PacketPool::kLargestPacket);
    if (size <= 0) return count;
    ++counters_.read_packets;
    Take(node, static_cast<size_t>(size));
  }
  return kMostReadAtOnce;
}

int Forwarder::MoveDue() {
  const Timestamp now = SteadyNow();
  core_.Advance(now.nanoseconds());
  for (const LinkChange& change : script_.Take(now - start_)) {
    core_.SetRate(now.nanoseconds(), change.from, change.to, change.rate_bps);
  }
  std::vector<TrainEnd>& ended = core_.ended();
  const auto moved = static_cast<int>(ended.size());
  for (const TrainEnd& end : ended) {
    if (end.train.alive != 0) WriteTrain(end);
    pool_.Release(end.train.packet);
  }
  ended.clear();
  return moved;
}

void Forwarder::Take(size_t from, size_t size) {
  const std::optional<OffloadPacket> packet = OffloadPacket::Parse({scratch_.get(), size});
  const size_t to = packet.has_value() ? packet->destination() - WanAddress(0) : nodes_;
  if (to >= nodes_ || !core_.HasRoute(from, to)) {
    ++counters_.unroutable_packets;
    return;
  }
  const int at_once = SegmentsAtOnce(from, to, *packet);
  const int trains = (packet->segments() + at_once - 1) / at_once;
  const std::optional<uint32_t> slot = pool_.Store(scratch_, size, trains);
  if (!slot.has_value()) {
    ++counters_.refused_packets;
    return;
  }
  SendTrains(from, to, *packet, *slot, at_once);
}

void Forwarder::SendTrains(size_t from, size_t to, const OffloadPacket& packet, uint32_t slot, int at_once) {
  const int64_t now_ns = SteadyNow().nanoseconds();
  core_.Advance(now_ns);
  for (int first = 0; first < packet.segments(); first += at_once) {
    const int count = std::min(at_once, packet.segments() - first);
    const bool is_last = first + count == packet.segments();
    SegmentTrain train;
    train.packet = slot;
    train.first_segment = static_cast<uint16_t>(first);
    train.segments = static_cast<uint8_t>(count);
    train.segment_bytes = packet.segment_bytes();
    train.last_bytes = is_last ? packet.last_bytes() : packet.segment_bytes();
    train.alive = AllAlive(count);
    train.is_trimmable = packet.is_trimmable();
    core_.Send(now_ns, from, to, train);
  }
}

int Forwarder::SegmentsAtOnce(size_t from, size_t to, const OffloadPacket& packet) const {
  if (packet.segments() == 1) return 1;
  const absl::Duration time =
      std::clamp(core_.ShortestDelay(from, to) * kTrainPartOfDelay, kLeastTrainTime, kMostTrainTime);
  const double bytes = core_.RouteRate(from, to) / 8 * absl::ToDoubleSeconds(time);
  return static_cast<int>(std::clamp(bytes / packet.segment_bytes(), 1.0, double{kMaxTrainSegments}));
}

// Runs of living segments, each as one packet.
void Forwarder::WriteTrain(const TrainEnd& end) {
  const SegmentTrain& train = end.train;
  const absl::Span<const uint8_t> bytes = pool_.BytesOf(train.packet);
  const int tun = tuns_[end.node].get();
  const OffloadPacket packet = *OffloadPacket::Parse(bytes);
  if (train.is_trimmed) {
    const std::vector<uint8_t> trimmed = packet.MakeTrimmed(train.last_bytes);
    CountWrite(write(tun, trimmed.data(), trimmed.size()) == static_cast<ssize_t>(trimmed.size()));
    return;
  }
  if (train.segments == packet.segments() && train.alive == AllAlive(train.segments)) {
    CountWrite(write(tun, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    return;
  }
  for (int i = 0; i < train.segments;) {
    const int count = std::countr_one(train.alive >> i);
    if (count > 0) WriteRun(packet, train.first_segment + i, count, tun);
    i += count + 1;
  }
}

void Forwarder::WriteRun(const OffloadPacket& packet, int first, int count, int tun) {
  OffloadPacket::Run run = packet.MakeRun(first, count);
  const std::array<iovec, 2> parts = {
      {{run.header.data(), run.header_bytes}, {const_cast<uint8_t*>(run.payload.data()), run.payload.size()}}};
  CountWrite(writev(tun, parts.data(), parts.size()) == static_cast<ssize_t>(run.header_bytes + run.payload.size()));
}

void Forwarder::CountWrite(bool written) { ++(written ? counters_.written_packets : counters_.refused_packets); }

void Forwarder::Gather(int moved) {
  if (moved < kBusyPackets || stopping_) return;
  clock_nanosleep(CLOCK_MONOTONIC, 0, &gather_, nullptr);
}

}  // namespace banyan
