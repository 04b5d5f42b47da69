// Datagrams from one node of an emulated WAN to another, for tests. What cannot go on throws std::runtime_error.
// Thread-compatible.
#ifndef BANYAN_WAN_TESTING_TESTING_DATAGRAMS_H_
#define BANYAN_WAN_TESTING_TESTING_DATAGRAMS_H_

#include <string>

#include "absl/time/time.h"
#include "posix/file_descriptor.h"
#include "wan/wan_client.h"

namespace banyan {

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

#endif  // BANYAN_WAN_TESTING_TESTING_DATAGRAMS_H_
