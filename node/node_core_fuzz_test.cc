// Random messages and events in random states: nothing that arrives may crash a node or make it grow without bound.
#include "core/random.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {
namespace {

constexpr int kEvents = 100'000;
// A job ends with the first wrong chunk that comes twice, so that most clusters live for a short time.
constexpr int kFewestPerCluster = 20;
constexpr int kMostPerCluster = 300;

JobConfig Config(Random& random) {
  JobConfig config;
  config.job = "job";
  config.aggregation.op = static_cast<AggregationOp>(random.Below(6));
  config.chunk_max_elements = 2;
  config.rounds_in_flight = 1 + random.Below(2);
  config.early_bytes = 2000;
  config.relay_bytes = 2000;
  return config;
}

// Makes what the wire lets through, mostly close to what node 1 of Chain(3) expects.
class Mutator {
 public:
  explicit Mutator(Random* random) : random_(*random) {}

  uint32_t Node() { return 1 + random_.Below(5); }
  uint64_t Small() { return random_.Chance(0.02) ? random_.Next() : random_.Below(4); }
  ChunkId Id() {
    return {Epoch(random_.Chance(0.9) ? 1 : Small()),
            Attempt(random_.Chance(0.9) ? 0 : Small()),
            Round(Small()),
            KeyId(1 + random_.Below(2)),
            ChunkIndex(Small()),
            static_cast<Half>(random_.Below(2))};
  }
  SourceRoute Route() {
    SourceRoute route;
    route.path = {NodeId(2), NodeId(1)};
    if (random_.Chance(0.3)) {
      // No node twice, and a hop that has a next one.
      uint32_t first = Node();
      route.path.clear();
      for (uint64_t i = 0; i < 2 + random_.Below(3); ++i) route.path.push_back(NodeId(1 + (first + i) % 5));
      route.hop = random_.Below(route.path.size() - 1);
    }
    return route;
  }
  std::pair<ChunkMessage, Payload> Chunk() {
    ChunkMessage message;
    message.id = Id();
    message.policy = PolicyVersion(random_.Chance(0.9) ? 3 : 1 + Small());
    message.tree = TreeIndex(random_.Chance(0.9) ? 0 : Small());
    message.kind = message.id.round == Round(0) || random_.Chance(0.01) ? RoundKind::kBroadcast : RoundKind::kAggregate;
    message.route = Route();
    message.source_incarnation = TestIncarnation(message.route.source().value());
    if (message.id.half == Half::kBroadcast || random_.Chance(0.1)) message.made_in = Epoch(random_.Below(4));
    message.weight = random_.Chance(0.9) ? 1 : Small();
    message.elements = random_.Chance(0.9) ? 1 + message.id.chunk.value() % 2 : Small();
    message.link_sequence = random_.Below(100);
    Payload payload;
    for (int64_t first = 0; first < 2 && random_.Chance(0.8); ++first) {
      const int64_t elements = random_.Chance(0.5) ? 1 : 2;
      payload.push_back(Buffer::Allocate(elements).AsBytes());
      message.frames.push_back({CodecId::kFp32, first, elements, elements * 4});
    }
    return {std::move(message), std::move(payload)};
  }
  Message Control() {
    switch (random_.Below(6)) {
      case 0:
        return LinkAck{{{random_.Below(50), Timestamp(), Timestamp(), random_.Below(2) == 0},
                        {random_.Next(), Timestamp(), Timestamp()}}};
      case 1:
        return DeliveryAck{Route(), {Id(), Id()}};
      case 2:
        return Busy{Route(), {Id(), Id()}};
      case 3:
        return Grant{Route()};
      case 4:
        return PeerHello{random_.Chance(0.9) ? kProtocolVersion : 1, "job", Term(7), NodeId(Node()),
                         Incarnation(100 + Node())};
      default:
        return PeerHeartbeat{Timestamp(), std::nullopt};
    }
  }
  Message OfScheduler() {
    const Term term(random_.Chance(0.9) ? 7 : 6);
    switch (random_.Below(11)) {
      case 0:
        return KeysAssigned{term, KeyTableVersion(1), {{KeyId(1 + random_.Below(3)), "w", 3}}};
      case 1:
        return KeyRefused{term, "w", "no"};
      case 2: {
        PolicyPublished published{term, TestPlan::Chain(3).Slice(Node(), JobConfig())};
        published.slice.version = PolicyVersion(1 + random_.Below(200));
        if (random_.Chance(0.5) && !published.slice.trees.empty()) published.slice.trees[0].root = NodeId(Node());
        if (random_.Chance(0.5) && !published.slice.neighbours.empty()) published.slice.neighbours.pop_back();
        return published;
      }
      case 3:
        return PolicyAnswer{
            term, Epoch(1), {{KeyId(1), Round(Small()), Round(Small()), PolicyVersion(1 + Small()), Attempt(0)}}};
      case 4:
        return ClosedEverywhere{term, {{KeyId(1 + random_.Below(2)), Round(Small())}}};
      case 5:
        return BarrierReleased{term, Small()};
      case 6:
        return JoinAccepted{term, NodeId(1), JobConfig(), StartId(random_.Chance(0.99) ? 1 : 2), random_.Chance(0.5)};
      case 7:
        return EpochBegin{term, Epoch(1 + random_.Below(random_.Chance(0.01) ? 9 : 2)), "random"};
      case 8: {
        EpochPlan plan{term, Epoch(1 + random_.Below(4)), PolicyVersion(1 + Small()), {}, {}};
        if (random_.Chance(0.8)) plan.frontiers = {{KeyId(1), KeyId(1 + random_.Below(3)), Round(Small())}};
        if (random_.Chance(0.8)) {
          const Round first(Small());
          plan.bindings = {{KeyId(1), KeyId(1 + random_.Below(3)), first, Round(first.value() + random_.Below(3)),
                            Attempt(Small()), 1 + static_cast<int64_t>(random_.Below(4))}};
        }
        return plan;
      }
      case 9:
        return MembershipUpdate{term, Epoch(1), 3, 3, true, {}};
      default:
        if (random_.Chance(0.3)) {
          return TraceOrder{term,
                            TraceId(1 + random_.Below(2)),
                            static_cast<TraceOrder::Step>(random_.Below(5)),
                            Round(Small()),
                            Round(Small()),
                            100};
        }
        return random_.Chance(0.01) ? Message(JobFailed{term, absl::StatusCode::kUnavailable, "it failed"})
                                    : Message(HeartbeatReply{term, Timestamp()});
    }
  }

 private:
  Random& random_;
};

class Fuzz {
 public:
  explicit Fuzz(uint64_t seed) : random_(seed), mutate_(&random_), cluster_(Config(random_), TestPlan::Chain(3)) {
    cluster_.Start();
    if (random_.Chance(0.9)) cluster_.InitEverywhere({1, 2, 3});
    for (uint32_t node : {2, 3, 4}) connections_.push_back(cluster_.ConnectAs(1, node));
    connections_.push_back(ConnectionId(kInboundConnection.value() + 1'000'000));  // never said hello
    connections_.push_back(kSchedulerConnection);
    connections_.push_back(kFirstPeerConnection);
  }

  void Step() {
    const ConnectionId connection = connections_[random_.Below(connections_.size())];
    switch (random_.Below(12)) {
      case 0:
        cluster_.Push(1 + random_.Below(3), 0, KeyId(1), {1, 2, 3});
        break;
      case 1:
        cluster_.Inject(1, connection, mutate_.Control());
        break;
      case 2:
        cluster_.Inject(1, kSchedulerConnection, mutate_.OfScheduler());
        break;
      case 3:
        Event(random_.Below(5));
        break;
      case 4:
        cluster_.Advance(absl::Milliseconds(random_.Below(300)));
        break;
      default: {
        auto [message, payload] = mutate_.Chunk();
        cluster_.Inject(1, connection, std::move(message), std::move(payload));
      }
    }
  }

  // Everything that a peer can make grow.
  void ExpectBounded() {
    cluster_.Advance(absl::Seconds(2));
    EXPECT_LE(cluster_.Memory(1, "early"), 2000u);
    EXPECT_LE(cluster_.Memory(1, "relayed"), 2000u);
    EXPECT_LE(cluster_.Memory(1, "unknown"), 2000u);
    EXPECT_LE(cluster_.Memory(1, "sums"), 100u);
    EXPECT_LE(cluster_.Memory(1, "results"), 100u);
  }

 private:
  void Event(uint64_t which) {
    if (which == 0) cluster_.BreakConnections(2, 1);
    if (which == 1) cluster_.BreakConnections(1, 2);
    if (which == 2) cluster_.Step(1, MessageRejected{connections_[0], absl::InvalidArgumentError("random bytes")});
    if (which == 3) cluster_.Step(1, ComputationFinished{ComputationId(random_.Next()), nullptr});
    if (which == 4) cluster_.Step(1, ConnectionDown{ConnectionId(random_.Next())});
    cluster_.Run();
  }

  Random random_;
  Mutator mutate_;
  TestCluster cluster_;
  std::vector<ConnectionId> connections_;
};

TEST(NodeCoreFuzzTest, NothingCrashesOrGrowsWithoutBound) {
  int events = 0;
  for (uint64_t seed = 0; events < kEvents; ++seed) {
    SCOPED_TRACE(seed);
    Fuzz fuzz(seed);
    const int count = seed % 4 == 0 ? kMostPerCluster : kFewestPerCluster;
    for (int i = 0; i < count; ++i) fuzz.Step();
    fuzz.ExpectBounded();
    events += count;
  }
}

}  // namespace
}  // namespace banyan
