#include "runtime/transport/stranger_rates.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr absl::Duration kDecideEvery = absl::Seconds(1);
// Rises to 1 within ten seconds.
constexpr double kLeastShare = 1.0 / 1024;
// Hosts counted one by one between two decisions; what others do counts in all.
constexpr size_t kMostCounted = 4096;

}  // namespace

// ---- hosts ----

std::string HostPrefix::Text() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (!is_ipv6) {
    const in_addr address = {htonl(words[0])};
    return inet_ntop(AF_INET, &address, text, sizeof(text));
  }
  in6_addr address = {};
  for (size_t i = 0; i < words.size(); ++i) {
    const uint32_t word = htonl(words[i]);
    std::memcpy(&address.s6_addr[4 * i], &word, sizeof(word));
  }
  return absl::StrCat(inet_ntop(AF_INET6, &address, text, sizeof(text)), "/64");
}

std::optional<HostPrefix> HostPrefixOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    return HostPrefix{false, {ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr), 0}};
  }
  if (address.ss_family != AF_INET6) return std::nullopt;
  const in6_addr& of_peer = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  std::array<uint32_t, 4> words = {};
  std::memcpy(words.data(), of_peer.s6_addr, sizeof(words));
  if (IN6_IS_ADDR_V4MAPPED(&of_peer)) return HostPrefix{false, {ntohl(words[3]), 0}};
  return HostPrefix{true, {ntohl(words[0]), ntohl(words[1])}};
}

// ---- rates ----

void StrangerRates::CountStranger(const std::optional<HostPrefix>& host) {
  if (host.has_value() && known_.contains(*host)) return;
  if (!host.has_value() || !shares_.contains(*host)) ++others_;
  if (host.has_value() && (by_host_.contains(*host) || by_host_.size() < kMostCounted)) ++by_host_[*host];
}

void StrangerRates::CountKnown(const HostPrefix& host) {
  known_[host] = next_known_++;
  if (known_.size() <= kMostKnown) return;
  known_.erase(
      std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) { return a.second < b.second; }));
}

Timestamp StrangerRates::next_deadline() const { return IsIdle() ? kNever : decided_at_ + kDecideEvery; }

double StrangerRates::MostOfHostHz() const {
  const double of_each = static_cast<double>(most_of_all_hz_) / std::max(1.0, static_cast<double>(shares_.size()));
  return std::min(static_cast<double>(most_of_host_hz_), of_each);
}

double StrangerRates::NextShare(double share, double rate_hz, double most_hz) {
  const double wanted = rate_hz > 0 ? share * most_hz / rate_hz : 1;
  return std::clamp(std::min(wanted, 2 * share), kLeastShare, 1.0);
}

void StrangerRates::DecideOn(const HostPrefix& host, double seconds) {
  const auto counted = by_host_.find(host);
  const double rate_hz = counted == by_host_.end() ? 0 : static_cast<double>(counted->second) / seconds;
  const auto held = shares_.find(host);
  const double share = NextShare(held == shares_.end() ? 1 : held->second, rate_hz, MostOfHostHz());
  const bool was_too_fast = too_fast_.erase(host) > 0;
  if (share >= 1 || known_.contains(host)) {
    shares_.erase(host);
  } else if (held != shares_.end()) {
    held->second = share;
  } else if (!was_too_fast) {
    too_fast_.insert(host);
  } else if (shares_.size() < kMostLimited) {
    shares_[host] = share;
    held_back_.push_back(absl::StrCat("more than ", most_of_host_hz_, " connections a second from ", host.Text(),
                                      " prove no key: a part of them is let in"));
  }
}

void StrangerRates::DecideOnOthers(double seconds) {
  const double share =
      NextShare(share_of_others_, static_cast<double>(others_) / seconds, static_cast<double>(most_of_all_hz_));
  const bool begins = share < 1 && share_of_others_ >= 1;
  if (begins && !std::exchange(others_too_fast_, true)) return;
  if (begins) {
    held_back_.push_back(absl::StrCat("more than ", most_of_all_hz_,
                                      " connections a second prove no key: a part of those from unknown hosts is let "
                                      "in"));
  }
  others_too_fast_ = false;
  share_of_others_ = share;
}

bool StrangerRates::Decide(Timestamp now) {
  if (IsIdle()) {
    decided_at_ = now;
    return false;
  }
  if (now < decided_at_ + kDecideEvery) return false;
  const double seconds = absl::ToDoubleSeconds(now - decided_at_);
  decided_at_ = now;
  std::set<HostPrefix> hosts = too_fast_;
  for (const auto& [host, count] : by_host_) hosts.insert(host);
  for (const auto& [host, share] : shares_) hosts.insert(host);
  for (const HostPrefix& host : hosts) DecideOn(host, seconds);
  DecideOnOthers(seconds);
  others_ = 0;
  by_host_.clear();
  Admission next;
  next.share_of_others = share_of_others_;
  for (const auto& [host, share] : shares_) next.shares.emplace_back(host, share);
  std::sort(next.shares.begin(), next.shares.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [host, last] : known_) next.known.push_back(host);
  const bool changes = !next.IsWhole() || !admission_.IsWhole();
  admission_ = std::move(next);
  return changes;
}

// ---- the kernel's filter ----

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
