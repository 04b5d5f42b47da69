#include "wan/testing/testing_datagrams.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "posix/steady_clock.h"
#include "wan/testing/testing_traffic.h"

namespace banyan {
namespace {

constexpr int kSmallBytes = 100;
constexpr int kLargeBytes = 1400;
// A millisecond's worth; the receiver's buffer surely holds several.
constexpr int kBatch = 20;
constexpr int kFloodBatch = 25;  // likewise
constexpr int kQuietMs = 200;

}  // namespace

TestingDatagrams::TestingDatagrams(const WanClient& client, const std::string& from, const std::string& to)
    : sender_(SocketIn(client, from, SOCK_DGRAM)), receiver_(SocketIn(client, to, SOCK_DGRAM)) {
  ConnectDatagrams(client, sender_.get(), receiver_.get(), to);
}

int TestingDatagrams::SendAndCount(int count) const {
  const std::array<char, kSmallBytes> data = {};
  int received = 0;
  for (int sent = 0; sent < count;) {
    for (int i = 0; i < kBatch && sent < count; ++i, ++sent) send(sender_.get(), data.data(), data.size(), 0);
    poll(nullptr, 0, 1);
    received += ReceiveAll();
  }
  pollfd ready = {receiver_.get(), POLLIN, 0};
  while (poll(&ready, 1, kQuietMs) > 0) received += ReceiveAll();
  return received;
}

void TestingDatagrams::Flood(absl::Duration duration) const {
  const std::array<char, kLargeBytes> data = {};
  const Timestamp end = SteadyNow() + duration;
  for (Timestamp now = SteadyNow(); now < end; now = SteadyNow()) {
    for (int i = 0; i < kFloodBatch; ++i) send(sender_.get(), data.data(), data.size(), MSG_DONTWAIT);
    ReceiveAll();
    poll(nullptr, 0, 1);
  }
}

int TestingDatagrams::ReceiveAll() const {
  int count = 0;
  std::array<char, kLargeBytes> data;
  while (recv(receiver_.get(), data.data(), data.size(), MSG_DONTWAIT) > 0) ++count;
  return count;
}

}  // namespace banyan
