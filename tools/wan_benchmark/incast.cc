#include "tools/wan_benchmark/incast.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "compression/kernels/hadamard.h"
#include "compression/kernels/random_bits.h"
#include "core/random.h"
#include "core/time.h"
#include "posix/file_descriptor.h"
#include "posix/steady_clock.h"
#include "tools/wan_benchmark/gradient_packet.h"
#include "wan/node_exec.h"
#include "wan/offload_packet.h"

namespace banyan {
namespace {

constexpr size_t kRow = 1 << 15;
constexpr size_t kPacketsOfRow = (kRow + kDatagramNumbers - 1) / kDatagramNumbers;
constexpr double kHeaderBytes = 28;  // of IP and UDP
constexpr int kReceiveBytes = 8 << 20;
constexpr int kRestMs = 1;
// Nothing comes any more once so long nothing has come: many times what a queue holds.
constexpr absl::Duration kQuiet = absl::Milliseconds(500);
constexpr absl::Duration kTcpPatience = absl::Minutes(2);

// A gradient, its packets, and what has arrived of it.
struct Gradient {
  std::vector<std::vector<float>> rows;  // as they were before the rotation
  std::vector<GradientPacket> packets;
  std::vector<std::vector<float>> arrived;  // rotated rows, zero where packets are lost
  double seen = 0, whole = 0;               // packets
};

RandomKey KeyOf(const IncastOptions& options, size_t sender, size_t row) {
  return KeyOfBlock(options.seed + sender, row);
}

Gradient MakeGradient(const IncastOptions& options, size_t sender) {
  Random random(options.seed * options.senders.size() + sender);
  Gradient gradient;
  for (int64_t number = 0; number < options.rows; ++number) {
    std::vector<float>& row = gradient.rows.emplace_back(kRow);
    // Of a Laplace distribution, as gradients nearly are.
    for (float& value : row) {
      const double side = random.Unit() - 0.5;
      value = static_cast<float>(-std::copysign(std::log1p(-2 * std::abs(side)), side));
    }
    std::vector<float> rotated(kRow);
    FlipAndTransform(row, KeyOf(options, sender, static_cast<size_t>(number)), absl::MakeSpan(rotated));
    double square = 0, l1 = 0;
    for (const float value : row) square += static_cast<double>(value) * value;
    for (const float value : rotated) l1 += std::abs(value);
    for (size_t first = 0; first < kRow; first += kDatagramNumbers) {
      GradientPacket& packet = gradient.packets.emplace_back();
      packet.sender = static_cast<uint16_t>(sender);
      packet.position = static_cast<uint16_t>(gradient.packets.size() - 1);
      packet.head = static_cast<float>(square * kRow / l1);
      std::copy_n(rotated.begin() + static_cast<std::ptrdiff_t>(first), std::min(kDatagramNumbers, kRow - first),
                  packet.numbers.begin());
    }
    gradient.arrived.emplace_back(kRow);
  }
  return gradient;
}

void TakePacket(absl::Span<const uint8_t> bytes, std::vector<Gradient>& gradients) {
  const std::optional<GradientPacket> packet = UnpackGradient(bytes);
  if (!packet.has_value() || packet->sender >= gradients.size()) return;
  Gradient& gradient = gradients[packet->sender];
  if (packet->position >= gradient.packets.size()) return;
  const size_t first = packet->position % kPacketsOfRow * kDatagramNumbers;
  std::copy_n(packet->numbers.begin(), std::min(kDatagramNumbers, kRow - first),
              gradient.arrived[packet->position / kPacketsOfRow].begin() + static_cast<std::ptrdiff_t>(first));
  ++gradient.seen;
  gradient.whole += bytes.size() == kWholePacket ? 1 : 0;
}

double SquaredError(const IncastOptions& options, size_t sender, const Gradient& gradient) {
  double square = 0, error = 0;
  std::vector<float> decoded(kRow);
  for (size_t row = 0; row < gradient.rows.size(); ++row) {
    std::vector<float> rotated = gradient.arrived[row];
    Transform(absl::MakeSpan(rotated));
    FlipInto(rotated, KeyOf(options, sender, row), 1.0f / kRow, absl::MakeSpan(decoded));
    for (size_t i = 0; i < kRow; ++i) {
      const double off = static_cast<double>(decoded[i]) - gradient.rows[row][i];
      square += static_cast<double>(gradient.rows[row][i]) * gradient.rows[row][i];
      error += off * off;
    }
  }
  return error / square;
}

absl::StatusOr<std::string> NodeAddress(const WanClient& client, const std::string& node) {
  const absl::StatusOr<WanStatus> status = client.Status();
  if (!status.ok()) return status.status();
  if (const WanStatus::Node* found = status->FindNode(node); found != nullptr) return found->address;
  return absl::InvalidArgumentError(absl::StrCat("the emulated WAN has no node '", node, "'"));
}

absl::Status SystemFailure(const char* what) { return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", what)); }

class Incast {
 public:
  Incast(const WanClient& client, const IncastOptions& options) : client_(client), options_(options) {}

  absl::StatusOr<IncastResult> Run() {
    absl::Status status = Connect();
    if (status.ok()) status = options_.is_tcp ? RunTcp() : RunDatagrams();
    if (!status.ok()) return status;
    return result_;
  }

 private:
  absl::Status Connect() {
    const absl::StatusOr<std::string> to = NodeAddress(client_, options_.receiver);
    if (!to.ok()) return to.status();
    const int type = options_.is_tcp ? SOCK_STREAM : SOCK_DGRAM;
    absl::StatusOr<FileDescriptor> receiver = OpenSocketIn(client_, options_.receiver, type);
    if (!receiver.ok()) return receiver.status();
    setsockopt(receiver->get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBytes, sizeof(kReceiveBytes));
    const absl::StatusOr<sockaddr_in> address = BindSocketTo(receiver->get(), *to);
    if (!address.ok()) return address.status();
    if (options_.is_tcp && listen(receiver->get(), static_cast<int>(options_.senders.size())) != 0) {
      return SystemFailure("listen");
    }
    for (const std::string& node : options_.senders) {
      absl::StatusOr<FileDescriptor> sender = OpenSocketIn(client_, node, type);
      if (!sender.ok()) return sender.status();
      if (options_.is_trimmable) {
        const int mark = kTrimmableMark;
        if (setsockopt(sender->get(), IPPROTO_IP, IP_TOS, &mark, sizeof(mark)) != 0)
          return SystemFailure("mark packets");
      }
      if (connect(sender->get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0) {
        return SystemFailure("connect");
      }
      senders_.push_back(*std::move(sender));
      if (!options_.is_tcp) continue;
      receivers_.emplace_back(accept4(receiver->get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!receivers_.back().valid()) return SystemFailure("accept a connection");
    }
    if (!options_.is_tcp) receivers_.push_back(*std::move(receiver));
    return absl::OkStatus();
  }

  absl::Status RunDatagrams() {
    std::vector<Gradient> gradients;
    std::vector<std::vector<std::vector<uint8_t>>> packets;
    for (size_t sender = 0; sender < senders_.size(); ++sender) {
      gradients.push_back(MakeGradient(options_, sender));
      packets.emplace_back();
      for (const GradientPacket& packet : gradients.back().packets) packets.back().push_back(PackGradient(packet));
    }
    const auto count = static_cast<double>(packets[0].size());
    const double packets_per_s = options_.rate_bps / 8 / (kWholePacket + kHeaderBytes);
    const Timestamp start = SteadyNow();
    Timestamp last = start;
    for (size_t next = 0;;) {
      const Timestamp now = SteadyNow();
      const auto due = static_cast<size_t>(std::min(count, packets_per_s * absl::ToDoubleSeconds(now - start)));
      for (; next < due; ++next) {
        for (size_t sender = 0; sender < senders_.size(); ++sender) {
          const std::vector<uint8_t>& bytes = packets[sender][next];
          if (send(senders_[sender].get(), bytes.data(), bytes.size(), 0) < 0) return SystemFailure("send a packet");
        }
      }
      if (ReceivePackets(gradients)) last = SteadyNow();
      if (next == packets[0].size() && SteadyNow() - last > kQuiet) break;
      pollfd arrival = {receivers_[0].get(), POLLIN, 0};
      poll(&arrival, 1, kRestMs);
    }
    result_.seconds = absl::ToDoubleSeconds(last - start);
    const auto senders = static_cast<double>(senders_.size());
    for (size_t sender = 0; sender < senders_.size(); ++sender) {
      const Gradient& gradient = gradients[sender];
      result_.whole += gradient.whole / count / senders;
      result_.cut += (gradient.seen - gradient.whole) / count / senders;
      result_.lost += (count - gradient.seen) / count / senders;
      result_.error += SquaredError(options_, sender, gradient) / senders;
    }
    return absl::OkStatus();
  }

  bool ReceivePackets(std::vector<Gradient>& gradients) {
    std::array<uint8_t, 2048> bytes;
    bool any = false;
    for (;;) {
      const ssize_t got = recv(receivers_[0].get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got <= 0) return any;
      any = true;
      TakePacket({bytes.data(), static_cast<size_t>(got)}, gradients);
    }
  }

  absl::Status RunTcp() {
    const size_t bytes = static_cast<size_t>(options_.rows) * kPacketsOfRow * kWholePacket;
    const std::vector<uint8_t> message(bytes);
    std::vector<size_t> sent(senders_.size()), received(senders_.size());
    const Timestamp start = SteadyNow();
    const auto is_done = [bytes](size_t size) { return size == bytes; };
    while (!std::all_of(received.begin(), received.end(), is_done)) {
      if (SteadyNow() - start > kTcpPatience) return absl::DeadlineExceededError("TCP did not end in two minutes");
      std::vector<pollfd> waits;
      for (size_t i = 0; i < senders_.size(); ++i) {
        const ssize_t out = send(senders_[i].get(), message.data() + sent[i], bytes - sent[i], MSG_DONTWAIT);
        if (out > 0) sent[i] += static_cast<size_t>(out);
        const ssize_t in = recv(receivers_[i].get(), nullptr, bytes, MSG_DONTWAIT | MSG_TRUNC);
        if (in > 0) received[i] += static_cast<size_t>(in);
        waits.push_back({receivers_[i].get(), POLLIN, 0});
      }
      poll(waits.data(), waits.size(), kRestMs);
    }
    result_.seconds = absl::ToDoubleSeconds(SteadyNow() - start);
    result_.whole = 1;
    return absl::OkStatus();
  }

  const WanClient& client_;
  const IncastOptions& options_;
  std::vector<FileDescriptor> senders_;
  std::vector<FileDescriptor> receivers_;  // by sender; of datagrams one for all
  IncastResult result_;
};

}  // namespace

absl::StatusOr<IncastResult> RunIncast(const WanClient& client, const IncastOptions& options) {
  return Incast(client, options).Run();
}

}  // namespace banyan
