#include "runtime/transport/syn_filter.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"

namespace banyan {
namespace {

constexpr uint32_t kTakeAll = 0xffffffff;
constexpr uint32_t kDrop = 0;
// A packet begins with TCP's header, in which these lie.
constexpr uint32_t kFlagsAt = 13;
constexpr uint32_t kSynAndAck = 0x12;
constexpr uint32_t kSyn = 0x02;
// In IP's header, which lies before it.
constexpr uint32_t kIp = static_cast<uint32_t>(SKF_NET_OFF);
constexpr uint32_t kIpv4SourceAt = kIp + 12;
constexpr uint32_t kIpv6SourceAt = kIp + 8;
constexpr uint32_t kRandom = static_cast<uint32_t>(SKF_AD_OFF) + SKF_AD_RANDOM;

constexpr uint16_t kLoadWord = BPF_LD | BPF_W | BPF_ABS;
constexpr uint16_t kLoadByte = BPF_LD | BPF_B | BPF_ABS;
constexpr uint16_t kLoadKept = BPF_LD | BPF_MEM;
constexpr uint16_t kKeep = BPF_ST;
constexpr uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
constexpr uint16_t kIfGreater = BPF_JMP | BPF_JGT | BPF_K;
constexpr uint16_t kReturn = BPF_RET | BPF_K;

using Program = std::vector<sock_filter>;

void Append(Program& program, const Program& more) { program.insert(program.end(), more.begin(), more.end()); }

// Takes a packet by chance.
Program TakeShare(double share) {
  if (share >= 1) return {BPF_STMT(kReturn, kTakeAll)};
  const auto most = static_cast<uint32_t>(share * kTakeAll);
  return {BPF_STMT(kLoadWord, kRandom), BPF_JUMP(kIfGreater, most, 0, 1), BPF_STMT(kReturn, kDrop),
          BPF_STMT(kReturn, kTakeAll)};
}

// What becomes of packets from one host, whose address lies in the accumulator (IPv4) or in the memory's first two
// words (IPv6). Goes on behind it for others.
Program ForHost(const HostPrefix& host, double share) {
  const Program then = TakeShare(share);
  const auto skipped = static_cast<uint8_t>(then.size());
  Program program;
  if (host.is_ipv6) {
    program = {BPF_STMT(kLoadKept, 0), BPF_JUMP(kIfEqual, host.words[0], 0, static_cast<uint8_t>(skipped + 2)),
               BPF_STMT(kLoadKept, 1), BPF_JUMP(kIfEqual, host.words[1], 0, skipped)};
  } else {
    program = {BPF_JUMP(kIfEqual, host.words[0], 0, skipped)};
  }
  Append(program, then);
  return program;
}

// Of one family; ends with what others get.
Program ForFamily(const Admission& admission, bool is_ipv6) {
  Program program;
  if (is_ipv6) {
    program = {BPF_STMT(kLoadWord, kIpv6SourceAt), BPF_STMT(kKeep, 0), BPF_STMT(kLoadWord, kIpv6SourceAt + 4),
               BPF_STMT(kKeep, 1)};
  } else {
    program = {BPF_STMT(kLoadWord, kIpv4SourceAt)};
  }
  for (const auto& [host, share] : admission.shares) {
    if (host.is_ipv6 == is_ipv6) Append(program, ForHost(host, share));
  }
  for (const HostPrefix& host : admission.known) {
    if (admission.share_of_others < 1 && host.is_ipv6 == is_ipv6) Append(program, ForHost(host, 1));
  }
  Append(program, TakeShare(admission.share_of_others));
  return program;
}

}  // namespace

Program SynFilter(const Admission& admission) {
  const Program ipv4 = ForFamily(admission, false);
  Program program = {
      BPF_STMT(kLoadByte, kFlagsAt),  BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kSynAndAck),
      BPF_JUMP(kIfEqual, kSyn, 1, 0), BPF_STMT(kReturn, kTakeAll),
      BPF_STMT(kLoadByte, kIp),       BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
      BPF_JUMP(kIfEqual, 4, 1, 0),    BPF_STMT(BPF_JMP | BPF_JA, static_cast<uint32_t>(ipv4.size())),
  };
  Append(program, ipv4);
  Append(program, ForFamily(admission, true));
  return program;
}

absl::Status AttachSynFilter(int listening_fd, const Admission& admission) {
  Program program = SynFilter(admission);
  const sock_fprog attached = {static_cast<uint16_t>(std::min<size_t>(program.size(), BPF_MAXINSNS + 1)),
                               program.data()};
  if (setsockopt(listening_fd, SOL_SOCKET, SO_ATTACH_FILTER, &attached, sizeof(attached)) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(
      errno,
      "cannot hold back hosts of which too many connections prove no key: the kernel takes no socket filter from this "
      "process (some want CAP_NET_ADMIN for it); have a firewall limit new connections");
}

}  // namespace banyan
