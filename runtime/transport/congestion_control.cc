#include "runtime/transport/congestion_control.h"

#include <linux/inet_diag.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "posix/file_descriptor.h"

namespace banyan {

std::string CongestionControlOf(int fd) {
  std::array<char, 17> name = {};
  socklen_t size = name.size() - 1;
  return getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) == 0 ? name.data() : "";
}

bool NewConnectionsAreLossLimited() {
  const FileDescriptor fresh(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return !fresh.valid() || CongestionControlOf(fresh.get()) != kBbr;
}

// ---- renewal ----

namespace {

// Every kernel has it, and lets everybody have it.
constexpr absl::string_view kOther = "reno";

bool SetCongestionControl(int fd, absl::string_view name) {
  return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size())) == 0;
}

}  // namespace

void CongestionRenewal::Watch(int fd, Timestamp now) {
  fd_ = fd;
  last_send_ = now;
  renewed_at_ = now;
  looked_at_ = now;
  round_trip_at_ = now;
  shortest_round_trip_ = absl::InfiniteDuration();
  look_after_ = kLookEvery;
  overtakings_ = told_overtakings_ = 0;
}

bool CongestionRenewal::OnSend(Timestamp now, double pace_bps) {
  const bool has_paused = now - std::exchange(last_send_, now) >= kPause;
  if (fd_ < 0) return false;
  if (now - round_trip_at_ >= kLookEvery) LookAtRoundTrip(now);
  if (has_paused && now - renewed_at_ >= kRenewAfter && IsIdle()) return Renew(now);
  if (!std::isfinite(pace_bps) || now - looked_at_ < look_after_) return false;
  looked_at_ = now;
  const bool has_forgotten = HasForgotten(pace_bps);
  look_after_ = has_forgotten ? std::min(2 * look_after_, kRenewAfter) : kLookEvery;
  return has_forgotten && Renew(now);
}

// Says whether all that was sent has been acknowledged: slow links may still carry what was sent before the pause.
bool CongestionRenewal::IsIdle() const {
  int unacknowledged_bytes = 0;
  return ioctl(fd_, SIOCOUTQ, &unacknowledged_bytes) == 0 && unacknowledged_bytes == 0;
}

bool CongestionRenewal::HasForgotten(double pace_bps) const {
  tcp_cc_info info = {};
  socklen_t size = sizeof(info);
  if (CongestionControlOf(fd_) != kBbr || getsockopt(fd_, IPPROTO_TCP, TCP_CC_INFO, &info, &size) != 0) return false;
  const uint64_t bytes_per_second = (uint64_t{info.bbr.bbr_bw_hi} << 32) | info.bbr.bbr_bw_lo;
  // Nothing is what it believes before its first round trip.
  return bytes_per_second > 0 && 8 * static_cast<double>(bytes_per_second) < kForgotten * pace_bps;
}

void CongestionRenewal::LookAtRoundTrip(Timestamp now) {
  round_trip_at_ = now;
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (getsockopt(fd_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return;
  shortest_round_trip_ = std::min(shortest_round_trip_, absl::Microseconds(info.tcpi_rtt));
  remembered_round_trip_ = absl::Microseconds(info.tcpi_min_rtt);
  overtakings_ = info.tcpi_reord_seen;
}

bool CongestionRenewal::IsMisled() const {
  return shortest_round_trip_ < absl::InfiniteDuration() && shortest_round_trip_ > kShortPath &&
         kMisled * remembered_round_trip_ < shortest_round_trip_;
}

// Switches to another congestion control and back, as the kernel restarts only one that is new to the connection. A
// congestion control that a connection got by default is also there on request.
bool CongestionRenewal::Renew(Timestamp now) {
  renewed_at_ = now;
  const bool is_misled = IsMisled();
  shortest_round_trip_ = absl::InfiniteDuration();
  return !is_misled && CongestionControlOf(fd_) == kBbr && SetCongestionControl(fd_, kOther) &&
         SetCongestionControl(fd_, kBbr);
}

}  // namespace banyan
