#include "runtime/congestion_renewal.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "absl/strings/string_view.h"

namespace banyan {
namespace {

constexpr absl::string_view kBbr = "bbr";
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
}

bool CongestionRenewal::OnSend(Timestamp now) {
  const bool has_paused = now - std::exchange(last_send_, now) >= kPause;
  if (fd_ < 0 || !has_paused || now - renewed_at_ < kRenewAfter || !IsIdle()) return false;
  renewed_at_ = now;
  return Renew();
}

// Slow links may still carry what was sent before the pause.
bool CongestionRenewal::IsIdle() const {
  int unacknowledged_bytes = 0;
  return ioctl(fd_, SIOCOUTQ, &unacknowledged_bytes) == 0 && unacknowledged_bytes == 0;
}

// The kernel begins with a congestion control only where it was another one before. What a connection got by default
// the kernel gives it on request, too.
bool CongestionRenewal::Renew() const {
  std::array<char, 16> name = {};
  socklen_t size = name.size();
  if (getsockopt(fd_, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) != 0) return false;
  if (absl::string_view(name.data()) != kBbr) return false;
  return SetCongestionControl(fd_, kOther) && SetCongestionControl(fd_, kBbr);
}

}  // namespace banyan
