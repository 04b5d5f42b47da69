// Traffic through an emulated WAN, for tests and benchmarks: sockets in the nodes' namespaces, all driven by the one
// thread that calls. What cannot go on throws std::runtime_error. Thread-compatible.
#ifndef BANYAN_WAN_TESTING_TESTING_TRAFFIC_H_
#define BANYAN_WAN_TESTING_TESTING_TRAFFIC_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "posix/file_descriptor.h"
#include "wan/wan_client.h"

namespace banyan {

// A socket in the node's namespace; needs the right to enter it.
FileDescriptor SocketIn(const WanClient& client, const std::string& node, int type);

// Lets `receiver`, a datagram socket in node `to`, get what `sender` sends by plain send().
void ConnectDatagrams(const WanClient& client, int sender, int receiver, const std::string& to);

struct FlowSpec {
  std::string from;
  std::string to;
  std::string congestion;  // empty: the machine's
};

// TCP connections that send as fast as they can.
class TcpFlows {
 public:
  // Connects all of them.
  TcpFlows(const WanClient& client, const std::vector<FlowSpec>& specs);

  // Sends and receives for so long.
  void Run(absl::Duration duration);
  // That have arrived so far, without headers, by flow.
  const std::vector<int64_t>& received_bytes() const { return received_bytes_; }
  int64_t TotalBytes() const;

 private:
  struct Flow {
    FileDescriptor sender;
    FileDescriptor receiver;
  };

  Flow Connect(const WanClient& client, const FlowSpec& spec, const WanStatus& status);
  void Send(size_t flow);
  void Receive(size_t flow);

  std::vector<Flow> flows_;
  std::vector<int64_t> received_bytes_;
  std::vector<char> data_;
  FileDescriptor epoll_;
};

// Median of `count` round trips of a small datagram between two nodes, on processors that do not rest meanwhile.
absl::Duration MedianRoundTrip(const WanClient& client, const std::string& from, const std::string& to, int count);

// Datagrams from one node of an emulated WAN to another.
class TestingDatagrams {
 public:
  TestingDatagrams(const WanClient& client, const std::string& from, const std::string& to);

  // Sends so many small ones, not faster than they can be received, and returns how many came.
  int SendAndCount(int count) const;
  // Sends large ones for so long, 280 Mbit/s as far as the machine keeps up.
  void Flood(absl::Duration duration) const;

 private:
  // Receives all datagrams that wait and returns their number.
  int ReceiveAll() const;

  FileDescriptor sender_;
  FileDescriptor receiver_;
};

}  // namespace banyan

#endif  // BANYAN_WAN_TESTING_TESTING_TRAFFIC_H_
