#include "proto/testing/wire_samples.h"

#include <fstream>
#include <utility>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "proto/wire.h"

namespace banyan {
namespace {

SourceRoute SampleRoute() { return {{NodeId(3), NodeId(300), NodeId(7)}, 1}; }

std::vector<ChunkId> SampleChunkIds() {
  return {{Epoch(2), Attempt(1), Round(41), KeyId(5), ChunkIndex(9), Half::kBroadcast},
          {Epoch(2), Attempt(3), Round(40), KeyId(6), ChunkIndex(1), Half::kBroadcast}};
}

JobConfig SampleConfig() {
  JobConfig config;
  config.job = "fashion-mnist";
  config.aggregation = {AggregationOp::kAdam,     0.001, 0.8, 0.91, 0.998, 1e-7, 0.25, NotFiniteRule::kSkip, 0.75,
                        absl::Milliseconds(1500), true};
  config.chunk_max_elements = 1000;
  config.workers = 3;
  config.rounds_in_flight = 2;
  config.connections_per_link = 4;
  config.bytes_per_connection = 9999;
  config.window_bytes = int64_t{1} << 33;
  config.early_bytes = 1 << 20;
  config.relay_bytes = 1 << 21;
  config.trimming = {.policy = TrimPolicyKind::kQueue, .queue_bytes = 12345, .share = 0.25};
  config.heartbeat = absl::Milliseconds(250);
  config.lost_after = absl::Seconds(7);
  config.scheduler_lost_after = absl::Minutes(70);
  config.resend_after = absl::Nanoseconds(1500000001);
  config.low_bit =
      VoteRules{LowBitFamily::kTernary, ZeroGate::kResult, 0.625, 0.375, VoteAggregate::kMean, TieRule::kPositive};
  config.schedulers = {"tcp://10.0.0.1:7700", "tcp://[fd00::2]:7700"};
  config.compression.least_elements = 2048;
  config.compression.rules = {{.keys = "fc*.weight",
                               .codec = CodecId::kTopK,
                               .controller = RatioControllerKind::kNetSense,
                               .numbers = {{"increase_step", 0.02}, {"bandwidth_rounds", 5}},
                               .selection = TopKSelection::kSampled,
                               .error_feedback = false},
                              {.keys = "*",
                               .codec = CodecId::kTopK,
                               .controller = RatioControllerKind::kBudget,
                               .numbers = {{"seconds", 2.5}},
                               .selection = TopKSelection::kSampled,
                               .error_feedback = true}};
  return config;
}

PolicySlice SamplePolicy() {
  PolicySlice slice;
  slice.version = PolicyVersion(12);
  slice.epoch = Epoch(3);
  slice.key_table = KeyTableVersion(44);
  slice.chunk_max_elements = 65536;
  slice.member_count = 9;
  slice.source = NodeId(1);
  slice.trees = {{NodeId(2), 0.625, NodeId(4), {NodeId(5), NodeId(6)}, NodeId(7), {NodeId(8), NodeId(9)}},
                 {NodeId(3), 0.375, NodeId(2), {NodeId(1)}, NodeId(2), {NodeId(300)}}};
  slice.routes = {{{NodeId(1), NodeId(4), NodeId(5)}, 25e6, absl::Milliseconds(44), 0.125, 0.5, true}};
  slice.auxiliary = {{{NodeId(1), NodeId(9), NodeId(2)}, 20e6, absl::Milliseconds(70), 0.25, 0.75, true},
                     {{NodeId(1), NodeId(8), NodeId(6), NodeId(2)}, 15e6, absl::Milliseconds(90), 0.5, 0.25, true}};
  slice.neighbours = {{NodeId(4), "n4", "tcp://10.0.4.1:7701", Incarnation(0xfedcba9876543210), 38e6,
                       absl::Milliseconds(30), 0.5, 21e6, true}};
  slice.relayed = {{NodeId(5), Incarnation(0x1234567890abcdef)}, {NodeId(6), Incarnation(3)}};
  slice.transmission = {true, 50000, 7, true, 3, 9, RateEstimator::kOneWayDelay};
  return slice;
}

LinkMeasurement SampleMeasurement() {
  LinkMeasurement measurement;
  measurement.source = LinkMeasurement::Source::kAuxiliary;
  measurement.rate_bps = 38.5e6;
  measurement.one_way_delay_rate_bps = 31e6;
  measurement.is_backlogged = true;
  measurement.delay = absl::Milliseconds(15);
  measurement.age = absl::Milliseconds(250);
  measurement.clock_offset = absl::Hours(-5);
  measurement.clock_uncertainty = absl::Microseconds(80);
  return measurement;
}

PrecisionStatus SamplePrecision() {
  PrecisionStatus status;
  status.profile = "small";
  status.binding = "model";
  status.state = "decided";
  status.admitted = {"encoder"};
  status.veto = "cooldown";
  status.vetoes = 2;
  status.ordered = {"head"};
  status.step = 7;
  status.violations = 1;
  status.sent = {1500000, 4000000};
  status.sent_low_bit = {500000, 3000000};
  status.guard = "endpoint";
  status.predicted = {{100000, 2, 0.25, 0.5, 0.125, 0.375}};
  status.audit.bits_per_element = 1.5;
  status.audit.candidates = {30, 10, 20, 4, 5, 0.5, 0.25, 0.75, 800};
  status.audit.all = {30, 10, 60, 4, 5, 0.3, 0.25, 0.875, 900};
  status.audit.keys = {{"w", {30, 10, 20, 4, 5, 0.5, 0.25, 0.75, 800}, {{5, 20, 3, 2, 1}}}};
  return status;
}

NodeReport SampleReport() {
  NodeReport report;
  report.workers_attached = 2;
  report.rejected_messages = 3;
  report.links = {{{1'000'000'007, 4096, 1000, 0.75, 3, true, 44, 555000, 6}, NodeId(4), SampleMeasurement()},
                  {{77, 1, 2, 0.25, 1, true, 1, 7, 8}, NodeId(5), SampleMeasurement()}};
  report.memory = {{"contributions", 1 << 26}, {"early", 512}};
  report.progress = {{KeyId(1), Round(17), Round(18)},
                     {KeyId(2), Round(17), Round(18)},
                     {KeyId(3), Round(16), Round(17)},
                     {KeyId(4), Round(16), Round(17)}};
  report.step = 1700;
  report.loss = 0.4375;
  report.last_sync = {17, 11'200'000, absl::Microseconds(123456)};
  report.missing = {{KeyId(1), Round(18), {WorkerId(1), WorkerId(3)}}, {KeyId(2), Round(4), {WorkerId(2)}}};
  report.lags = {{KeyId(2), WorkerId(1), Round(2), Round(18), 7}, {KeyId(4), WorkerId(2), Round(16), Round(17), 3}};
  report.refusals = {{"fc1.weight", WorkerId(3), "key fc1.weight does not fit"}};
  report.late_rounds = 12;
  report.contributions = 345;
  report.grace_seconds = 0.25;
  report.gained_gradients = 17;
  report.waited_ms = 4200;
  report.route_violations = 5;
  report.precision = {
      {1000, 4000},
      {30, 960},
      {{ServiceKind::kCast, 4096, absl::Microseconds(3)}, {ServiceKind::kCount, 1, absl::Nanoseconds(2)}},
      3};
  report.not_finite = {{KeyId(2), 4096, Round(16)}, {KeyId(4), 1, Round(3)}};
  return report;
}

TracePiece SampleTracePiece() {
  const auto at = [](int64_t nanoseconds) { return Timestamp::FromNanoseconds(nanoseconds); };
  const ChunkJourney journey{Round(19), KeyId(2), ChunkIndex(3), true, NodeId(4), NodeId(5)};
  TracePiece piece{TraceId(8), {"n5", NodeId(5), {}}, true};
  piece.of_node.records.arrivals = {{journey, NodeId(6), 262144, at(7), at(int64_t{1} << 60)}};
  piece.of_node.records.departures = {{journey, at(8)}};
  piece.of_node.records.moments = {{RoundRecords::Step::kPolicyCame, Round(19), KeyId(10), at(11)}};
  piece.of_node.records.clocks = {{NodeId(12), at(13), absl::Nanoseconds(-14), absl::Nanoseconds(15)}};
  piece.of_node.records.left_out = 16;
  return piece;
}

void AddPeerSamples(std::vector<Message>& messages) {
  messages.emplace_back(
      PeerHello{kProtocolVersion, "fashion-mnist", Term(3), NodeId(7), Incarnation(0x1122334455667788), NodeId(2)});
  messages.emplace_back(LinkAck{{{5, Timestamp::FromNanoseconds(1000), Timestamp::FromNanoseconds(987654321), true},
                                 {6, Timestamp::FromNanoseconds(1 << 30), Timestamp::FromNanoseconds(2), true}}});
  messages.emplace_back(DeliveryAck{SampleRoute(), SampleChunkIds()});
  messages.emplace_back(Busy{SampleRoute(), SampleChunkIds()});
  messages.emplace_back(Grant{SampleRoute()});
  messages.emplace_back(Grant{SampleRoute(), SampleChunkIds()});
  messages.emplace_back(GoAway{"another start of n4 has joined"});
  messages.emplace_back(
      PeerHeartbeat{Timestamp::FromNanoseconds(3600'000'000'000),
                    PeerHeartbeat::Echo{Timestamp::FromNanoseconds(4), Timestamp::FromNanoseconds(5)}});
}

void AddToSchedulerSamples(std::vector<Message>& messages) {
  messages.emplace_back(Join{kProtocolVersion, "fashion-mnist", "n7", "tcp://10.0.7.1:7701", Incarnation(99), "1.2.3"});
  messages.emplace_back(Heartbeat{Timestamp::FromNanoseconds(12345678901)});
  messages.emplace_back(RegisterKeys{{{"fc1", 401408, {{{"weight", 401408}}, DataType::kFloat16}},
                                      {"heads", 12, {{{"q", 4}, {"v", 8}}, DataType::kBFloat16}}}});
  messages.emplace_back(PolicyRequest{{{KeyId(1), Round(18)}, {KeyId(2), Round(18)}}});
  messages.emplace_back(RoundsClosed{{{KeyId(1), Round(17), 0xdeadbeefcafef00d, 1}, {KeyId(3), Round(17), 1, 3}}});
  messages.emplace_back(BarrierEntered{4});
  messages.emplace_back(PeerLost{NodeId(4), "silent for 5s"});
  messages.emplace_back(WorkerLost{WorkerId(1), "its socket closed"});
  messages.emplace_back(WorkerLost{WorkerId(1), "its socket closed", /*has_values=*/true});
  messages.emplace_back(CannotFollow{"its policy was never published here"});
  messages.emplace_back(RoundBroken{KeyId(1), Round(17), NodeId(4), "weight 0 came with 1 frames"});
  messages.emplace_back(Leave{"it was stopped", true});
  messages.emplace_back(SampleReport());
  messages.emplace_back(StatusRequest{});
  messages.emplace_back(Reconfigure{"job: fashion-mnist\n", "overlay.yaml"});
  messages.emplace_back(
      EpochReport{Epoch(6), {{KeyId(1), KeyId(3), Round(18)}, {KeyId(4), KeyId(4), Round(17)}}, true});
  messages.emplace_back(StopJob{"enough for today"});
  messages.emplace_back(RemoveNode{"n4"});
  messages.emplace_back(VetoLowBit{{"encoder", "backbone"}, true});
  messages.emplace_back(TraceRounds{5, absl::Seconds(90)});
  messages.emplace_back(TraceReady{TraceId(8), Round(18), "it notes rounds for a file"});
  messages.emplace_back(SampleTracePiece());
  messages.emplace_back(WaitQuestion{KeyId(1), Round(18)});
  messages.emplace_back(RoundsPushed{{{KeyId(1), Round(17), 1}, {KeyId(3), Round(18), 2}}});
  messages.emplace_back(HealthReport{WorkerId(2), {1700, 0.4375, 0.25, 0.5, 0.875}});
  messages.emplace_back(CutBound{Term(3), Epoch(6), CutId(12), {{KeyId(1), Round(18)}, {KeyId(2), Round(18)}}});
}

void AddFromSchedulerSamples(std::vector<Message>& messages) {
  messages.emplace_back(JoinAccepted{Term(3), NodeId(7), SampleConfig(), StartId(0x8877665544332211), true});
  messages.emplace_back(JoinRefused{Term(3), "two nodes are called n7", true, true});
  messages.emplace_back(MembershipUpdate{Term(3), Epoch(6), 7, 9, true, {"n4", "n8"}, {{"n1", 8}, {"n2", 1}}});
  messages.emplace_back(AccessList{Term(3),
                                   {{"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", Role::kObserver, "n7", NodeId(7)},
                                    {"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf8", Role::kOperator, "ada", NodeId(8)}}});
  messages.emplace_back(HeartbeatReply{Term(3), Timestamp::FromNanoseconds(12345678901)});
  messages.emplace_back(KeysAssigned{Term(3),
                                     KeyTableVersion(2),
                                     {{KeyId(1), "fc1.weight", 401408, 78, DataType::kFloat64, {128, 4096}},
                                      {KeyId(2), "fc1.bias", 512, 77, DataType::kInt64, {64}}}});
  messages.emplace_back(KeyRefused{Term(3), "fc1.weight", "401408 elements expected, 512 came"});
  messages.emplace_back(PolicyAnswer{
      Term(3),
      Epoch(1),
      {{KeyId(1), Round(18), Round(25), PolicyVersion(12), Attempt(1), 32768, KeyRoutes::OfBits(0b010010)},
       {KeyId(2), Round(18), Round(25), PolicyVersion(12), Attempt(1), 32768, KeyRoutes::OfBits(0b010010)}}});
  messages.emplace_back(CutSought{Term(3), Epoch(6), CutId(12)});
  messages.emplace_back(PolicyPublished{Term(3), SamplePolicy()});
  messages.emplace_back(ClosedEverywhere{Term(3), {{KeyId(1), Round(17)}, {KeyId(2), Round(17)}}});
  messages.emplace_back(QuorumReached{Term(3), {{KeyId(1), Round(17), 1}, {KeyId(3), Round(18), 2}}});
  messages.emplace_back(BarrierReleased{Term(3), 4});
  messages.emplace_back(JobFailed{Term(3), absl::StatusCode::kUnavailable, "scheduler stopped", true});
  messages.emplace_back(StatusReply{SampleStatus()});
  messages.emplace_back(WaitAnswer{Term(3), KeyId(1), Round(18), "it waits for n4, which has not pushed it"});
  messages.emplace_back(PoliciesRetired{Term(3), PolicyVersion(11)});
  messages.emplace_back(EpochBegin{Term(3), Epoch(6), "n4 has been silent for 5s"});
  messages.emplace_back(
      EpochPlan{Term(3),
                Epoch(6),
                PolicyVersion(12),
                {{KeyId(1), KeyId(3), Round(17)}, {KeyId(4), KeyId(4), Round(16)}},
                {{KeyId(1), KeyId(3), Round(17), Round(18), Attempt(2), 65536, PrecisionRoute::kFallback},
                 {KeyId(4), KeyId(4), Round(16), Round(16), Attempt(3), 32768, PrecisionRoute::kLowBit}},
                1,
                true});
  messages.emplace_back(OperatorReply{true, "planner fapt becomes star"});
  messages.emplace_back(TraceOrder{Term(3), TraceId(8), TraceOrder::Step::kKeep, Round(19), Round(23), 4096});
  messages.emplace_back(TraceEnd{Round(19), Round(23), {{"n4", "it has left"}, {"n5", "silent"}}});
}

void AddStateSamples(std::vector<Message>& messages) {
  const std::vector<KeysPushed> pushed = {{KeyId(1), KeyId(3), Round(17)}, {KeyId(4), KeyId(4), Round(16)}};
  messages.emplace_back(StateWanted{2});
  messages.emplace_back(StateWanted{0, true});
  messages.emplace_back(StateSought{Term(3), TransferId(5), "n4 has joined"});
  messages.emplace_back(BoundaryHeld{TransferId(5), 1200, pushed});
  messages.emplace_back(NoState{TransferId(5), "no worker of n2 shares a state"});
  messages.emplace_back(NoState{TransferId(6), "worker 0 has left its boundary", true});
  messages.emplace_back(StateHolders{Term(3),
                                     TransferId(5),
                                     2,
                                     1200,
                                     pushed,
                                     {{NodeId(4), NodeId(2)}, {NodeId(4), NodeId(2), NodeId(9)}, {NodeId(4)}}});
  messages.emplace_back(FetchEnded{TransferId(5), 2, true, "worker 0 has died"});
  messages.emplace_back(StateReleased{Term(3), TransferId(5), 2, absl::StatusCode::kNotFound, "nobody shares a state"});
  messages.emplace_back(StateManifestWanted{SampleRoute(), TransferId(5), {}});
  messages.emplace_back(StateManifestWanted{SampleRoute(), kReplicaTransfers, pushed});
  messages.emplace_back(
      StateManifest{SampleRoute(), TransferId(5), {{{"adam.step", 8}, {"fc1.weight", 2000}}}, {0xdeadbeef, 7}});
  messages.emplace_back(StateRequest{SampleRoute(),
                                     TransferId(5),
                                     Attempt(3),
                                     {{ChunkIndex(1), ChunkIndex(4)}, {ChunkIndex(7), ChunkIndex(7)}},
                                     pushed});
  messages.emplace_back(StateRefused{SampleRoute(), TransferId(5), "no worker of n2 is held at a boundary"});
}

}  // namespace

WireSample SampleStateChunk() {
  ChunkMessage chunk = std::get<ChunkMessage>(SampleChunk().message);
  chunk.id = StateChunkId(TransferId(5), Attempt(3), ChunkIndex(7));
  chunk.made_in = Epoch();
  chunk.kind = RoundKind::kAggregate;
  chunk.weight = 0;
  chunk.elements = 100;
  chunk.frames = {{CodecId::kFp32, 0, 100, 100}};
  return {Message(std::move(chunk)), {Buffer::Allocate(100, DataType::kByte)}};
}

WireSample SampleChunk() {
  ChunkMessage chunk;
  chunk.id = {Epoch(2), Attempt(1), Round(41), KeyId(5), ChunkIndex(9), Half::kBroadcast};
  chunk.policy = PolicyVersion(12);
  chunk.tree = TreeIndex(4);
  chunk.made_in = Epoch(2);
  chunk.kind = RoundKind::kBroadcast;
  chunk.source_incarnation = Incarnation(0x1122334455667788);
  chunk.route = SampleRoute();
  chunk.is_auxiliary = true;
  chunk.weight = 9;
  chunk.priority = -3;
  chunk.elements = 100;
  chunk.place = 300;
  chunk.frames = {{CodecId::kFp32, 40, 60, 240}, {CodecId::kFp32, 1, 39, 156}};
  chunk.result_ratio = 0.25;
  chunk.precision = PrecisionRoute::kFallback;
  chunk.link_sequence = 70000;
  chunk.sent_at = Timestamp::FromNanoseconds(1234567890123);
  chunk.ack_may_wait = true;
  return {Message(std::move(chunk)), {Buffer::Allocate(60), Buffer::Allocate(156, DataType::kByte)}};
}

WireSample SampleEmptyContribution() {
  ChunkMessage chunk = std::get<ChunkMessage>(SampleChunk().message);
  chunk.id.half = Half::kReduce;
  chunk.made_in = Epoch();
  chunk.weight = 0;
  chunk.frames.clear();
  return {Message(std::move(chunk)), {}};
}

namespace {

// Of a prefix-decodable codec, after two hops that cut it.
WireSample SampleCutContribution() {
  ChunkMessage chunk = std::get<ChunkMessage>(SampleChunk().message);
  chunk.id.half = Half::kReduce;
  chunk.made_in = Epoch();
  chunk.kind = RoundKind::kAggregate;
  chunk.frames = {{CodecId::kTrimRht, 0, 100, 28, 0}, {CodecId::kTrimRht, 0, 100, 512, 1}};
  chunk.cut_frames = 3;
  chunk.cuts = {{NodeId(4), 2}, {NodeId(9), 1}};
  return {Message(std::move(chunk)), {Buffer::Allocate(28, DataType::kByte), Buffer::Allocate(512, DataType::kByte)}};
}

}  // namespace

WireSample SampleEmptyResult() {
  WireSample sample = SampleEmptyContribution();
  ChunkMessage& chunk = std::get<ChunkMessage>(sample.message);
  chunk.made_in = Epoch(2);
  chunk.kind = RoundKind::kAbstention;
  return sample;
}

JobStatus SampleStatus() {
  JobStatus status;
  status.job = "fashion";
  status.state = "failed";
  status.error = "n2 is \"lost\"";
  status.version = "1.2.3";
  status.protocol = 4;
  status.term = 2;
  status.epoch = 3;
  status.policy = 5;
  status.rejected_messages = 6;
  status.waiting_for = {"n2"};
  status.is_insecure = true;
  status.change = "a plan is being made";
  status.transfer = "n1 takes the state";
  status.disorder = "n1 and n2 push in other orders";
  status.storage = "the state has not been written for 4s";
  status.epochs = {1, "n2 has gone", 1.5, 1.25, {{3, "n2 has gone", 1, 1.5}}};
  status.open_round = {"w", 7, {"n2"}, {"n1"}, "n2 to push it", 12};
  status.barrier_waits_for = {"n2"};
  status.links_out = {{{"n1", "n2"}, 60, "silent"}};
  status.precision = SamplePrecision();
  JobStatus::Report report;
  report.workers = 1;
  report.round = 12;
  report.step = 11;
  report.loss = 0.5;
  report.sync_seconds = 0.0205;
  report.counters = {2, 8};
  report.rejected_messages = 3;
  report.memory = {{"queues", 500000}, {"results", 1000000}};
  report.not_finite = {{"w", 9, 12}};
  JobStatus::Node node;
  node.name = "n1";
  node.id = 1;
  node.state = "joined";
  node.address = "tcp://10.0.0.1:7701";
  node.heard_s = 0.25;
  node.idle_s = 12.5;
  node.version = "1.2.2";
  node.is_insecure = true;
  node.is_member = true;
  node.membership = {"18446744073709551615", 3};
  node.up_mbps = 50;
  node.down_mbps = 20;
  node.place = {52.5, -13.4};
  node.report = report;
  status.nodes = {node};
  status.links = {{"n1",
                   "n2",
                   38,
                   15,
                   0.5,
                   3.25,
                   "auxiliary",
                   true,
                   {4000000, 10, 1000000, 0.875, 3, true, 4, 555, 6},
                   JobStatus::Measured{18, -3, 1}}};
  status.links_left_out = 7;
  status.auxiliary_share = 0.25;
  status.inferred = {{"n1", "sends", 50}};
  status.ways = {{"n1", "n2", 40, {{"n1", "n3"}}}};
  status.plan = {"fapt", 58.8, 66.3, 110, 0.6, 2.5, "the start", 2, 3, JobStatus::SlowestLink{"n1", "n2", 38, 0.875}};
  status.trees = {{"n1", 0.75, {{"n2", "n1"}}, {{"n2", "n1"}}}};
  status.trees_left_out = 3;
  status.keys = {{"w", 10, 6}};
  return status;
}

std::vector<WireSample> WireSamples() {
  std::vector<Message> messages;
  AddPeerSamples(messages);
  AddToSchedulerSamples(messages);
  AddFromSchedulerSamples(messages);
  AddStateSamples(messages);
  std::vector<WireSample> samples = {SampleCutContribution(), SampleChunk()};
  for (Message& message : messages) samples.push_back({std::move(message), {}});
  return samples;
}

std::vector<std::string> GoldenLines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) lines.push_back(line);
  }
  return lines;
}

void ExpectReadable(const Message& message, const Payload& payload) {
  const absl::StatusOr<Message> read = DecodeMessage(EncodeMessage(message), payload);
  if (!read.ok()) {
    ADD_FAILURE() << "a message that its receiver refuses: " << read.status();
  } else {
    EXPECT_TRUE(*read == message) << "message " << message.index() << " of Message differs when it is read";
  }
}

}  // namespace banyan
