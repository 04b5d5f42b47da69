#include "tools/doctor/path_probe.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "runtime/transport/congestion_control.h"
#include "runtime/transport/tcp_endpoint.h"
#include "tools/doctor/doctor_server.h"
#include "tools/doctor/doctor_stream.h"
#include "tools/doctor/tcp_address.h"

namespace banyan {
namespace {

constexpr absl::Duration kConnectTimeout = absl::Seconds(3);
constexpr absl::Duration kAnswerTimeout = absl::Seconds(5);
// The server there tries each address of a name.
constexpr absl::Duration kCallBackTimeout = absl::Seconds(15);
constexpr absl::Duration kRetry = absl::Milliseconds(500);
constexpr int64_t kLargeBytes = 400'000;
constexpr int kEchoes = 8;
// The first byte of a ZMTP greeting, by which daemons are known.
constexpr char kZmtp = '\xff';

using ProbeAnswerer = PathFacts::Answerer;

// Waits without a neighbour: nothing that could be awaited tells when one begins to listen.
void Pause(absl::Duration time) { poll(nullptr, 0, static_cast<int>(absl::ToInt64Milliseconds(time))); }

using Addresses = std::vector<TcpAddress>;

bool IsLoopback(const Addresses& addresses) {
  return std::any_of(addresses.begin(), addresses.end(), [](const TcpAddress& one) { return one.IsLoopback(); });
}

std::optional<FileDescriptor> TryConnect(const Addresses& addresses, PathFacts& facts) {
  for (const TcpAddress& address : addresses) {
    absl::StatusOr<FileDescriptor> socket = ConnectTcp(address, kConnectTimeout);
    facts.connect = socket.status();
    if (socket.ok()) return *std::move(socket);
  }
  return std::nullopt;
}

// Returns a connection on which a doctor has answered.
std::optional<DoctorStream> Greet(const PathProbe& probe, FileDescriptor socket, PathFacts& facts) {
  facts.own_end = OwnEnd(socket.get()).Host();
  DoctorStream stream(std::move(socket));
  facts.answerer = ProbeAnswerer::kStranger;
  const absl::StatusOr<char> first = stream.Peek(kAnswerTimeout);
  if (first.ok() && *first == kZmtp) facts.answerer = ProbeAnswerer::kBanyan;
  if (!first.ok() || *first != kDoctorGreeting[0]) return std::nullopt;
  const absl::StatusOr<std::string> greeting = stream.ReceiveLine(kAnswerTimeout);
  const std::vector<std::string> words = absl::StrSplit(greeting.value_or(""), ' ');
  if (words.size() != 4 || !absl::StartsWith(*greeting, kDoctorGreeting)) return std::nullopt;
  facts.answerer = ProbeAnswerer::kDoctor;
  facts.answered_name = words[2];
  const std::optional<TcpEndpoint> seen_as = NumericEndpoint(absl::StrCat("tcp://", words[3]));
  if (seen_as.has_value()) facts.seen_as = seen_as->host;
  facts.talk = stream.Send(absl::StrCat(kDoctorGreeting, " ", probe.own_name, "\n"), kAnswerTimeout);
  return stream;
}

// Tries until a doctor answers or patience is at its end: doctors are started by hand, one after the other.
std::optional<DoctorStream> FindDoctor(const PathProbe& probe, const Addresses& addresses, PathFacts& facts) {
  const absl::Time deadline = absl::Now() + probe.patience;
  while (true) {
    std::optional<FileDescriptor> socket = TryConnect(addresses, facts);
    if (socket.has_value()) return Greet(probe, *std::move(socket), facts);
    if (absl::Now() >= deadline) return std::nullopt;
    Pause(kRetry);
  }
}

void Echo(DoctorStream& stream, PathFacts& facts) {
  facts.round_trip = absl::InfiniteDuration();
  for (int i = 0; i < kEchoes; ++i) {
    const absl::Time before = absl::Now();
    const absl::StatusOr<std::string> answer = stream.Ask("time", "time", kAnswerTimeout);
    const absl::Time after = absl::Now();
    int64_t nanoseconds = 0;
    facts.talk = answer.status();
    if (!answer.ok() || !absl::SimpleAtoi(*answer, &nanoseconds)) return;
    if (after - before >= facts.round_trip) continue;
    facts.round_trip = after - before;
    facts.clock_ahead = absl::FromUnixNanos(nanoseconds) - (before + (after - before) / 2);
  }
}

absl::Status Give(DoctorStream& stream, int64_t bytes, absl::Duration timeout) {
  const absl::Status asked = stream.Send(absl::StrCat("take ", bytes, "\n"), timeout);
  if (!asked.ok()) return asked;
  if (const absl::Status sent = stream.SendBlock(bytes, timeout); !sent.ok()) return sent;
  const absl::StatusOr<std::string> answer = stream.ReceiveLine(timeout);
  return answer.status();
}

absl::Status Take(DoctorStream& stream, int64_t bytes, absl::Duration timeout) {
  const absl::StatusOr<std::string> answer = stream.Ask(absl::StrCat("give ", bytes), "giving", timeout);
  return answer.ok() ? stream.ReceiveBlock(bytes, timeout) : answer.status();
}

void ReadKernel(int fd, PathFacts& facts) {
  tcp_info info = {};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_segs_out > 0) {
    facts.resent_fraction = static_cast<double>(info.tcpi_total_retrans) / info.tcpi_segs_out;
    facts.overtakings = static_cast<int>(info.tcpi_reord_seen);
    facts.path_mtu = static_cast<int>(info.tcpi_pmtu);
  }
  facts.congestion_control = CongestionControlOf(fd);
}

// Returns the rate of one direction: blocks that grow until one takes long enough to tell.
template <typename Move>
std::optional<double> RateOf(const PathProbe& probe, Move move) {
  std::optional<double> rate_bps;
  for (int64_t bytes = kLargeBytes; bytes <= probe.rate_bytes; bytes *= 4) {
    const absl::Time before = absl::Now();
    if (!move(bytes).ok()) return rate_bps;
    const absl::Duration took = absl::Now() - before;
    rate_bps = static_cast<double>(bytes) * 8 / absl::ToDoubleSeconds(took);
    if (took >= probe.rate_time / 2) break;
  }
  return rate_bps;
}

void Measure(const PathProbe& probe, DoctorStream& stream, PathFacts& facts) {
  const absl::Duration timeout = probe.large_timeout + 4 * probe.rate_time;
  facts.rate_there_bps = RateOf(probe, [&](int64_t bytes) { return Give(stream, bytes, timeout); });
  facts.rate_back_bps = RateOf(probe, [&](int64_t bytes) { return Take(stream, bytes, timeout); });
}

void Talk(const PathProbe& probe, DoctorStream& stream, PathFacts& facts) {
  Echo(stream, facts);
  if (!facts.talk.ok()) return;
  const absl::StatusOr<std::string> called = stream.Ask("call", "called", kCallBackTimeout);
  facts.call_back = called.ok() ? *called : std::string(called.status().message());
  facts.large_there = Give(stream, kLargeBytes, probe.large_timeout);
  if (facts.large_there.ok()) facts.large_back = Take(stream, kLargeBytes, probe.large_timeout);
  const bool is_whole = facts.large_there.ok() && facts.large_back.ok();
  if (is_whole && probe.rate_time > absl::ZeroDuration()) Measure(probe, stream, facts);
  ReadKernel(stream.fd(), facts);
  if (!is_whole || probe.idle_time <= absl::ZeroDuration()) return;
  Pause(probe.idle_time);
  facts.idle = stream.Ask("time", "time", kAnswerTimeout).status();
}

}  // namespace

PathFacts ProbePath(const PathProbe& probe) {
  PathFacts facts;
  facts.name = probe.name;
  facts.address = probe.address;
  const absl::StatusOr<Addresses> addresses = LookUp(probe.address);
  facts.lookup = addresses.status();
  if (!addresses.ok()) return facts;
  facts.is_here_alone = IsLoopback(*addresses) && !IsLoopback(LookUp(probe.own_address).value_or(Addresses()));
  std::optional<DoctorStream> stream = FindDoctor(probe, *addresses, facts);
  if (stream.has_value()) Talk(probe, *stream, facts);
  return facts;
}

absl::Status SendReport(const PathProbe& probe, const std::string& report) {
  const absl::StatusOr<Addresses> addresses = LookUp(probe.address);
  if (!addresses.ok()) return addresses.status();
  PathFacts facts;
  std::optional<DoctorStream> stream = FindDoctor(probe, *addresses, facts);
  if (!stream.has_value() || facts.answerer != ProbeAnswerer::kDoctor) {
    return absl::UnavailableError(facts.connect.ok() ? "no doctor answers there" : facts.connect.message());
  }
  const std::string words = absl::StrCat("report ", report.size(), "\n", report);
  if (const absl::Status sent = stream->Send(words, probe.large_timeout); !sent.ok()) return sent;
  const absl::StatusOr<std::string> answer = stream->ReceiveLine(kAnswerTimeout);
  return answer.status();
}

}  // namespace banyan
