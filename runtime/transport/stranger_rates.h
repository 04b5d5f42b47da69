// Decides which share of the attempts to connect is let in, host by host, so that those who prove no key take a bounded
// part of a processor: a handshake costs several multiplications on a curve before anything is known of who asks. A
// program of the kernel's carries it out.
// Thread-compatible; owned by AcceptedSockets.
//
// Invariants:
// - A host from which a listed key has come is let in whole, while it is among the last kMostKnown of these.
// - Whoever is too fast for two seconds running is held back: members that begin together may fail once or twice, until
//   all have heard of each other's keys.
// - A share falls as fast as the rate demands, and at most doubles in a second.
// - Memory is bounded, however many hosts there are.
#ifndef BANYAN_RUNTIME_TRANSPORT_STRANGER_RATES_H_
#define BANYAN_RUNTIME_TRANSPORT_STRANGER_RATES_H_

#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/time.h"

namespace banyan {

// What tells hosts apart that connect: an IPv4 address, or the 64 bits of an IPv6 address that one site has. A value;
// thread-compatible.
struct HostPrefix {
  bool is_ipv6 = false;
  // In the order of the network, each as a number; the second is 0 for IPv4.
  std::array<uint32_t, 2> words = {};

  auto operator<=>(const HostPrefix&) const = default;

  // As people write it: 192.0.2.7 or 2001:db8:1:2::/64.
  std::string Text() const;
};

// Returns the prefix of a peer's address, of an IPv4 one also where it came over IPv6; nothing for another family.
std::optional<HostPrefix> HostPrefixOf(const sockaddr_storage& address);

// Whom to let in. Attempts of hosts in neither list are let in by `share_of_others`.
struct Admission {
  std::vector<HostPrefix> known;                      // always
  std::vector<std::pair<HostPrefix, double>> shares;  // in (0, 1], the smallest first
  double share_of_others = 1;

  bool IsWhole() const { return shares.empty() && share_of_others >= 1; }
};

class StrangerRates {
 public:
  static constexpr size_t kMostKnown = 256;
  // Hosts that have a share of their own. The kernel takes a program of some 2,000 steps.
  static constexpr size_t kMostLimited = 64;

  // Connections a second that may end without a word: of one host, and of all unknown ones that are held back as hosts,
  // and again of all that are not.
  StrangerRates(int64_t most_of_host_hz, int64_t most_of_all_hz)
      : most_of_host_hz_(most_of_host_hz), most_of_all_hz_(most_of_all_hz) {}

  // Counts a connection that has ended without a message; nothing for the host of one that had gone before anybody
  // could ask for it.
  void CountStranger(const std::optional<HostPrefix>& host);
  // Counts a connection that has brought its first message.
  void CountKnown(const HostPrefix& host);

  // When Decide wants to be called; kNever while there is nothing to decide.
  Timestamp next_deadline() const;
  // Decides anew, if a second has gone by; returns whether the admission has changed.
  bool Decide(Timestamp now);
  const Admission& admission() const { return admission_; }
  // Returns, in words, what has begun to be held back since the last call.
  std::vector<std::string> TakeHeldBack() { return std::exchange(held_back_, {}); }

 private:
  bool IsIdle() const { return others_ == 0 && too_fast_.empty() && !others_too_fast_ && admission_.IsWhole(); }
  // Of a share under which `rate_hz` came in.
  static double NextShare(double share, double rate_hz, double most_hz);
  double MostOfHostHz() const;
  void DecideOn(const HostPrefix& host, double seconds);
  void DecideOnOthers(double seconds);

  const int64_t most_of_host_hz_;
  const int64_t most_of_all_hz_;
  Timestamp decided_at_;
  std::map<HostPrefix, int64_t> by_host_;  // strangers since then
  int64_t others_ = 0;                     // of them, those whose host has no share of its own
  std::map<HostPrefix, double> shares_;    // below 1
  std::set<HostPrefix> too_fast_;          // for the last second, and not held back yet
  bool others_too_fast_ = false;           // likewise
  double share_of_others_ = 1;
  std::map<HostPrefix, uint64_t> known_;  // to when it came last
  uint64_t next_known_ = 1;
  Admission admission_;
  std::vector<std::string> held_back_;
};

// Returns the program by which the kernel lets in a part of the attempts to connect, before a process hears of them:
// one for the packets of a listening socket (Linux's classic BPF, socket(7), SO_ATTACH_FILTER). Of packets that begin a
// connection it drops, by chance, what the admission does not let in, and it takes all others. Whoever is dropped tries
// again by TCP's own rules.
std::vector<sock_filter> SynFilter(const Admission& admission);

// Puts the admission into force on a listening TCP socket, in place of what was; connections that stand are not
// touched. An error where the kernel has no such programs.
absl::Status AttachSynFilter(int listening_fd, const Admission& admission);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_STRANGER_RATES_H_
