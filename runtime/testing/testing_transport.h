// What tests of transports share: transports on loopback, a wait for what happens on one, and the network around them.
// Thread-compatible.
#ifndef BANYAN_RUNTIME_TESTING_TESTING_TRANSPORT_H_
#define BANYAN_RUNTIME_TESTING_TESTING_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"
#include "posix/steady_clock.h"
#include "runtime/event_queue.h"
#include "runtime/transport/transport.h"

namespace banyan {

inline constexpr ConnectionId kOut = ConnectionId(1);

class TransportTest : public testing::Test {
 protected:
  std::unique_ptr<Transport> Bind(const std::string& address = "tcp://127.0.0.1:0", SocketLimits limits = {}) {
    auto transport = Transport::Bind(address, limits);
    EXPECT_TRUE(transport.ok()) << transport.status();
    return *std::move(transport);
  }

  // Collects events of `transport`, and lets the others go on, until `enough`, or until nobody would wait longer.
  std::vector<Event> Collect(Transport& transport, const std::function<bool(const std::vector<Event>&)>& enough,
                             std::vector<Transport*> others = {}) {
    std::vector<Event> events;
    std::vector<Event> ignored;
    const Timestamp deadline = SteadyNow() + absl::Seconds(120);
    while (!enough(events) && SteadyNow() < deadline) {
      transport.Wait(wakeup_.fd(), SteadyNow() + absl::Milliseconds(others.empty() ? 1000 : 1));
      transport.Collect(SteadyNow(), events);
      for (Transport* other : others) {
        other->Wait(wakeup_.fd(), SteadyNow());
        other->Collect(SteadyNow(), ignored);
      }
    }
    EXPECT_TRUE(enough(events));
    return events;
  }

  template <typename Kind>
  static std::function<bool(const std::vector<Event>&)> Have(size_t count) {
    return [count](const std::vector<Event>& events) { return Count<Kind>(events) >= count; };
  }
  template <typename Kind>
  static size_t Count(const std::vector<Event>& events) {
    size_t count = 0;
    for (const Event& event : events) count += std::holds_alternative<Kind>(event);
    return count;
  }
  template <typename Kind>
  static const Kind& First(const std::vector<Event>& events) {
    for (const Event& event : events) {
      if (const auto* kind = std::get_if<Kind>(&event)) return *kind;
    }
    throw std::logic_error("no such event");
  }

  // Connects the client to the server, and returns the server's name for the connection.
  ConnectionId InboundOf(Transport& server, Transport& client, ConnectionId out = kOut) {
    client.Connect({out, server.bound_address(), Channel::kControl}, SteadyNow());
    Collect(client, Have<ConnectionUp>(1), {&server});
    client.Send({out, Heartbeat{}, {}}, SteadyNow());
    return First<MessageReceived>(Collect(server, Have<MessageReceived>(1), {&client})).connection;
  }

  EventQueue wakeup_;
};

inline Send Beat(ConnectionId connection, int64_t at) {
  return {connection, Heartbeat{Timestamp::FromNanoseconds(at)}, {}};
}

inline PeerHello HelloOf(uint32_t node) {
  PeerHello hello;
  hello.job = "job";
  hello.term = Term(1);
  hello.node = NodeId(node);
  hello.incarnation = Incarnation(5);
  return hello;
}

inline ChunkMessage Chunk(int64_t elements) {
  ChunkMessage chunk;
  chunk.id = {Epoch(1), Attempt(0), Round(1), KeyId(1), ChunkIndex(0), Half::kReduce};
  chunk.policy = PolicyVersion(1);
  chunk.source_incarnation = Incarnation(5);
  chunk.route.path = {NodeId(1), NodeId(2)};
  chunk.weight = 1;
  chunk.elements = elements;
  chunk.frames = {{CodecId::kFp32, 0, elements, elements * 4}};
  return chunk;
}

// Connects to the port of `address`, tcp://host:port, on loopback: a TCP connection without ZeroMQ at its end.
FileDescriptor ConnectByTcp(const std::string& address);

// Moves the process, of one thread, into a network namespace in which loopback alone is and it has all rights, and
// stays there: once for all tests of a program, since there is no way into a second one. Returns whether the machine
// allows that.
bool EnterOwnNetwork();

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TESTING_TESTING_TRANSPORT_H_
