#include "wan/cross_flow.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "posix/steady_clock.h"
#include "wan/node_exec.h"
#include "wan/wan_status.h"

namespace banyan {
namespace {

constexpr size_t kDatagramBytes = 1400;
constexpr double kHeaderBytes = 28;  // of IP and UDP
constexpr size_t kSegmentBytes = 64 * 1024;
constexpr int kDiscardBytes = 1 << 24;
// Rests between two sends, and what may be made up for when this process or TCP was late.
constexpr int kRestMs = 1;
constexpr absl::Duration kMadeUpFor = absl::Milliseconds(20);

struct Ends {
  FileDescriptor sender;
  FileDescriptor receiver;
};

absl::StatusOr<std::string> AddressOf(const WanStatus& status, const std::string& node) {
  const WanStatus::Node* found = status.FindNode(node);
  if (found != nullptr) return found->address;
  return absl::InvalidArgumentError(absl::StrCat("the emulated WAN has no node '", node, "'"));
}

// Joins the sockets; of TCP `receiver` listens before.
absl::StatusOr<Ends> Connect(Ends ends, const sockaddr_in& address, bool is_tcp) {
  if (is_tcp && listen(ends.receiver.get(), 1) != 0) return absl::ErrnoToStatus(errno, "cannot listen");
  if (connect(ends.sender.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return absl::ErrnoToStatus(errno, "nothing passes from one node to the other; is the link cut?");
  }
  if (!is_tcp) return ends;
  ends.receiver = FileDescriptor(accept4(ends.receiver.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!ends.receiver.valid()) return absl::ErrnoToStatus(errno, "cannot accept the flow's connection");
  return ends;
}

}  // namespace

absl::StatusOr<CrossFlow> CrossFlow::Open(const WanClient& client, const CrossFlowOptions& options) {
  const absl::StatusOr<WanStatus> status = client.Status();
  if (!status.ok()) return status.status();
  const absl::StatusOr<std::string> from = AddressOf(*status, options.from);
  if (!from.ok()) return from.status();
  const absl::StatusOr<std::string> to = AddressOf(*status, options.to);
  if (!to.ok()) return to.status();
  const int type = options.is_tcp ? SOCK_STREAM : SOCK_DGRAM;
  absl::StatusOr<FileDescriptor> receiver = OpenSocketIn(client, options.to, type);
  if (!receiver.ok()) return receiver.status();
  absl::StatusOr<FileDescriptor> sender = OpenSocketIn(client, options.from, type);
  if (!sender.ok()) return sender.status();
  const absl::StatusOr<sockaddr_in> address = BindSocketTo(receiver->get(), *to);
  if (!address.ok()) return address.status();
  absl::StatusOr<Ends> ends = Connect({*std::move(sender), *std::move(receiver)}, *address, options.is_tcp);
  if (!ends.ok()) return ends.status();
  return CrossFlow(options, std::move(ends->sender), std::move(ends->receiver));
}

absl::Duration CrossFlow::BurstTime(absl::Duration elapsed) const {
  absl::Duration in_period;
  const int64_t periods = absl::IDivDuration(elapsed, options_.on + options_.off, &in_period);
  return periods * options_.on + std::min(in_period, options_.on);
}

absl::Status CrossFlow::Run(int stop_fd) {
  const Timestamp start = SteadyNow();
  // Of poll, a negative descriptor is one that is not looked at.
  pollfd stop = {stop_fd, POLLIN, 0};
  for (absl::Duration elapsed; elapsed < options_.length; elapsed = SteadyNow() - start) {
    if (const absl::Status status = SendDue(elapsed); !status.ok()) return status;
    Receive();
    if (poll(&stop, 1, kRestMs) > 0) break;
  }
  Receive();
  return absl::OkStatus();
}

absl::Status CrossFlow::SendDue(absl::Duration elapsed) {
  static constexpr std::array<char, kSegmentBytes> kZeros = {};
  const absl::Duration burst = BurstTime(elapsed);
  const double bytes_per_s = options_.rate_bps / 8;
  due_bytes_ += bytes_per_s * absl::ToDoubleSeconds(burst - counted_);
  counted_ = burst;
  due_bytes_ = std::min(due_bytes_, std::max(bytes_per_s * absl::ToDoubleSeconds(kMadeUpFor), 2.0 * kSegmentBytes));
  const double least_bytes = options_.is_tcp ? 1 : kDatagramBytes + kHeaderBytes;
  while (due_bytes_ >= least_bytes) {
    const size_t size = options_.is_tcp ? std::min(kSegmentBytes, static_cast<size_t>(due_bytes_)) : kDatagramBytes;
    const ssize_t sent = send(sender_.get(), kZeros.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == EINTR)) return absl::OkStatus();
    if (sent < 0) return absl::UnavailableError(absl::ErrnoToStatus(errno, "the flow has ended").message());
    sent_bytes_ += sent;
    due_bytes_ -= static_cast<double>(sent) + (options_.is_tcp ? 0 : kHeaderBytes);
  }
  return absl::OkStatus();
}

void CrossFlow::Receive() {
  char first = 0;
  for (;;) {
    // Of TCP all that is there goes unread; of a datagram the first byte is read, and the length told.
    const ssize_t got = options_.is_tcp ? recv(receiver_.get(), nullptr, kDiscardBytes, MSG_DONTWAIT | MSG_TRUNC)
                                        : recv(receiver_.get(), &first, sizeof(first), MSG_DONTWAIT | MSG_TRUNC);
    if (got <= 0) return;
    received_bytes_ += got;
  }
}

}  // namespace banyan
