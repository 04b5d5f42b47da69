#include "tools/doctor/path_checks.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/transport/congestion_control.h"

namespace banyan {
namespace {

// Less is noise of a short conversation.
constexpr double kNotableLoss = 0.005;
// With less than this nobody can tell which congestion control a site has.
constexpr absl::Duration kShortRoundTrip = absl::Milliseconds(2);
constexpr absl::Duration kLargestClockError = absl::Seconds(1);
// A round trip may be longer than the overlay says by these, for processors that are busy.
constexpr double kLongRoundTrip = 2;
constexpr absl::Duration kRoundTripNoise = absl::Milliseconds(10);
constexpr double kLeastPartOfRate = 0.5;
// What every IPv6 path carries.
constexpr int kLeastMtu = 1280;

using Answerer = PathFacts::Answerer;

class PathJudge {
 public:
  PathJudge(const PathFacts& facts, const PathExpectation& expected) : facts_(facts), expected_(expected) {}

  CheckResults Judge() {
    if (!Name() || !Reach() || !Answer() || !SmallMessages()) return std::move(results_);
    Clock();
    CallBack();
    if (LargeMessages()) {
      Loss();
      Rates();
      Idle();
    }
    return std::move(results_);
  }

 private:
  // Adds a result, of which `value` is short, and returns `ok`.
  bool Add(const std::string& subject, bool ok, std::string value, std::string found, const std::string& advice = "") {
    if (!ok) absl::StrAppend(&found, "; ", advice);
    results_.push_back({absl::StrCat(subject, ":", facts_.name), ok, std::move(found), std::move(value)});
    return ok;
  }

  bool Name() {
    if (!facts_.lookup.ok()) {
      return Add("name", false, "no name", std::string(facts_.lookup.message()),
                 absl::StrCat("put an address or a name that this machine knows into the overlay, or the name into "
                              "DNS or /etc/hosts"));
    }
    if (facts_.is_here_alone) {
      return Add("name", false, "itself", absl::StrCat(facts_.address, " is this machine itself, seen from here"),
                 "others need an address that leads to that site: look at /etc/hosts, where Debian's installer puts a "
                 "host's own name beside 127.0.1.1");
    }
    return true;
  }

  bool Reach() {
    if (facts_.connect.ok()) return true;
    const std::string found(facts_.connect.message());
    if (absl::IsUnavailable(facts_.connect)) {
      return Add("reach", false, "refused", found,
                 absl::StrCat("nothing listens there: run `banyan doctor` at ", facts_.name,
                              " at the same time (a firewall that refuses looks the same)"));
    }
    if (absl::IsDeadlineExceeded(facts_.connect)) {
      return Add("reach", false, "silent", found,
                 absl::StrCat("a firewall drops what comes, or the address is wrong: open the port at ", facts_.name,
                              " for this site"));
    }
    return Add("reach", false, "no way", found, "this machine knows no way there: look at its routes and interfaces");
  }

  bool Answer() {
    switch (facts_.answerer) {
      case Answerer::kDoctor:
        break;
      case Answerer::kBanyan:
        Add("reach", true, kDaemon,
            absl::StrCat("a daemon of Banyan runs at ", facts_.address,
                         "; stop it and run `banyan doctor` there to have the path looked at"));
        return false;
      case Answerer::kStranger:
      case Answerer::kNobody:
        return Add("reach", false, "a stranger", absl::StrCat("what answers at ", facts_.address, " is not Banyan"),
                   "another program has the port, or a gateway answers in its place");
    }
    if (facts_.answered_name != facts_.name) {
      return Add("reach", false, absl::StrCat("is ", facts_.answered_name),
                 absl::StrCat(facts_.address, " leads to ", facts_.answered_name),
                 absl::StrCat("correct the address of ", facts_.name, " in the overlay; two nodes cannot share one"));
    }
    const bool is_translated = facts_.own_end != facts_.seen_as;
    return Add("reach", true, is_translated ? "by a NAT" : "yes",
               absl::StrCat(facts_.address, " answers",
                            is_translated ? absl::StrCat("; a NAT shows this site there as ", facts_.seen_as) : ""));
  }

  bool SmallMessages() {
    if (facts_.talk.ok()) {
      return Add("round-trip", IsAsShort(), RoundTripText(), absl::StrCat(RoundTripText(), " there and back"),
                 RoundTripAdvice());
    }
    return Add("round-trip", false, "nothing passes", std::string(facts_.talk.message()),
               "the connection opens and carries nothing: a proxy or a firewall stands in between");
  }

  bool IsAsShort() const {
    return !expected_.round_trip.has_value() ||
           facts_.round_trip <= kLongRoundTrip * *expected_.round_trip + kRoundTripNoise;
  }
  std::string RoundTripText() const {
    return absl::StrFormat("%.1f ms", absl::ToDoubleMilliseconds(facts_.round_trip));
  }
  std::string RoundTripAdvice() const {
    if (!expected_.round_trip.has_value()) return "";
    return absl::StrFormat("the overlay says %.1f ms: correct its delay_ms, or look for the detour",
                           absl::ToDoubleMilliseconds(*expected_.round_trip));
  }

  void Clock() {
    const absl::Duration error = facts_.clock_ahead;
    Add("clock", absl::AbsDuration(error) <= kLargestClockError,
        absl::StrFormat("%+.0f ms", absl::ToDoubleMilliseconds(error)),
        absl::StrFormat("%.0f ms %s this one", absl::ToDoubleMilliseconds(absl::AbsDuration(error)),
                        error < absl::ZeroDuration() ? "behind" : "ahead of"),
        "a job bears it, and times in logs do not compare: run chrony at both sites");
  }

  void CallBack() {
    const bool ok = facts_.call_back == kCanCall;
    Add("call-back", ok, ok ? "yes" : "no",
        ok ? absl::StrCat(facts_.name, " can call this site")
           : absl::StrCat(facts_.name, " cannot call this site: ", facts_.call_back),
        "each node must be able to call the other: open this site's port, or give its outer address with --advertise "
        "and forward the port where there is a NAT");
  }

  bool LargeMessages() {
    const bool ok = facts_.large_there.ok() && facts_.large_back.ok();
    const std::string mtu = facts_.path_mtu > 0 ? absl::StrCat("packets of up to ", facts_.path_mtu, " bytes") : "";
    if (ok) {
      return Add("large", facts_.path_mtu == 0 || facts_.path_mtu >= kLeastMtu,
                 mtu.empty() ? "pass" : absl::StrCat(facts_.path_mtu, " B"),
                 absl::StrCat("large messages pass", mtu.empty() ? "" : absl::StrCat(", in ", mtu)),
                 "so small ones cost much of the rate: raise the MTU of the tunnel");
    }
    return Add("large", false, "lost",
               absl::StrCat("small messages pass, large ones do not ",
                            facts_.large_there.ok() ? "come from there" : "arrive there", mtu.empty() ? "" : ": ", mtu),
               "a tunnel's packets are smaller and a firewall drops ICMP: sysctl net.ipv4.tcp_mtu_probing=1 at both "
               "ends, or a smaller MTU at the interface, or let ICMP pass");
  }

  void Loss() {
    const bool is_lossy = facts_.resent_fraction > kNotableLoss && facts_.round_trip > kShortRoundTrip;
    const bool is_bbr = facts_.congestion_control == kBbr;
    // A hint alone: what overtakes may be taken for lost.
    const bool is_reordered = facts_.overtakings > 0;
    Add("loss", !is_lossy || is_bbr,
        absl::StrFormat("%.1f%%%s", 100 * facts_.resent_fraction, is_reordered ? ", reordered" : ""),
        absl::StrFormat("%.1f%% of the packets were sent again, under %s%s", 100 * facts_.resent_fraction,
                        facts_.congestion_control.empty() ? "an unknown congestion control" : facts_.congestion_control,
                        is_reordered ? absl::StrCat("; packets overtook each other (", facts_.overtakings,
                                                    " times seen), as over a bundle of links, which may cost rate")
                                     : ""),
        "with losses on a long path only BBR keeps the rate: modprobe tcp_bbr; sysctl "
        "net.ipv4.tcp_congestion_control=bbr");
  }

  void Rate(const std::string& subject, const std::optional<double>& rate_bps, const std::optional<double>& said_bps) {
    if (!rate_bps.has_value()) return;
    Add(subject, !said_bps.has_value() || *rate_bps >= kLeastPartOfRate * *said_bps,
        absl::StrFormat("%.1f Mbit/s", *rate_bps / 1e6),
        absl::StrFormat("%.1f Mbit/s, over one connection", *rate_bps / 1e6),
        absl::StrFormat("the overlay says %.1f Mbit/s: correct it, or look for what else uses the link",
                        said_bps.value_or(0) / 1e6));
  }
  void Rates() {
    Rate("rate-there", facts_.rate_there_bps, expected_.rate_there_bps);
    Rate("rate-back", facts_.rate_back_bps, expected_.rate_back_bps);
  }

  void Idle() {
    if (!facts_.idle.has_value()) return;
    Add("idle", facts_.idle->ok(), facts_.idle->ok() ? "kept" : "forgotten",
        facts_.idle->ok() ? "the connection carries after the pause"
                          : "after the pause the connection carries nothing any more",
        "a NAT or a firewall forgets connections: Banyan makes new ones, which costs the first round after a pause; "
        "raise the time-out there");
  }

  const PathFacts& facts_;
  const PathExpectation& expected_;
  CheckResults results_;
};

}  // namespace

CheckResults CheckPath(const PathFacts& facts, const PathExpectation& expected) {
  return PathJudge(facts, expected).Judge();
}

}  // namespace banyan
