// The forwarder between sockets instead of TUN devices, which needs no rights.
#include "wan/forwarder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "wan/testing/testing_packet.h"

namespace banyan {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr int kPatienceMs = 20000;
constexpr uint32_t kHeaders = kTestingPayload - kTestingIp;

NetworkView TwoNodes(double rate_bps, double loss_fraction, absl::Duration delay = absl::Milliseconds(1)) {
  std::vector<NetworkNode> nodes = {{NodeId(1), "n1", {}, {}}, {NodeId(2), "n2", {}, {}}};
  std::vector<NetworkLink> links;
  for (const auto& [from, to] : {std::pair(NodeId(1), NodeId(2)), std::pair(NodeId(2), NodeId(1))}) {
    links.push_back({from, to, rate_bps, delay, loss_fraction, LinkSource::kBelieved});
  }
  return *NetworkView::Create(std::move(nodes), std::move(links));
}

class RunningForwarder {
 public:
  explicit RunningForwarder(const NetworkView& view) : stop_(eventfd(0, EFD_CLOEXEC)), idle_(eventfd(0, EFD_CLOEXEC)) {
    std::vector<FileDescriptor> tuns;
    for (size_t i = 0; i < view.nodes().size(); ++i) {
      int ends[2];
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
      EXPECT_EQ(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
      nodes_.emplace_back(ends[0]);
      tuns.emplace_back(ends[1]);
    }
    forwarder_ = std::make_unique<Forwarder>(view, std::move(tuns), ForwardingOptions(), RateScript({}, {}, {}));
    thread_ = std::thread([this] { EXPECT_TRUE(forwarder_->Run(stop_.get(), idle_.get(), [] {}).ok()); });
  }

  ~RunningForwarder() {
    if (thread_.joinable()) Stop();
  }

  // After that, what it has counted is there to see.
  Forwarder& Stop() {
    EXPECT_EQ(eventfd_write(stop_.get(), 1), 0);
    thread_.join();
    return *forwarder_;
  }

  void Send(size_t node, const Bytes& bytes) {
    EXPECT_EQ(send(nodes_[node].get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

  // The next packet for the node; empty when none comes.
  Bytes Receive(size_t node) {
    pollfd ready = {nodes_[node].get(), POLLIN, 0};
    Bytes bytes(kMostOffloadBytes);
    if (poll(&ready, 1, kPatienceMs) != 1) return {};
    bytes.resize(static_cast<size_t>(recv(nodes_[node].get(), bytes.data(), bytes.size(), 0)));
    return bytes;
  }

 private:
  std::vector<FileDescriptor> nodes_;
  FileDescriptor stop_;
  FileDescriptor idle_;
  std::unique_ptr<Forwarder> forwarder_;
  std::thread thread_;
};

uint32_t SequenceOf(const Bytes& packet) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | packet[kTestingTcp + 4 + i];
  return value;
}

TEST(ForwarderTest, PacketsArriveAsTheyWere) {
  RunningForwarder forwarder(TwoNodes(10e9, 0));
  const Bytes plain = TestingTcpPacket(500, 0);
  const Bytes large = TestingTcpPacket(20 * 1448 + 7, 1448);
  forwarder.Send(0, plain);
  EXPECT_EQ(forwarder.Receive(1), plain);
  forwarder.Send(0, large);
  EXPECT_EQ(forwarder.Receive(1), large);
}

TEST(ForwarderTest, SlowLinksCarrySegmentsOneByOne) {
  RunningForwarder forwarder(TwoNodes(10e6, 0));
  forwarder.Send(0, TestingTcpPacket(5 * 1000, 1000));
  for (uint32_t i = 0; i < 5; ++i) {
    const Bytes segment = forwarder.Receive(1);
    ASSERT_EQ(segment.size(), kTestingPayload + 1000);
    EXPECT_EQ(SequenceOf(segment), kTestingSequence + 1000 * i);
    EXPECT_EQ(segment[kTestingPayload], i * 1000 % 251);
  }
}

TEST(ForwarderTest, LongLinksCarryAsManySegmentsAtOnceAsTheirDelayHides) {
  // Half of the delay at 10 Mbit/s: 3.75 KB, of segments of 1 KB and their headers.
  RunningForwarder forwarder(TwoNodes(10e6, 0, absl::Milliseconds(6)));
  forwarder.Send(0, TestingTcpPacket(5 * 1000, 1000));
  const Bytes first = forwarder.Receive(1);
  EXPECT_EQ(first.size(), kTestingPayload + 3 * 1000);
  EXPECT_EQ(SequenceOf(first), kTestingSequence);
  const Bytes second = forwarder.Receive(1);
  EXPECT_EQ(second.size(), kTestingPayload + 2 * 1000);
  EXPECT_EQ(SequenceOf(second), kTestingSequence + 3000);
}

TEST(ForwarderTest, OnlyTheLostSegmentsOfALargePacketAreMissing) {
  // As many as the sockets' buffers surely hold.
  constexpr int64_t kPackets = 3;
  constexpr int64_t kSegments = 40;
  constexpr uint32_t kPayload = 500;
  RunningForwarder running(TwoNodes(10e9, 0.2));
  for (int i = 0; i < kPackets; ++i) running.Send(0, TestingTcpPacket(kSegments * kPayload, kPayload));
  int64_t arrived = 0;
  // A loss of 0.2 leaves two thirds with near certainty.
  while (arrived < kPackets * kSegments * 2 / 3) {
    const Bytes run = running.Receive(1);
    ASSERT_FALSE(run.empty());
    const uint32_t begin = SequenceOf(run) - kTestingSequence;
    EXPECT_EQ(begin % kPayload, 0u);
    EXPECT_EQ(run[kTestingPayload], begin % 251);
    arrived += static_cast<int64_t>((run.size() - kTestingPayload) / kPayload);
  }
  const ChannelCounters counters = running.Stop().States()[0].counters;
  EXPECT_EQ(counters.sent_segments, kPackets * kSegments);
  EXPECT_EQ(counters.sent_bytes, kPackets * kSegments * (kPayload + kHeaders));
  EXPECT_NEAR(static_cast<double>(counters.lost_segments), 0.2 * kPackets * kSegments, 18);
}

TEST(ForwarderTest, WhatGoesNowhereIsCounted) {
  RunningForwarder running(TwoNodes(10e9, 0));
  Bytes nowhere = TestingTcpPacket(100, 0);
  nowhere[kTestingIp + 19] = 77;
  Bytes to_itself = TestingTcpPacket(100, 0);
  to_itself[kTestingIp + 19] = 1;
  for (const Bytes& packet : {nowhere, to_itself, Bytes(5), TestingTcpPacket(100, 0)}) running.Send(0, packet);
  EXPECT_FALSE(running.Receive(1).empty());
  const ForwarderCounters& counters = running.Stop().counters();
  EXPECT_EQ(counters.unroutable_packets, 3);
  EXPECT_EQ(counters.read_packets, 4);
  EXPECT_EQ(counters.written_packets, 1);
  EXPECT_EQ(counters.refused_packets, 0);
}

}  // namespace
}  // namespace banyan
