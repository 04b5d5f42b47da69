#include "sim/cluster.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/state_layout.h"
#include "proto/wire.h"
#include "sim/message_facts.h"
#include "sim/overlays.h"

namespace banyan {
namespace {

// What others send comes in pieces of as much time.
constexpr absl::Duration kTrafficStep = absl::Milliseconds(5);

// Times its recovery that a job is given while it gives results.
constexpr int kMostRecoveries = 4;

NetworkOptions ScaledNetwork(const ClusterOptions& options) {
  NetworkOptions network = options.network;
  network.scale = options.scale;
  return network;
}

}  // namespace

// Checks that every message of the job means the same after it has been turned into bytes and back.
class Cluster::EncodingChecker : public TrafficObserver {
 public:
  explicit EncodingChecker(Violations* violations) : violations_(violations) {}

  void OnSent(const SentMessage& sent) override {
    const absl::StatusOr<Message> decoded = DecodeMessage(EncodeMessage(sent.message), sent.payload);
    if (decoded.ok() && *decoded == sent.message) return;
    violations_->Add(
        sent.now, "encoding",
        absl::StrCat("node ", sent.from.value(), " to node ", sent.to.value(), ": ", DescribeMessage(sent.message),
                     ": ", decoded.ok() ? "differs after decoding" : decoded.status().ToString()));
  }

 private:
  Violations* const violations_;
};

Cluster::Cluster(ClusterOptions options)
    : options_(std::move(options)),
      simulator_(options_.seed, ScaledNetwork(options_)),
      scaled_(ScaleOverlay(options_.told.value_or(options_.overlay), options_.scale)) {
  AddLinks();
  ScheduleLinkChanges();
  WorkerListener* const listener = this;
  processes_ = std::make_unique<JobProcesses>(&options_, &scaled_, &simulator_, listener);
  // Observers cost time in large simulations.
  if (options_.check_messages || options_.fields != nullptr) simulator_.network()->AddObserver(&membership_);
  AddResultCheckers();
  if (options_.check_messages) AddMessageCheckers();
}

void Cluster::AddLinks() {
  const OverlayConfig overlay = ScaleOverlay(options_.overlay, 1);
  std::map<std::string, NodeId> ids;
  for (uint32_t i = 0; i < overlay.nodes.size(); ++i) {
    const NodeConfig& node = overlay.nodes[i];
    ids[node.name] = NodeId(i + 1);
    simulator_.network()->SetHostCaps(NodeId(i + 1), node.up_cap_bps.value_or(0), node.down_cap_bps.value_or(0));
  }
  for (const LinkConfig& link : *overlay.links) {
    LinkOptions there;
    there.rate_bps = link.a_to_b_bps;
    there.delay = link.delay;
    there.jitter = options_.link_jitter;
    there.loss_fraction = options_.links_lose_packets ? link.loss_fraction : 0;
    there.has_headers = options_.links_have_headers;
    LinkOptions back = there;
    back.rate_bps = link.b_to_a_bps;
    simulator_.network()->AddLink(ids.at(link.a), ids.at(link.b), there);
    simulator_.network()->AddLink(ids.at(link.b), ids.at(link.a), back);
  }
  for (const SharedConfig& shared : overlay.shared) {
    std::vector<std::pair<NodeId, NodeId>> links;
    for (const auto& [from, to] : shared.links) links.emplace_back(ids.at(from), ids.at(to));
    simulator_.network()->AddSharedWire(shared.capacity_bps, links);
  }
}

void Cluster::ScheduleLinkChanges() {
  for (const auto& [ends, link] : simulator_.network()->links()) link_ends_.push_back(ends);
  for (const LinkChange& change : options_.link_changes) {
    simulator_.agenda()->CallAt(Timestamp() + change.at, [this, change] { ChangeLink(change); });
  }
  if (options_.link_redraw.has_value()) RedrawLinksLater(1);
  for (const CrossTraffic& traffic : options_.cross_traffic) SendTrafficLater(traffic, traffic.first_at);
}

void Cluster::SendTrafficLater(const CrossTraffic& traffic, absl::Duration at) {
  simulator_.agenda()->CallAt(Timestamp() + at, [this, &traffic, at] {
    const double bytes = traffic.rate_bps / 8 * absl::ToDoubleSeconds(kTrafficStep);
    simulator_.network()
        ->FindLink(traffic.from, traffic.to)
        ->SendForeign(simulator_.now().nanoseconds(), static_cast<int64_t>(bytes));
    const absl::Duration next = at + kTrafficStep;
    SendTrafficLater(traffic, IsOn(traffic, next) ? next : NextBurst(traffic, next));
  });
}

void Cluster::RedrawLinksLater(uint64_t index) {
  const Timestamp when = Timestamp() + options_.link_redraw->period * static_cast<double>(index);
  simulator_.agenda()->CallAt(when, [this, index] {
    for (const LinkChange& change : DrawLinkChanges(*options_.link_redraw, index, link_ends_)) ChangeLink(change);
    RedrawLinksLater(index + 1);
  });
}

void Cluster::ChangeLink(const LinkChange& change) {
  simulator_.network()->FindLink(change.from, change.to)->set_rate_bps(change.rate_bps);
  Trace* trace = simulator_.trace();
  if (!trace->wants_notes()) return;
  trace->Note(simulator_.now(), change.from,
              absl::StrCat("link to ", change.to.value(), " has ", change.rate_bps, " bit/s from now on"));
}

void Cluster::AddResultCheckers() {
  std::vector<WorkerName> names;
  for (const auto& [name, worker] : workers()) names.push_back(name);
  results_ = std::make_unique<ResultChecker>(&options_.plan, std::move(names), scaled_.aggregation.op,
                                             scaled_.compression, violations(), scaled_.aggregation.quorum > 0);
  if (options_.precision.has_value())
    results_->ExpectVotes(options_.precision->profile.rules, &options_.precision->binding);
  if (options_.fields == nullptr) return;
  if (options_.plan.state_bytes > 0) {
    replicas_ = std::make_unique<ReplicaChecker>(options_.plan.rounds, &membership_, violations());
  }
  chunks_ = std::make_unique<ChunkWatch>(&options_.plan, violations());
  simulator_.network()->AddObserver(chunks_.get());
  contributors_ =
      std::make_unique<ContributorChecker>(&options_.plan, options_.fields, scaled_.aggregation.op, &membership_,
                                           chunks_.get(), violations(), scaled_.aggregation.quorum > 0);
  // What votes decide by majority says nothing of who is in it; their means come back until a flush.
  const bool is_decided =
      options_.precision.has_value() && options_.precision->profile.rules.aggregate == VoteAggregate::kMajority;
  if (is_decided) contributors_->ReadNoValues();
}

void Cluster::AddMessageCheckers() {
  if (options_.check_encoding) {
    encoding_ = std::make_unique<EncodingChecker>(violations());
    simulator_.network()->AddObserver(encoding_.get());
  }
  leaders_ = std::make_unique<LeaderChecker>(processes_->schedulers(), violations());
  simulator_.network()->AddObserver(leaders_.get());
  AddPrecisionCheckers();
  processes_->set_on_records_lost([this] {
    leaders_->OnRecordsLost();
    slices_->OnRecordsLost();
    precision_->OnRecordsLost();
  });
  policies_ = std::make_unique<PolicyChecker>(static_cast<uint32_t>(scaled_.nodes.size()), &membership_, violations());
  AckChecker::Limits limits;
  limits.window_bytes = scaled_.transport.window_bytes.value_or(0);
  limits.chunk_bytes = scaled_.chunks.max_elements * SizeOf(DataType::kFloat32);
  if (options_.plan.state_bytes > 0) {
    limits.chunk_bytes = std::max(limits.chunk_bytes, StateLayout(options_.plan.state_bytes).chunk_bytes());
  }
  if (options_.plan.nodes_have_parameters) {
    int64_t most_bytes = 0;  // three tensors' memory for each, and a number
    for (const TrainingPlan::Tensor& tensor : options_.plan.tensors) most_bytes += 3 * 4 * tensor.elements + 8;
    limits.chunk_bytes = std::max(limits.chunk_bytes, StateLayout(most_bytes).chunk_bytes());
  }
  acks_ = std::make_unique<AckChecker>(
      limits, [this](NodeId node) { return simulator_.process(node)->LocalNow(); }, violations());
  const std::set<std::pair<NodeId, NodeId>> links(link_ends_.begin(), link_ends_.end());
  routes_ = std::make_unique<RouteChecker>(links, options_.longest_pause, violations());
  simulator_.network()->AddObserver(routes_.get());
  simulator_.network()->AddObserver(policies_.get());
  simulator_.network()->AddObserver(acks_.get());
}

void Cluster::AddPrecisionCheckers() {
  slices_ = std::make_unique<SliceRoutes>();
  simulator_.network()->AddObserver(slices_.get());
  precision_ = std::make_unique<PrecisionChecker>(slices_.get(), &membership_, violations());
  simulator_.network()->AddObserver(precision_.get());
  if (!options_.precision.has_value()) return;
  // A model gives each gradient once.
  const bool tells_gradients = options_.plan.source == nullptr || options_.fields != nullptr;
  std::vector<WorkerName> names;
  for (const auto& [name, worker] : workers()) names.push_back(name);
  scales_ = std::make_unique<ScaleChecker>(tells_gradients ? &options_.plan : nullptr, std::move(names),
                                           options_.precision->profile.rules, slices_.get(), violations());
  simulator_.network()->AddObserver(scales_.get());
}

Cluster::~Cluster() = default;

bool Cluster::RunUntilTrained(Timestamp limit) {
  // Looking at every worker after every event would cost more than the events.
  auto unfinished = workers().begin();
  simulator_.RunUntil(
      [&] {
        while (unfinished != workers().end() && unfinished->second->finished()) ++unfinished;
        return unfinished == workers().end() || !failures_.empty();
      },
      limit);
  if (contributors_ != nullptr) contributors_->Finish();
  const bool trained = unfinished == workers().end();
  if (!trained) ReportWaiting("training has not ended");
  return trained;
}

bool Cluster::RunUntilStayersTrained(Timestamp quiet_at, const std::set<NodeId>& gone, absl::Duration recovery) {
  const auto has_failed = [this] {
    return !failures_.empty() || !violations()->empty() || processes_->has_lost_parameters();
  };
  simulator_.RunUntil(has_failed, quiet_at);
  auto unfinished = workers().begin();
  const auto is_absent = [&](NodeId node) { return gone.contains(node) || processes_->CameTooLate(node); };
  const auto is_over = [&](WorkerName name, const SimulatedWorker& worker) {
    const bool has_ended = processes_->is_stop_ordered() && worker.lost() && worker.WaitsFor().empty();
    return worker.finished() || has_ended || is_absent(name.node);
  };
  const auto is_done = [&] {
    while (unfinished != workers().end() && is_over(unfinished->first, *unfinished->second)) ++unfinished;
    return unfinished == workers().end();
  };
  const auto is_ended = [&] { return has_failed() || is_done(); };
  // A job may be slow by itself, as with little room at its relays: what still gives results does not hang.
  int64_t results_before = -1;
  for (int more = 0; more < kMostRecoveries && !simulator_.RunUntil(is_ended, quiet_at + (1 + more) * recovery);
       ++more) {
    const int64_t results = contributors_ == nullptr ? -1 : contributors_->results();
    if (std::exchange(results_before, results) == results) break;
  }
  if (contributors_ != nullptr) contributors_->Finish();
  processes_->CheckStop();
  if (!violations()->empty() || HasLostParameters()) return false;
  const bool trained = failures_.empty() && is_done();
  if (!trained) ReportWaiting(absl::StrCat("training has not ended in epoch ", epoch().value(), WhoIsAway()));
  return trained;
}

bool Cluster::HasLostParameters() const {
  const bool all_say_so = std::all_of(failures_.begin(), failures_.end(), [this](const Failure& failure) {
    return processes_->IsOfLostParameters(failure.status);
  });
  return all_say_so && (!failures_.empty() || processes_->has_lost_parameters());
}

bool Cluster::RunUntilNobodyWaits(Timestamp limit) {
  auto waiting = workers().begin();
  const bool done = simulator_.RunUntil(
      [&] {
        const auto is_done = [](const SimulatedWorker& worker) {
          return worker.finished() || (worker.WaitsFor().empty() && (worker.dead() || worker.failure().has_value()));
        };
        while (waiting != workers().end() && is_done(*waiting->second)) ++waiting;
        return waiting == workers().end();
      },
      limit);
  if (!done) ReportWaiting("a call has no answer");
  return done;
}

bool Cluster::StopAll(Timestamp limit) {
  processes_->End();
  for (uint32_t id = 1; id <= node_count(); ++id) processes_->Stop(NodeId(id));
  const auto all_stopped = [this] {
    for (uint32_t id = 1; id <= node_count(); ++id) {
      if (simulator_.process(NodeId(id))->running()) return false;
    }
    return true;
  };
  bool stopped = simulator_.RunUntil(all_stopped, limit);
  processes_->Stop(kSchedulerNode);
  const auto are_stopped = [this] { return !processes_->IsSchedulerRunning(); };
  stopped = simulator_.RunUntil(are_stopped, limit + absl::Seconds(10)) && stopped;
  if (!stopped) violations()->Add(simulator_.now(), "nothing hangs", "a process that was asked to stop has not");
  return stopped;
}

void Cluster::ReportWaiting(const std::string& what) {
  violations()->Add(simulator_.now(), "nothing hangs", absl::StrCat(what, ": ", WhoWaits()));
}

std::string Cluster::WhoWaits() const {
  std::string text;
  for (const auto& [name, worker] : workers()) {
    const std::string waits = worker->WaitsFor();
    if (!waits.empty()) absl::StrAppend(&text, text.empty() ? "" : "; ", waits);
  }
  for (const Failure& failure : failures_) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", failure.call, " failed: ", failure.status.ToString());
  }
  return text;
}

std::string Cluster::WhoIsAway() const {
  std::string text;
  for (uint32_t id = 0; id <= node_count(); ++id) {
    if (!processes_->IsRunning(NodeId(id))) absl::StrAppend(&text, ", process ", id, " does not run");
  }
  for (const auto& [name, worker] : workers()) {
    if (worker->finished() || !worker->lost()) continue;
    absl::StrAppend(&text, ", ", NameOf(name), " is lost");
  }
  return text;
}

uint64_t Cluster::rounds_done() const {
  uint64_t done = options_.plan.rounds;
  for (const auto& [name, worker] : workers()) done = std::min(done, worker->rounds_done());
  return done;
}

void Cluster::OnStarted(Timestamp now, WorkerName worker) {
  if (contributors_ != nullptr) contributors_->OnStarted(now, worker);
  if (replicas_ != nullptr) replicas_->OnStarted(now, worker);
  if (options_.listener != nullptr) options_.listener->OnStarted(now, worker);
}

void Cluster::OnEnded(Timestamp now, WorkerName worker) {
  if (contributors_ != nullptr) contributors_->OnEnded(now, worker);
  if (replicas_ != nullptr) replicas_->OnEnded(now, worker);
  if (options_.listener != nullptr) options_.listener->OnEnded(now, worker);
}

void Cluster::OnPushed(Timestamp now, WorkerName worker, size_t tensor, Round round) {
  if (contributors_ != nullptr) contributors_->OnPushed(now, worker, tensor, round);
  clock_.OnPushed(now, worker, tensor, round);
  if (options_.listener != nullptr) options_.listener->OnPushed(now, worker, tensor, round);
}

void Cluster::OnResult(Timestamp now, WorkerName worker, size_t tensor, Round round, absl::Span<const float> values) {
  clock_.OnResult(now, worker, tensor, round, values);
  if (contributors_ != nullptr) {
    contributors_->OnResult(now, worker, tensor, round, values);
  } else {
    results_->OnResult(now, worker, tensor, round, values);
  }
  if (options_.listener != nullptr) options_.listener->OnResult(now, worker, tensor, round, values);
}

void Cluster::OnReplica(Timestamp now, WorkerName worker, const ReplicaMark& replica) {
  if (replicas_ != nullptr) replicas_->OnReplica(now, worker, replica);
}

void Cluster::OnBeganAlone(Timestamp now, WorkerName worker, Timestamp asked_at) {
  if (replicas_ != nullptr) replicas_->OnBeganAlone(now, worker, asked_at);
}

void Cluster::OnFailed(Timestamp now, WorkerName worker, const std::string& call, const absl::Status& status) {
  if (!options_.membership_changes) return failures_.push_back({now, worker, call, status});
  // The core says so before it stops.
  simulator_.agenda()->CallAfter(absl::ZeroDuration(), [this, now, worker, call, status] {
    if (processes_->IsOfStop(status)) return;
    const bool has_fallen_out =
        absl::IsAborted(status) || !processes_->IsRunning(worker.node) || workers().at(worker)->node_has_ended();
    if (!has_fallen_out && !processes_->IsAskedToStop(worker.node)) failures_.push_back({now, worker, call, status});
  });
}

void Cluster::OnMisuse(Timestamp now, WorkerName worker, const std::string& what) {
  results_->OnMisuse(now, worker, what);
}

}  // namespace banyan
