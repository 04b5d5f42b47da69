#include "sim/cluster.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "node/node_core.h"
#include "scheduler/scheduler_core.h"
#include "sim/overlay_scaling.h"
#include "sim/processes/noisy_reports.h"

namespace banyan {
namespace {

constexpr int64_t kLatestClockStartNs = int64_t{1} << 50;  // thirteen days

NetworkOptions ScaledNetwork(const ClusterOptions& options) {
  NetworkOptions network = options.network;
  network.scale = options.scale;
  return network;
}

}  // namespace

Cluster::Cluster(ClusterOptions options)
    : options_(std::move(options)), simulator_(options_.seed, ScaledNetwork(options_)) {
  AddLinks();
  ScheduleLinkChanges();
  AddProcesses();
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
}

void Cluster::ScheduleLinkChanges() {
  for (const auto& [ends, link] : simulator_.network()->links()) link_ends_.push_back(ends);
  for (const LinkChange& change : options_.link_changes) {
    simulator_.agenda()->CallAt(Timestamp() + change.at, [this, change] { ChangeLink(change); });
  }
  if (options_.link_redraw.has_value()) RedrawLinksLater(1);
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

void Cluster::AddProcesses() {
  const OverlayConfig scaled = ScaleOverlay(options_.overlay, options_.scale);
  AddScheduler(scaled);
  for (uint32_t id = 1; id <= scaled.nodes.size(); ++id) AddNode(scaled, NodeId(id));
  if (!options_.orders.empty()) AddOperator(scaled);
  AddCheckers(scaled);
}

Timestamp Cluster::RandomStart() {
  return Timestamp::FromNanoseconds(simulator_.random()->Between(0, absl::ToInt64Nanoseconds(options_.start_within)));
}

ProcessOptions Cluster::OptionsOfProcess() {
  ProcessOptions options = options_.process;
  options.clock_start = Timestamp::FromNanoseconds(simulator_.random()->Between(0, kLatestClockStartNs));
  if (options_.most_drift_ppm > 0) {
    options.clock_drift_ppm = options_.most_drift_ppm * (2 * simulator_.random()->Unit() - 1);
  }
  options.scale = options_.scale;
  return options;
}

std::unique_ptr<Protocol> Cluster::Wrap(NodeId id, std::unique_ptr<Protocol> core) const {
  return options_.wrap_core ? options_.wrap_core(id, std::move(core)) : std::move(core);
}

void Cluster::AddScheduler(const OverlayConfig& scaled) {
  ProcessOptions process = OptionsOfProcess();
  process.scale = 1;
  auto core = std::make_unique<SchedulerCore>(scaled, SchedulerOptions{{}, StartId(1)});
  simulator_.AddProcess(kSchedulerNode, scaled.scheduler.address, process, Wrap(kSchedulerNode, std::move(core)),
                        RandomStart());
}

void Cluster::AddNode(const OverlayConfig& scaled, NodeId id) {
  const NodeConfig& config = scaled.nodes[id.value() - 1];
  NodeOptions node;
  node.name = config.name;
  node.address = config.address;
  node.scheduler_address = scaled.scheduler.address;
  node.job = scaled.job;
  node.incarnation = Incarnation(simulator_.random()->Next());
  std::unique_ptr<Protocol> core = Wrap(id, std::make_unique<NodeCore>(std::move(node)));
  if (options_.measurement_noise > 0) {
    const Random random(options_.seed * options_.overlay.nodes.size() + id.value());
    core = std::make_unique<NoisyReports>(std::move(core), options_.measurement_noise, random);
  }
  const Timestamp start = RandomStart();
  SimulatedProcess* process = simulator_.AddProcess(id, config.address, OptionsOfProcess(), std::move(core), start);
  Port& port = ports_[id];
  process->set_worker_port(&port);
  WorkerListener* const listener = this;
  for (uint32_t i = 0; i < static_cast<uint32_t>(config.workers); ++i) {
    const WorkerName name{id, WorkerId(i)};
    auto worker = std::make_unique<SimulatedWorker>(name, &options_.plan, simulator_.random()->Next(), process,
                                                    simulator_.agenda(), listener);
    port.Add(worker.get());
    simulator_.agenda()->CallAt(start, [worker = worker.get()] { worker->Start(); });
    workers_.emplace(name, std::move(worker));
  }
}

void Cluster::AddOperator(const OverlayConfig& scaled) {
  const NodeId id(static_cast<uint32_t>(scaled.nodes.size() + 1));
  auto core = std::make_unique<SimulatedOperator>(scaled.scheduler.address, options_.orders);
  operator_ = core.get();
  simulator_.AddProcess(id, "tcp://operator:7702", OptionsOfProcess(), std::move(core), Timestamp());
}

void Cluster::AddCheckers(const OverlayConfig& scaled) {
  std::vector<WorkerName> names;
  for (const auto& [name, worker] : workers_) names.push_back(name);
  results_ = std::make_unique<ResultChecker>(&options_.plan, std::move(names), scaled.aggregation.op,
                                             scaled.compression, violations());
  if (options_.check_encoding) {
    encoding_ = std::make_unique<EncodingChecker>(violations());
    simulator_.network()->AddObserver(encoding_.get());
  }
  if (!options_.check_messages) return;
  policies_ = std::make_unique<PolicyChecker>(static_cast<uint32_t>(scaled.nodes.size()), violations());
  AckChecker::Limits limits;
  limits.window_bytes = scaled.transport.window_bytes.value_or(0);
  limits.chunk_bytes = scaled.chunks.max_elements * SizeOf(DataType::kFloat32);
  acks_ = std::make_unique<AckChecker>(
      limits, [this](NodeId node) { return simulator_.process(node)->LocalNow(); }, violations());
  const std::set<std::pair<NodeId, NodeId>> links(link_ends_.begin(), link_ends_.end());
  routes_ = std::make_unique<RouteChecker>(links, violations());
  simulator_.network()->AddObserver(routes_.get());
  simulator_.network()->AddObserver(policies_.get());
  simulator_.network()->AddObserver(acks_.get());
}

Cluster::~Cluster() = default;

bool Cluster::RunUntilTrained(Timestamp limit) {
  // Looking at every worker after every event would cost more than the events.
  auto unfinished = workers_.begin();
  simulator_.RunUntil(
      [&] {
        while (unfinished != workers_.end() && unfinished->second->finished()) ++unfinished;
        return unfinished == workers_.end() || !failures_.empty();
      },
      limit);
  const bool trained = unfinished == workers_.end();
  if (!trained) ReportWaiting("training has not ended");
  return trained;
}

bool Cluster::RunUntilNobodyWaits(Timestamp limit) {
  auto waiting = workers_.begin();
  const bool done = simulator_.RunUntil(
      [&] {
        const auto is_done = [](const SimulatedWorker& worker) {
          return worker.finished() || (worker.WaitsFor().empty() && (worker.dead() || worker.failure().has_value()));
        };
        while (waiting != workers_.end() && is_done(*waiting->second)) ++waiting;
        return waiting == workers_.end();
      },
      limit);
  if (!done) ReportWaiting("a call has no answer");
  return done;
}

bool Cluster::StopAll(Timestamp limit) {
  for (uint32_t id = 1; id <= node_count(); ++id) simulator_.process(NodeId(id))->RequestStop();
  const auto all_stopped = [this] {
    for (uint32_t id = 1; id <= node_count(); ++id) {
      if (simulator_.process(NodeId(id))->running()) return false;
    }
    return true;
  };
  bool stopped = simulator_.RunUntil(all_stopped, limit);
  SimulatedProcess* scheduler = simulator_.process(kSchedulerNode);
  scheduler->RequestStop();
  stopped = simulator_.RunUntil([&] { return !scheduler->running(); }, limit + absl::Seconds(10)) && stopped;
  if (!stopped) violations()->Add(simulator_.now(), "nothing hangs", "a process that was asked to stop has not");
  return stopped;
}

void Cluster::ReportWaiting(const std::string& what) {
  violations()->Add(simulator_.now(), "nothing hangs", absl::StrCat(what, ": ", WhoWaits()));
}

std::string Cluster::WhoWaits() const {
  std::string text;
  for (const auto& [name, worker] : workers_) {
    const std::string waits = worker->WaitsFor();
    if (!waits.empty()) absl::StrAppend(&text, text.empty() ? "" : "; ", waits);
  }
  for (const Failure& failure : failures_) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", failure.call, " failed: ", failure.status.ToString());
  }
  return text;
}

uint64_t Cluster::rounds_done() const {
  uint64_t done = options_.plan.rounds;
  for (const auto& [name, worker] : workers_) done = std::min(done, worker->rounds_done());
  return done;
}

void Cluster::OnPushed(Timestamp now, WorkerName worker, size_t tensor, Round round) {
  clock_.OnPushed(now, worker, tensor, round);
  if (options_.listener != nullptr) options_.listener->OnPushed(now, worker, tensor, round);
}

void Cluster::OnResult(Timestamp now, WorkerName worker, size_t tensor, Round round, absl::Span<const float> values) {
  clock_.OnResult(now, worker, tensor, round, values);
  results_->OnResult(now, worker, tensor, round, values);
  if (options_.listener != nullptr) options_.listener->OnResult(now, worker, tensor, round, values);
}

void Cluster::OnFailed(Timestamp now, WorkerName worker, const std::string& call, const absl::Status& status) {
  failures_.push_back({now, worker, call, status});
}

void Cluster::OnMisuse(Timestamp now, WorkerName worker, const std::string& what) {
  results_->OnMisuse(now, worker, what);
}

}  // namespace banyan
