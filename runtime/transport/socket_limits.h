// The bounds of a process's ZeroMQ sockets. A value; thread-compatible.
#ifndef BANYAN_RUNTIME_TRANSPORT_SOCKET_LIMITS_H_
#define BANYAN_RUNTIME_TRANSPORT_SOCKET_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace banyan {

struct SocketLimits {
  int64_t max_frame_bytes = int64_t{64} << 20;
  // Payload frames of one message.
  size_t max_payload_frames = 256;
  // Of a message of which parts are still missing.
  int64_t max_message_bytes = int64_t{128} << 20;
  // Of all connections that have not brought a whole message yet, together: room for the largest overlay.
  int64_t max_stranger_bytes = int64_t{10} << 20;
  // Connections that have not brought a whole message yet, together. More of them end, first those of the host that has
  // the most. As many that were closed may still be there.
  size_t most_strangers = 1024;
  // Where keys are asked for: connections that end without a whole message, of one host from which no listed key has
  // come; and of all such hosts, once of those that are held back one by one, once of the rest. Of more the kernel lets
  // in a part. A handshake takes some 0.2 ms of a processor.
  int64_t most_failed_of_host_hz = 50;
  int64_t most_failed_hz = 200;
  // Messages that wait for the network, per connection; far above what byte credits allow.
  int send_high_water = 10000;
  // Messages that wait for the protocol thread, per connection.
  int receive_high_water = 1000;
  // How long a connection that is closed may still deliver.
  absl::Duration linger = absl::Seconds(1);
  // For an attempt to connect, handshake included.
  absl::Duration connect_timeout = absl::Seconds(5);
  // An attempt that has had no answer for so long is told of, and goes on: before peers count as lost, and after the
  // first packet was sent a second time.
  absl::Duration silence_told = absl::Milliseconds(2500);
  // A connection ends when nobody has acknowledged what it sent for so long. The kernel alone would try for a quarter
  // of an hour.
  absl::Duration unacknowledged = absl::Seconds(10);
  // A connection on which nothing is sent is kept alive by a few bytes this often: below what NATs and firewalls keep
  // in mind, which is minutes, or half a minute where they are strict.
  absl::Duration keep_alive = absl::Seconds(15);
  // The pause before a connection is made again: it doubles from the shortest to the longest, and starts anew after a
  // connection that has stood for the longest.
  absl::Duration shortest_pause = absl::Milliseconds(20);
  absl::Duration longest_pause = absl::Milliseconds(250);
  // Chunks to a process of the same user that listens on this machine's loopback interface go by a unix socket beside
  // the port, which takes half of the processor time. Where there is none they go by TCP.
  bool uses_unix_sockets = false;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_SOCKET_LIMITS_H_
