#include "wan/emulator.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "core/units.h"
#include "posix/steady_clock.h"
#include "topology/overlay/did_you_mean.h"
#include "wan/node_namespace.h"

namespace banyan {
namespace {

constexpr double kLargestBps = 1e15;
constexpr int kNice = -15;

absl::StatusOr<std::string> NewId() {
  uint64_t value = 0;
  if (getrandom(&value, sizeof(value), 0) != sizeof(value))
    return absl::ErrnoToStatus(errno, "cannot make a random id");
  return absl::StrCat(absl::Hex(value, absl::kZeroPad16));
}

double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * time.tv_usec; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Packets would wait while something else runs, and no link does that: the forwarder goes first, as far as it may. It
// sleeps whenever it has moved what there is, so others get their turn.
void GoFirst() {
  sched_param priority = {};
  priority.sched_priority = sched_get_priority_min(SCHED_RR);
  if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &priority) == 0) return;
  setpriority(PRIO_PROCESS, 0, kNice);
}

std::vector<std::pair<NodeId, NodeId>> LinkEnds(const NetworkView& view) {
  std::vector<std::pair<NodeId, NodeId>> ends;
  for (const NetworkLink& link : view.links()) ends.emplace_back(link.from, link.to);
  return ends;
}

absl::Status NoLink(absl::string_view from, absl::string_view to) {
  return absl::InvalidArgumentError(absl::StrCat("the overlay has no link from ", from, " to ", to));
}

absl::StatusOr<FileDescriptor> TakeDirectory(const WanDirectory& directory) {
  if (const absl::Status status = directory.Make(); !status.ok()) return status;
  absl::StatusOr<FileDescriptor> lock = directory.Lock();
  const absl::StatusOr<std::optional<WanStatus>> state = directory.ReadState();
  const bool known = state.ok() && state->has_value();
  if (absl::IsAlreadyExists(lock.status())) {
    return absl::AlreadyExistsError(absl::StrCat(
        "an emulated WAN runs already", known ? absl::StrCat(": ", (*state)->overlay, ", process ", (*state)->pid) : "",
        " (in ", directory.path(), "); end it first: banyan wan down, or choose another --dir"));
  }
  if (lock.ok() && known) {
    return absl::FailedPreconditionError(absl::StrCat("the forwarder of ", (*state)->overlay, " (process ",
                                                      (*state)->pid,
                                                      ") has died; remove what is left of it first: banyan wan down"));
  }
  return lock;
}

constexpr double kLeastBpsForLongTrains = 20e6;
constexpr double kLeastBpsForTrains = 2e6;
// For round trips that are so short that they need less: more than 64 KB nobody sends at once.
constexpr int kLeastRttLog = 14;

}  // namespace

std::optional<int> TsoRttLog(const NetworkView& view, NodeId node) {
  const absl::Span<const NetworkLink> links = view.LinksFrom(node);
  if (links.empty()) return std::nullopt;
  const auto slower = [](const NetworkLink& a, const NetworkLink& b) { return a.throughput_bps < b.throughput_bps; };
  const auto shorter = [](const NetworkLink& a, const NetworkLink& b) { return a.delay < b.delay; };
  const double slowest_bps = std::min_element(links.begin(), links.end(), slower)->throughput_bps;
  if (slowest_bps < kLeastBpsForTrains) return std::nullopt;
  const absl::Duration round_trip = 2 * std::min_element(links.begin(), links.end(), shorter)->delay;
  const auto microseconds = static_cast<uint64_t>(absl::ToInt64Microseconds(round_trip));
  const int just_longer = std::max(kLeastRttLog, static_cast<int>(std::bit_width(microseconds)));
  return slowest_bps >= kLeastBpsForLongTrains ? just_longer : just_longer - 2;
}

Emulator::Emulator(const EmulatorOptions& options, FileDescriptor lock)
    : directory_(options.directory), view_(options.view), lock_(std::move(lock)), start_(SteadyNow()) {}

Emulator::~Emulator() = default;

absl::StatusOr<std::unique_ptr<Emulator>> Emulator::Start(const EmulatorOptions& options) {
  if (options.view.nodes().size() > kMaxWanNodes) {
    return absl::InvalidArgumentError(absl::StrCat(options.overlay, ": expected at most ", kMaxWanNodes,
                                                   " nodes to emulate, got ", options.view.nodes().size()));
  }
  absl::StatusOr<FileDescriptor> lock = TakeDirectory(WanDirectory(options.directory));
  if (!lock.ok()) return lock.status();
  std::unique_ptr<Emulator> emulator(new Emulator(options, *std::move(lock)));
  const absl::Status status = emulator->Open(options);
  if (status.ok()) return emulator;
  emulator->directory_.Remove().IgnoreError();
  return status;
}

absl::Status Emulator::Open(const EmulatorOptions& options) {
  const absl::StatusOr<std::string> id = NewId();
  if (!id.ok()) return id.status();
  identity_.id = *id;
  identity_.overlay = options.overlay;
  identity_.pid = getpid();
  identity_.seed = options.seed;
  if (const absl::Status status = GainNamespaceRights(); !status.ok()) return status;
  user_namespace_ = FileDescriptor(open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC));
  std::vector<FileDescriptor> tuns;
  for (size_t i = 0; i < view_.nodes().size(); ++i) {
    const std::string& name = view_.nodes()[i].name;
    const NodeNamespaceOptions node = {.node = name,
                                       .address = WanAddress(i),
                                       .congestion = options.congestion,
                                       .tso_rtt_log = TsoRttLog(view_, view_.nodes()[i].id),
                                       .tun_path = options.tun_path};
    absl::StatusOr<NodeNamespace> made = MakeNodeNamespace(node);
    if (!made.ok()) return made.status();
    namespaces_.push_back(std::move(made->namespace_fd));
    tuns.push_back(std::move(made->tun_fd));
    identity_.nodes.push_back({name, WanAddressText(i)});
  }
  ForwardingOptions forwarding;
  forwarding.seed = options.seed;
  forwarding.queue_time = options.queue_time;
  forwarding.trim_bytes = options.trim_bytes;
  forwarder_ = std::make_unique<Forwarder>(view_, std::move(tuns), forwarding,
                                           RateScript(options.changes, options.redraw, LinkEnds(view_)));
  absl::StatusOr<std::unique_ptr<ControlServer>> control =
      ControlServer::Listen(directory_.socket_path(), [this](absl::string_view request) { return Answer(request); });
  if (!control.ok()) return control.status();
  control_ = *std::move(control);
  return directory_.WriteState(identity_);
}

absl::Status Emulator::Run(int stop_fd) {
  GoFirst();
  return forwarder_->Run(stop_fd, control_->fd(), [this] { control_->Serve(); });
}

absl::StatusOr<ControlReply> Emulator::Answer(absl::string_view request) {
  const std::vector<absl::string_view> words = absl::StrSplit(request, ' ');
  if (words[0] == "status" && words.size() == 1) return ControlReply{WanStatusJson(Status(), "running")};
  if (words[0] == "rate" && words.size() == 4) return AnswerRate(words[1], words[2], words[3]);
  if (words[0] == "cut" && words.size() == 3) return AnswerCut(words[1], words[2], /*is_cut=*/true);
  if (words[0] == "heal" && words.size() == 3) return AnswerCut(words[1], words[2], /*is_cut=*/false);
  if (words[0] == "namespace" && words.size() == 2) return AnswerNamespace(words[1]);
  if (words[0] == "user-namespace" && words.size() == 1) return ControlReply{"", user_namespace_.get()};
  if (words[0] == "stop" && words.size() == 1) {
    forwarder_->Stop();
    return ControlReply{};
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected 'status', 'rate FROM TO BPS', 'cut FROM TO', 'heal FROM TO', 'namespace NODE', "
                   "'user-namespace' or 'stop', got '",
                   request, "'; is the emulator of another version of banyan?"));
}

absl::StatusOr<ControlReply> Emulator::AnswerRate(absl::string_view from, absl::string_view to,
                                                  absl::string_view rate) {
  const absl::StatusOr<const NetworkNode*> start = FindNode(from);
  if (!start.ok()) return start.status();
  const absl::StatusOr<const NetworkNode*> end = FindNode(to);
  if (!end.ok()) return end.status();
  double rate_bps = 0;
  if (!absl::SimpleAtod(rate, &rate_bps) || !(rate_bps > 0) || !(rate_bps <= kLargestBps)) {
    return absl::InvalidArgumentError(absl::StrCat("expected a rate above 0 in bit/s, got '", rate, "'"));
  }
  if (!forwarder_->SetRate((*start)->id, (*end)->id, rate_bps)) return NoLink(from, to);
  return ControlReply{};
}

absl::StatusOr<ControlReply> Emulator::AnswerCut(absl::string_view from, absl::string_view to, bool is_cut) {
  const absl::StatusOr<const NetworkNode*> start = FindNode(from);
  if (!start.ok()) return start.status();
  const absl::StatusOr<const NetworkNode*> end = FindNode(to);
  if (!end.ok()) return end.status();
  if (!forwarder_->SetCut((*start)->id, (*end)->id, is_cut)) return NoLink(from, to);
  return ControlReply{};
}

absl::StatusOr<ControlReply> Emulator::AnswerNamespace(absl::string_view node) {
  const absl::StatusOr<const NetworkNode*> found = FindNode(node);
  if (!found.ok()) return found.status();
  return ControlReply{"", namespaces_[*found - view_.nodes().data()].get()};
}

absl::StatusOr<const NetworkNode*> Emulator::FindNode(absl::string_view name) const {
  const NetworkNode* node = view_.FindNodeByName(std::string(name));
  if (node != nullptr) return node;
  std::vector<std::string> names;
  for (const NetworkNode& known : view_.nodes()) names.push_back(known.name);
  return absl::InvalidArgumentError(absl::StrCat("unknown node '", name, "'", DidYouMean(name, names)));
}

WanStatus Emulator::Status() {
  WanStatus status = identity_;
  status.uptime_seconds = absl::ToDoubleSeconds(SteadyNow() - start_);
  for (const ChannelState& state : forwarder_->States()) {
    const NetworkLink& link = *view_.FindLink(state.from, state.to);
    status.links.push_back({view_.NameOf(state.from), view_.NameOf(state.to), state.rate_bps / kBitsPerMegabit,
                            absl::ToDoubleMilliseconds(link.delay), 100 * link.loss_fraction, state.counters.sent_bytes,
                            state.counters.sent_segments, state.counters.lost_segments, state.counters.dropped_segments,
                            state.queued_bytes, state.queue_limit_bytes, state.is_cut,
                            state.counters.trimmed_segments});
  }
  const ForwarderCounters& counters = forwarder_->counters();
  status.forwarder = {counters.read_packets,    counters.written_packets, counters.unroutable_packets,
                      counters.refused_packets, counters.wakeups,         CpuSeconds()};
  return status;
}

}  // namespace banyan
