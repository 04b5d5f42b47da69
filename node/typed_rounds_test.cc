// Rounds of tensors of all types through whole nodes in a chain: what travels in which form, and what the sums are.
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compression/counts/vote_count.h"
#include "compression/counts/vote_decision.h"
#include "compression/element_types.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr int kNodes = 3;
constexpr KeyId kKey(1);

template <typename T>
Buffer BufferOf(const std::vector<T>& values) {
  Buffer buffer = Buffer::Allocate(static_cast<int64_t>(values.size()), kTypeOf<T>);
  std::memcpy(buffer.mutable_data(), values.data(), buffer.size_bytes());
  return buffer;
}

// A worker's tensor of a half type.
Buffer HalvesOf(DataType type, const std::vector<float>& values) {
  Buffer halves = Buffer::Allocate(static_cast<int64_t>(values.size()), type);
  CopyRounded(Buffer::CopyOf(values), {halves.mutable_data(), halves.elements(), type});
  return halves;
}

class TypedRoundsTest : public ::testing::Test {
 protected:
  // Each node has so many workers, which initialise "w" with `values`.
  void Start(const Buffer& values, AggregationOp op = AggregationOp::kSum, CompressionConfig compression = {},
             uint32_t workers = 1) {
    config_.job = "job";
    config_.aggregation.op = op;
    config_.chunk_max_elements = 2;
    config_.compression = std::move(compression);
    config_.workers = workers;
    workers_ = workers;
    type_ = values.type();
    cluster_.emplace(config_, plan_);
    cluster_->scheduler().routes = routes_;
    cluster_->filter = [this](uint32_t, uint32_t, const Message& message) {
      if (const auto* chunk = std::get_if<ChunkMessage>(&message)) {
        for (const FrameHeader& frame : chunk->frames) frames_[frame.codec] += frame.size_bytes;
      }
      return TestCluster::Fate::kDeliver;
    };
    cluster_->Start();
    std::vector<RequestId> inits;
    ForEachWorker([&](uint32_t node, uint32_t worker) { cluster_->Attach(node, worker); });
    ForEachWorker([&](uint32_t node, uint32_t worker) {
      inits.push_back(
          cluster_->Call(node, WorkerInit{{}, WorkerId(worker), "w", values, TensorLayout{{}, values.type()}}));
    });
    for (const RequestId init : inits) {
      ASSERT_TRUE(cluster_->StatusOf(init).ok()) << cluster_->StatusOf(init);
      EXPECT_EQ(BytesOf(ResultOf(init)), BytesOf(values));
    }
    frames_.clear();
  }

  template <typename Use>
  void ForEachWorker(Use use) const {
    for (uint32_t node = 1; node <= kNodes; ++node) {
      for (uint32_t worker = 0; worker < workers_; ++worker) use(node, worker);
    }
  }

  // What a worker has in its memory when the call is done: in the key's own type.
  Buffer ResultOf(RequestId request) {
    int64_t elements = 0;
    for (const WriteResult& write : cluster_->Writes(request)) elements += write.values.elements();
    Buffer result = Buffer::Allocate(elements, type_);
    for (const WriteResult& write : cluster_->Writes(request)) {
      Buffer part = result.Slice(write.first_element, write.values.elements());
      CopyRounded(write.values, {part.mutable_data(), part.elements(), type_});
    }
    return result;
  }
  static std::string BytesOf(const Buffer& buffer) {
    return {static_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size_bytes())};
  }

  // Each worker pushes `part(its number from 0)`; returns what all get.
  template <typename Part>
  Buffer RunRound(Part part, bool flush = false) {
    std::vector<RequestId> requests;
    ForEachWorker([&](uint32_t node, uint32_t worker) {
      WorkerPush push{{}, WorkerId(worker), kKey, part((node - 1) * workers_ + worker), 0, true, flush};
      requests.push_back(cluster_->Call(node, std::move(push)));
    });
    for (const RequestId request : requests) {
      EXPECT_TRUE(cluster_->StatusOf(request).ok()) << cluster_->StatusOf(request);
      EXPECT_EQ(BytesOf(ResultOf(request)), BytesOf(ResultOf(requests[0])));
    }
    return ResultOf(requests[0]);
  }

  RequestId Push(uint32_t node, Buffer part) {
    return cluster_->Call(node, WorkerPush{{}, WorkerId(0), kKey, std::move(part), 0, true});
  }
  // Says that a quorum has pushed the round, and waits for its end.
  void Quorum(uint64_t round) {
    cluster_->scheduler().SayToAll(QuorumReached{Term(7), {{kKey, Round(round)}}});
    cluster_->Run();
    cluster_->Advance(*config_.aggregation.grace);
  }
  // The one element of a result.
  template <typename T>
  T ValueOf(RequestId request) {
    EXPECT_TRUE(cluster_->IsDone(request) && cluster_->StatusOf(request).ok());
    const Buffer result = ResultOf(request);
    return result.empty() ? T() : *static_cast<const T*>(result.data());
  }
  // Two rounds without node 2, and what its worker then gets and gives.
  template <typename T, typename IsEqual>
  void RunQuorum(AggregationOp op, T large, IsEqual is_equal) {
    config_.aggregation.quorum = 0.6;
    config_.aggregation.grace = absl::Milliseconds(100);
    Start(BufferOf<T>({0}), op);
    // A mean is divided by the number of gradients in it.
    const bool is_mean = op == AggregationOp::kMean;
    const T two = is_mean ? 2 : 1;
    const T five = is_mean ? 5 : 1;
    for (const uint64_t round : {1, 2}) {
      const RequestId first = Push(1, BufferOf<T>({large}));
      Push(3, BufferOf<T>({static_cast<T>(round)}));
      Quorum(round);
      EXPECT_THAT(ValueOf<T>(first), is_equal((large + static_cast<T>(round)) / two)) << "round " << round;
    }
    EXPECT_THAT(ValueOf<T>(Push(2, BufferOf<T>({large}))), is_equal((large + 1) / two + (large + 2) / two));
    EXPECT_THAT(ValueOf<T>(Push(2, BufferOf<T>({2}))), is_equal(T()));
    const RequestId next = Push(2, BufferOf<T>({4}));
    for (const uint32_t node : {1, 3}) Push(node, BufferOf<T>({T()}));
    EXPECT_THAT(ValueOf<T>(next), is_equal((large + 6) / five)) << "what was late comes with it";
  }

  JobConfig config_;
  TestPlan plan_ = TestPlan::Chain(kNodes);
  std::map<Round, KeyRoutes> routes_;
  std::optional<TestCluster> cluster_;
  uint32_t workers_ = 1;
  DataType type_ = DataType::kFloat32;
  std::map<CodecId, int64_t> frames_;  // bytes that were sent
};

CompressionConfig Compression(CodecId codec) {
  CompressionConfig config;
  config.rules = {{.codec = codec}};
  config.least_elements = 1;
  return config;
}

TEST_F(TypedRoundsTest, HalvesTravelInTwoBytesAndAreRoundedOnce) {
  for (const DataType type : {DataType::kFloat16, DataType::kBFloat16}) {
    Start(HalvesOf(type, {1, 2, 3}), AggregationOp::kMean);
    const Buffer mean = RunRound([&](uint32_t worker) { return HalvesOf(type, {1.0f + worker, 0.5f, -2}); });
    EXPECT_EQ(BytesOf(mean), BytesOf(HalvesOf(type, {2, 0.5f, -2})));
    // Three elements over two links up and two down.
    EXPECT_EQ(frames_, (std::map<CodecId, int64_t>{{PlainCodecOf(type), 3 * 2 * 4}}));
  }
}

TEST_F(TypedRoundsTest, WorkersOfANodeAreSummedInFloat32) {
  // 1 + 2^-9 is no bfloat16, and neither is a sum of two with a small one; float32 has them all.
  Start(HalvesOf(DataType::kBFloat16, {0}), AggregationOp::kSum, {}, /*workers=*/4);
  const Buffer sum =
      RunRound([](uint32_t worker) { return HalvesOf(DataType::kBFloat16, {worker % 4 == 0 ? 1.0f : 0x1p-9f}); });
  // Each has 1 + 3 * 2^-9. Node 3 passes up 1 + 2^-7, node 2 then 2 + 2^-6, and node 1 makes the result.
  EXPECT_EQ(BytesOf(sum), BytesOf(HalvesOf(DataType::kBFloat16, {3.015625f})));
  EXPECT_EQ(frames_.size(), 1u);
}

TEST_F(TypedRoundsTest, ASumOfHalvesDoesNotOverflow) {
  Start(HalvesOf(DataType::kFloat16, {0, 0}), AggregationOp::kMean);
  const Buffer mean = RunRound([](uint32_t) { return HalvesOf(DataType::kFloat16, {60000, 1}); });
  EXPECT_EQ(BytesOf(mean), BytesOf(HalvesOf(DataType::kFloat16, {60000, 1})));
  EXPECT_GT(frames_[CodecId::kFp32], 0) << "where halves cannot hold the sum";
}

TEST_F(TypedRoundsTest, ACodecOfTheJobIsForHalvesToo) {
  Start(HalvesOf(DataType::kFloat16, std::vector<float>(8, 1)), AggregationOp::kMean, Compression(CodecId::kTopK));
  RunRound([](uint32_t) { return HalvesOf(DataType::kFloat16, std::vector<float>(8, 3)); });
  EXPECT_EQ(frames_.count(CodecId::kFp16), 0u);
  EXPECT_GT(frames_[CodecId::kTopK], 0);
  // Nothing is lost for ever.
  const Buffer rest =
      RunRound([](uint32_t) { return HalvesOf(DataType::kFloat16, std::vector<float>(8)); }, /*flush=*/true);
  EXPECT_EQ(rest.elements(), 8);
}

TEST_F(TypedRoundsTest, ExactTypesAreSummedAsTheyAreWhateverTheCodec) {
  const CompressionConfig compression = Compression(CodecId::kInt8);
  const int64_t big = (int64_t{1} << 53) + 1;
  Start(BufferOf<int64_t>({big, 2, 3}), AggregationOp::kSum, compression, /*workers=*/2);
  const Buffer longs = RunRound([&](uint32_t worker) { return BufferOf<int64_t>({big, -1, int64_t{worker}}); });
  EXPECT_EQ(BytesOf(longs), BytesOf(BufferOf<int64_t>({6 * big, -6, 15})));
  EXPECT_EQ(frames_, (std::map<CodecId, int64_t>{{CodecId::kInt64, 3 * 8 * 4}}));

  Start(BufferOf<int32_t>({1}), AggregationOp::kSum, compression);
  const int32_t most = std::numeric_limits<int32_t>::max();
  const Buffer integers = RunRound([&](uint32_t) { return BufferOf<int32_t>({most}); });
  EXPECT_EQ(BytesOf(integers), BytesOf(BufferOf<int32_t>({most - 2}))) << "they wrap around";
  EXPECT_EQ(frames_, (std::map<CodecId, int64_t>{{CodecId::kInt32, 4 * 4}}));

  Start(BufferOf<double>({0.1}), AggregationOp::kSum, compression);
  const Buffer doubles = RunRound([&](uint32_t worker) { return BufferOf<double>({worker == 1 ? 1e-16 : 0.5}); });
  EXPECT_EQ(BytesOf(doubles), BytesOf(BufferOf<double>({(0.5 + 1e-16) + 0.5})));
}

TEST_F(TypedRoundsTest, OnlyWhatTheAggregationHasIsTaken) {
  const auto push = [&](Buffer values) {
    return std::string(
        cluster_->StatusOf(cluster_->Call(1, WorkerPush{{}, WorkerId(0), kKey, std::move(values), 0, true})).message());
  };
  Start(BufferOf<int32_t>({1}), AggregationOp::kMean);
  EXPECT_THAT(push(BufferOf<int32_t>({1})), HasSubstr("is of int32, of which the job's aggregation makes no mean"));
  EXPECT_THAT(push(Buffer::CopyOf(std::vector<float>{1})), HasSubstr("has 1 int32 elements, but worker 0 gave 1 of"));
  std::vector<RequestId> broadcasts;
  for (uint32_t node = 1; node <= kNodes; ++node) {
    const auto value = static_cast<int32_t>(70 + node);
    broadcasts.push_back(cluster_->Call(node, WorkerBroadcast{{}, WorkerId(0), kKey, BufferOf<int32_t>({value})}));
  }
  for (const RequestId request : broadcasts) EXPECT_EQ(BytesOf(ResultOf(request)), BytesOf(BufferOf<int32_t>({71})));
  Start(BufferOf<double>({4}), AggregationOp::kMean);
  EXPECT_EQ(BytesOf(RunRound([](uint32_t worker) { return BufferOf<double>({worker + 0.5}); })),
            BytesOf(BufferOf<double>({4.5 / 3})));
  Start(BufferOf<double>({1}), AggregationOp::kSgd);
  EXPECT_THAT(push(BufferOf<double>({1})), HasSubstr("makes no optimizer's step"));
}

TEST_F(TypedRoundsTest, AnOptimizerKeepsFloat32AndGivesHalves) {
  Start(HalvesOf(DataType::kBFloat16, {1}), AggregationOp::kSgd);
  // Steps of 0.01 * 0.125 are far below the step of a bfloat16 at 1, and add up in the node.
  Buffer parameters;
  for (int step = 0; step < 16; ++step) {
    parameters = RunRound([](uint32_t) { return HalvesOf(DataType::kBFloat16, {0.125f}); });
  }
  EXPECT_EQ(BytesOf(parameters), BytesOf(HalvesOf(DataType::kBFloat16, {0.98f})));
}

TEST_F(TypedRoundsTest, LowBitRoundsOfHalvesAreThoseOfTheirValues) {
  const std::vector<std::vector<float>> gradients = {
      {1, -0.5f, 3, 0.25f, -2}, {-4, -1, 2, 0.5f, 1}, {2, -8, 1, -1, 0.5f}};
  for (const LowBitFamily family : {LowBitFamily::kBinary, LowBitFamily::kTernary}) {
    const VoteRules rules = {.family = family};
    VoteCount count(5, HasZeroVotes(rules));
    for (const std::vector<float>& each : gradients) count.Add(VoteCount::OfVoter(each, SliceScale(each), rules));
    std::vector<float> decided(5);
    VoteDecision(count, rules).WriteTo(absl::MakeSpan(decided));
    config_.low_bit = rules;
    routes_ = {{Round(1), PrecisionRoute::kLowBit}};
    for (const DataType type : {DataType::kFloat16, DataType::kBFloat16}) {
      Start(HalvesOf(type, std::vector<float>(5)), AggregationOp::kMean);
      const Buffer result = RunRound([&](uint32_t worker) { return HalvesOf(type, gradients[worker]); });
      EXPECT_EQ(BytesOf(result), BytesOf(HalvesOf(type, decided))) << NameOf(type);
      EXPECT_EQ(frames_.size(), 2u);
      EXPECT_GT(frames_[CodecId::kVoteCount] + frames_[CodecId::kVoteDecision], 0);
    }
  }
}

TEST_F(TypedRoundsTest, QuorumRoundsAreExactWhereTheTypeIs) {
  RunQuorum<int64_t>(AggregationOp::kSum, (int64_t{1} << 60) + 1, [](int64_t value) { return testing::Eq(value); });
  RunQuorum<int32_t>(AggregationOp::kSum, (1 << 28) + 1, [](int32_t value) { return testing::Eq(value); });
  RunQuorum<double>(AggregationOp::kSum, 0x1p52 + 1, [](double value) { return testing::Eq(value); });
  RunQuorum<double>(AggregationOp::kMean, 0x1p40 + 1, [](double value) { return testing::DoubleEq(value); });
}

TEST_F(TypedRoundsTest, AReductionOfItsOwnNeverGoesByAQuorum) {
  config_.aggregation.quorum = 0.6;
  config_.aggregation.grace = absl::Milliseconds(100);
  const auto sum = [](double value) {
    Buffer values = Buffer::Allocate(1, DataType::kFloat64Sum);
    std::memcpy(values.mutable_data(), &value, sizeof(value));
    return values;
  };
  Start(sum(0), AggregationOp::kMean);
  const RequestId first = Push(1, sum(1));
  Push(3, sum(4));
  Quorum(1);
  EXPECT_FALSE(cluster_->IsDone(first));
  Push(2, sum(16));
  EXPECT_EQ(ValueOf<double>(first), 21);
}

TEST_F(TypedRoundsTest, ARelayWithRoomForAboutOneChunkPassesAll) {
  // Node 2 passes on what nodes 1 and 3 send to each other: chunks of 16 bytes, and their headers.
  plan_ = TestPlan::Star(kNodes);
  plan_.routes = {{3, 2, 1}, {1, 2, 3}};
  bool was_busy = false;
  for (const int64_t room : {1, 16, 100, 150, 200, 250, 300}) {
    config_.relay_bytes = room;
    Start(BufferOf<double>(std::vector<double>(9)), AggregationOp::kSum);
    cluster_->filter = [&](uint32_t, uint32_t, const Message& message) {
      was_busy = was_busy || std::holds_alternative<Busy>(message);
      return TestCluster::Fate::kDeliver;
    };
    for (int round = 0; round < 2; ++round) {
      const Buffer sum =
          RunRound([](uint32_t worker) { return BufferOf<double>(std::vector<double>(9, 0x1p50 + worker)); });
      EXPECT_EQ(BytesOf(sum), BytesOf(BufferOf<double>(std::vector<double>(9, 3 * 0x1p50 + 3)))) << "room " << room;
    }
  }
  EXPECT_TRUE(was_busy);
}

TEST_F(TypedRoundsTest, NodesWhoseTypesDifferAreRefused) {
  JobConfig config;
  config.job = "job";
  cluster_.emplace(config, TestPlan::Chain(2));
  cluster_->Start();
  for (const uint32_t node : {1u, 2u}) cluster_->Attach(node);
  const auto init = [&](uint32_t node, DataType type) {
    return cluster_->Call(node, WorkerInit{{}, WorkerId(0), "w", Buffer::Allocate(1, type), TensorLayout{{}, type}});
  };
  init(1, DataType::kFloat16);
  EXPECT_FALSE(cluster_->StatusOf(init(2, DataType::kBFloat16)).ok());
}

TEST_F(TypedRoundsTest, FramesOfAnotherTypeAreRefusedAndNamed) {
  Start(BufferOf<int64_t>({1}));
  cluster_->Call(2, WorkerPush{{}, WorkerId(0), kKey, BufferOf<int64_t>({5}), 0, true});
  // What node 3 would send, but for its type.
  ChunkMessage message;
  message.id = {Epoch(1), Attempt(0), Round(1), kKey, ChunkIndex(0), Half::kReduce};
  message.policy = cluster_->scheduler().version;
  message.source_incarnation = TestIncarnation(3);
  message.route.path = {NodeId(3), NodeId(2)};
  message.weight = 1;
  message.elements = 1;
  message.frames = {{CodecId::kFp32, 0, 1, 4}};
  cluster_->Inject(2, cluster_->ConnectAs(2, 3), message, {Buffer::Allocate(4, DataType::kByte)});
  cluster_->Advance(absl::Seconds(1));
  EXPECT_EQ(cluster_->Rejected(2), 1u);
  EXPECT_THAT(cluster_->logs(),
              Contains(Field(&LogLine::text, HasSubstr("frames of codec 0 came for a key of int64"))));
}

}  // namespace
}  // namespace banyan
