// Rounds whose gradients travel as votes, through whole nodes: counts are exact whoever adds them, routes change
// between rounds, and what disagrees with the route of its round is refused.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compression/counts/vote_count.h"
#include "compression/counts/vote_decision.h"
#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/epochs_fixture.h"
#include "node/testing/test_cluster.h"

namespace banyan {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using Gradients = std::vector<std::vector<float>>;

class LowBitRoundsTest : public testing::Test {
 protected:
  static constexpr KeyId kKey = KeyId(1);
  static constexpr uint32_t kNodes = 4;
  static constexpr int kElements = 300;

  // Rounds have these routes from these rounds on, in chunks of 128 elements.
  void Start(std::map<Round, KeyRoutes> routes, uint32_t workers = 2, VoteRules rules = {}) {
    rules_ = rules;
    workers_ = workers;
    JobConfig config;
    config.job = "job";
    config.chunk_max_elements = 128;
    config.workers = workers;
    config.low_bit = rules;
    cluster_.emplace(config, TestPlan::Chain(kNodes));
    cluster_->scheduler().routes = std::move(routes);
    cluster_->scheduler().borders = borders_;
    cluster_->Start();
    for (uint32_t node = 1; node <= kNodes; ++node) {
      for (uint32_t worker = 0; worker < workers; ++worker) cluster_->Attach(node, worker);
    }
    for (uint32_t node = 1; node <= kNodes; ++node) {
      for (uint32_t worker = 0; worker < workers; ++worker) {
        cluster_->Init(node, worker, "w", std::vector<float>(kElements));
      }
    }
    cluster_->filter = [this](uint32_t from, uint32_t, const Message& message) {
      const auto* chunk = std::get_if<ChunkMessage>(&message);
      if (chunk == nullptr || chunk->id.round == Round(0)) return TestCluster::Fate::kDeliver;
      precisions_.insert(chunk->precision);
      for (const FrameHeader& frame : chunk->frames) {
        codecs_.insert(frame.codec);
        if (chunk->id.half == Half::kReduce) sent_up_[from] += frame.size_bytes;
      }
      return TestCluster::Fate::kDeliver;
    };
  }

  Gradients RandomGradients(uint32_t voters) {
    Gradients gradients(voters, std::vector<float>(kElements));
    for (std::vector<float>& gradient : gradients) {
      for (float& value : gradient) value = static_cast<float>(random_.Unit() - 0.5);
    }
    return gradients;
  }

  // Every worker pushes one of these. Returns the requests.
  std::vector<RequestId> PushAll(const Gradients& gradients, bool flush = false) {
    std::vector<RequestId> requests;
    for (size_t i = 0; i < gradients.size(); ++i) {
      const uint32_t node = static_cast<uint32_t>(i) / workers_ + 1;
      const uint32_t worker = static_cast<uint32_t>(i) % workers_;
      requests.push_back(flush ? cluster_->Flush(node, worker, kKey, gradients[i])
                               : cluster_->Push(node, worker, kKey, gradients[i]));
    }
    return requests;
  }

  // Runs a round and returns what all get.
  std::vector<float> RunRound(const Gradients& gradients, bool flush = false) {
    codecs_.clear();
    precisions_.clear();
    sent_up_.clear();
    const std::vector<RequestId> requests = PushAll(gradients, flush);
    for (const RequestId request : requests) {
      EXPECT_TRUE(cluster_->StatusOf(request).ok()) << cluster_->StatusOf(request);
      EXPECT_EQ(cluster_->Result(request), cluster_->Result(requests[0]));
    }
    return cluster_->Result(requests[0]);
  }

  // What a count of all in one place decides.
  std::vector<float> Decided(const Gradients& gradients) const {
    const size_t elements = gradients.front().size();
    VoteCount count(static_cast<int64_t>(elements), HasZeroVotes(rules_));
    for (const std::vector<float>& gradient : gradients) {
      count.Add(VoteCount::OfVoter(gradient, SliceScale(gradient), rules_));
    }
    std::vector<float> decided(elements);
    VoteDecision(count, rules_).WriteTo(absl::MakeSpan(decided));
    return decided;
  }

  static std::vector<float> Mean(const Gradients& gradients) {
    std::vector<float> mean(kElements);
    for (const std::vector<float>& gradient : gradients) {
      for (int i = 0; i < kElements; ++i) mean[i] += gradient[i] / static_cast<float>(gradients.size());
    }
    return mean;
  }

  void ExpectNothingRejected() {
    cluster_->Advance(absl::Seconds(1));
    for (uint32_t node = 1; node <= kNodes; ++node) EXPECT_EQ(cluster_->Rejected(node), 0u) << node;
    EXPECT_THAT(cluster_->scheduler().unequal_hashes, testing::IsEmpty());
    EXPECT_THAT(cluster_->job_ends(), testing::IsEmpty());
  }

  VoteRules rules_;
  std::vector<int64_t> borders_;  // of slices
  uint32_t workers_ = 1;
  std::optional<TestCluster> cluster_;
  Random random_{11};
  std::set<CodecId> codecs_;
  std::set<PrecisionRoute> precisions_;
  std::map<uint32_t, int64_t> sent_up_;  // bytes of frames, by node
};

TEST_F(LowBitRoundsTest, ATreeDecidesAsACountInOnePlaceDoes) {
  for (const LowBitFamily family : {LowBitFamily::kBinary, LowBitFamily::kTernary}) {
    for (const uint32_t workers : {1, 2, 5}) {
      Start({{Round(1), PrecisionRoute::kLowBit}}, workers, {.family = family});
      for (int round = 0; round < 3; ++round) {
        const Gradients gradients = RandomGradients(kNodes * workers);
        EXPECT_EQ(RunRound(gradients), Decided(gradients));
      }
      EXPECT_THAT(codecs_, ElementsAre(CodecId::kVoteCount, CodecId::kVoteDecision));
      EXPECT_THAT(precisions_, ElementsAre(PrecisionRoute::kLowBit));
      ExpectNothingRejected();
    }
  }
}

TEST_F(LowBitRoundsTest, CountsWidenUpTheTree) {
  Start({{Round(1), PrecisionRoute::kLowBit}}, 2);
  RunRound(RandomGradients(kNodes * 2));
  // 300 elements in three chunks of 13 bytes a plane, and 21 bytes of head and scales each.
  const auto bytes = [](int planes) { return 3 * (planes * 13 + 21); };
  EXPECT_EQ(sent_up_[4], bytes(2)) << "2 voters";
  EXPECT_EQ(sent_up_[3], bytes(3)) << "4 voters";
  EXPECT_EQ(sent_up_[2], bytes(3)) << "6 voters";
}

TEST_F(LowBitRoundsTest, RoutesChangeBetweenRounds) {
  Start({{Round(2), PrecisionRoute::kLowBit},
         {Round(3), PrecisionRoute::kFallback},
         {Round(4), PrecisionRoute::kLowBit}});
  const auto expect_floats = [this](PrecisionRoute route) {
    const Gradients gradients = RandomGradients(kNodes * 2);
    const std::vector<float> result = RunRound(gradients);
    const std::vector<float> mean = Mean(gradients);
    for (int i = 0; i < kElements; ++i) ASSERT_NEAR(result[i], mean[i], 1e-6);
    EXPECT_THAT(codecs_, ElementsAre(CodecId::kFp32));
    EXPECT_THAT(precisions_, ElementsAre(route));
  };
  expect_floats(PrecisionRoute::kPlain);
  Gradients gradients = RandomGradients(kNodes * 2);
  EXPECT_EQ(RunRound(gradients), Decided(gradients));
  expect_floats(PrecisionRoute::kFallback);
  gradients = RandomGradients(kNodes * 2);
  EXPECT_EQ(RunRound(gradients), Decided(gradients));
  ExpectNothingRejected();
}

TEST_F(LowBitRoundsTest, AFlushOfALowBitRoundIsLossless) {
  Start({{Round(1), PrecisionRoute::kLowBit}});
  RunRound(RandomGradients(kNodes * 2));
  const Gradients gradients = RandomGradients(kNodes * 2);
  const std::vector<float> result = RunRound(gradients, /*flush=*/true);
  const std::vector<float> mean = Mean(gradients);
  for (int i = 0; i < kElements; ++i) ASSERT_NEAR(result[i], mean[i], 1e-6);
  EXPECT_THAT(codecs_, ElementsAre(CodecId::kFp32));
  ExpectNothingRejected();
}

TEST_F(LowBitRoundsTest, ARoundKeepsItsRouteInAnotherEpoch) {
  Start({{Round(1), PrecisionRoute::kLowBit}});
  Gradients gradients = RandomGradients(kNodes * 2);
  const Gradients survivors(gradients.begin(), gradients.begin() + 6);
  cluster_->Kill(4);
  const std::vector<RequestId> requests = PushAll(survivors);
  EXPECT_FALSE(cluster_->IsDone(requests[0]));
  cluster_->scheduler().routes = {{Round(1), PrecisionRoute::kFallback}};
  cluster_->ChangeMembers({1, 2, 3}, ChainOf({3, 1, 2}));
  for (const RequestId request : requests) EXPECT_EQ(cluster_->Result(request), Decided(survivors));
  EXPECT_THAT(codecs_, ElementsAre(CodecId::kVoteCount, CodecId::kVoteDecision));
}

TEST_F(LowBitRoundsTest, VotesThatComeTwiceCountOnce) {
  Start({{Round(1), PrecisionRoute::kLowBit}});
  cluster_->filter = [](uint32_t, uint32_t, const Message& message) {
    return std::holds_alternative<ChunkMessage>(message) ? TestCluster::Fate::kTwice : TestCluster::Fate::kDeliver;
  };
  for (int round = 0; round < 3; ++round) {
    const Gradients gradients = RandomGradients(kNodes * 2);
    EXPECT_EQ(RunRound(gradients), Decided(gradients));
  }
  ExpectNothingRejected();
}

TEST_F(LowBitRoundsTest, TheSchedulerHearsHowTrainingGoesAtOnce) {
  Start({});
  cluster_->ReportHealth(2, 1, {.step = 7, .loss = 0.5, .progress = 0.25, .learning_rate_fraction = 0.75, .metric = 3});
  EXPECT_THAT(cluster_->scheduler().Said<HealthReport>(2),
              ElementsAre(HealthReport{WorkerId(1), {7, 0.5, 0.25, 0.75, 3}}));
}

// Means of votes, with a residual for each voter.
class MeanOfVotesTest : public LowBitRoundsTest {
 protected:
  void StartMeans(std::map<Round, KeyRoutes> routes, uint32_t workers = 2,
                  LowBitFamily family = LowBitFamily::kBinary) {
    pushed_.assign(kElements, 0);
    received_.assign(kElements, 0);
    Start(std::move(routes), workers, {.family = family, .aggregate = VoteAggregate::kMean});
  }

  // Books what these voters have pushed in a round and what has come of it.
  void Book(const Gradients& gradients, const std::vector<float>& result) {
    for (int i = 0; i < kElements; ++i) {
      for (const std::vector<float>& gradient : gradients) pushed_[i] += gradient[i];
      received_[i] += static_cast<double>(result[i]) * static_cast<double>(gradients.size());
    }
  }
  void Train(int rounds, bool flush = false) {
    for (int round = 0; round < rounds; ++round) {
      const Gradients gradients = RandomGradients(kNodes * workers_);
      Book(gradients, RunRound(gradients, flush));
    }
  }
  double Owed() const {
    double owed = 0;
    for (int i = 0; i < kElements; ++i) owed = std::max(owed, std::abs(pushed_[i] - received_[i]));
    return owed;
  }

  std::vector<double> pushed_;
  std::vector<double> received_;
};

TEST_F(MeanOfVotesTest, AFlushBringsAllThatVotesHaveLeftOut) {
  for (const LowBitFamily family : {LowBitFamily::kBinary, LowBitFamily::kTernary}) {
    StartMeans({{Round(1), PrecisionRoute::kLowBit}}, 2, family);
    Train(6);
    EXPECT_THAT(codecs_, ElementsAre(CodecId::kVoteCount, CodecId::kVoteDecision));
    EXPECT_GT(Owed(), 0.1);
    cluster_->Advance(absl::Seconds(2));
    EXPECT_EQ(cluster_->Memory(2, "residuals"), 2 * kElements * sizeof(float)) << "one for each voter";
    Train(1, /*flush=*/true);
    EXPECT_LT(Owed(), 1e-5);
    cluster_->Advance(absl::Seconds(2));
    EXPECT_EQ(cluster_->Memory(2, "residuals"), 0u);
    EXPECT_EQ(cluster_->Memory(2, "next residuals"), 0u);
    ExpectNothingRejected();
  }
}

TEST_F(MeanOfVotesTest, AResidualIsVotedOnWithTheNextGradient) {
  StartMeans({{Round(1), PrecisionRoute::kLowBit}}, 1);
  Gradients gradients(kNodes, std::vector<float>(kElements));
  for (std::vector<float>& gradient : gradients) gradient[0] = static_cast<float>(kElements);
  EXPECT_EQ(RunRound(gradients)[0], 1) << "the mean magnitude";
  for (std::vector<float>& gradient : gradients) gradient[0] = -1;
  EXPECT_GT(RunRound(gradients)[0], 0) << "299 is left of the first";
}

TEST_F(MeanOfVotesTest, RoundsOfFloatsBringItToo) {
  for (const PrecisionRoute route : {PrecisionRoute::kPlain, PrecisionRoute::kFallback}) {
    StartMeans({{Round(1), PrecisionRoute::kLowBit}, {Round(4), route}, {Round(5), PrecisionRoute::kLowBit}});
    Train(3);
    EXPECT_GT(Owed(), 0.1);
    Train(1);
    EXPECT_LT(Owed(), 1e-5);
    EXPECT_THAT(codecs_, ElementsAre(CodecId::kFp32));
    Train(2);
    Train(1, /*flush=*/true);
    EXPECT_LT(Owed(), 1e-5);
  }
}

TEST_F(MeanOfVotesTest, AnAttemptThatComesToNothingLeavesResidualsAsTheyWere) {
  for (const bool is_flush : {false, true}) {
    StartMeans({{Round(1), PrecisionRoute::kLowBit}}, 1);
    Train(3);
    const Gradients gradients = RandomGradients(kNodes);
    std::vector<RequestId> requests = PushAll({gradients.begin(), gradients.end() - 1}, is_flush);
    EXPECT_FALSE(cluster_->IsDone(requests[0]));
    cluster_->ChangeMembers({1, 2, 3, 4}, ChainOf({3, 1, 2, 4}));
    const RequestId last =
        is_flush ? cluster_->Flush(4, 0, kKey, gradients[3]) : cluster_->Push(4, 0, kKey, gradients[3]);
    Book(gradients, cluster_->Result(last));
    Train(1, /*flush=*/true);
    EXPECT_LT(Owed(), 1e-5);
  }
}

TEST_F(MeanOfVotesTest, VotesThatComeTwiceAreSettledOnce) {
  StartMeans({{Round(1), PrecisionRoute::kLowBit}});
  cluster_->filter = [](uint32_t, uint32_t, const Message& message) {
    return std::holds_alternative<ChunkMessage>(message) ? TestCluster::Fate::kTwice : TestCluster::Fate::kDeliver;
  };
  Train(3);
  Train(1, /*flush=*/true);
  EXPECT_LT(Owed(), 1e-5);
  ExpectNothingRejected();
}

// A key of three slices: 100 elements, 150 and 50.
class SlicedKeyTest : public MeanOfVotesTest {
 protected:
  static KeyRoutes Routes(PrecisionRoute first, PrecisionRoute second, PrecisionRoute third) {
    KeyRoutes routes(first);
    routes.Set(1, second);
    routes.Set(2, third);
    return routes;
  }
  void StartSliced(std::map<Round, KeyRoutes> routes, VoteRules rules = {}) {
    borders_ = {100, 250};
    pushed_.assign(kElements, 0);
    received_.assign(kElements, 0);
    Start(std::move(routes), 2, rules);
  }
  static Gradients Cut(const Gradients& gradients, int first, int end) {
    Gradients cut;
    for (const std::vector<float>& gradient : gradients)
      cut.emplace_back(gradient.begin() + first, gradient.begin() + end);
    return cut;
  }
  void ExpectDecided(const Gradients& gradients, const std::vector<float>& result, int first, int end) {
    const std::vector<float> decided = Decided(Cut(gradients, first, end));
    for (int i = first; i < end; ++i) ASSERT_EQ(result[i], decided[i - first]) << i;
  }
  void ExpectMean(const Gradients& gradients, const std::vector<float>& result, int first, int end) {
    const std::vector<float> mean = Mean(gradients);
    for (int i = first; i < end; ++i) ASSERT_NEAR(result[i], mean[i], 1e-6) << i;
  }
};

TEST_F(SlicedKeyTest, EachSliceHasItsRouteAndItsScale) {
  using enum PrecisionRoute;
  StartSliced({{Round(1), Routes(kLowBit, kPlain, kLowBit)}, {Round(2), Routes(kFallback, kLowBit, kPlain)}});
  Gradients gradients = RandomGradients(kNodes * 2);
  for (std::vector<float>& gradient : gradients) {
    for (int i = 250; i < kElements; ++i) gradient[i] *= 100;
  }
  std::vector<float> result = RunRound(gradients);
  ExpectDecided(gradients, result, 0, 100);
  ExpectMean(gradients, result, 100, 250);
  ExpectDecided(gradients, result, 250, kElements);
  EXPECT_THAT(precisions_, ElementsAre(kPlain, kLowBit));
  result = RunRound(gradients);
  ExpectMean(gradients, result, 0, 100);
  ExpectDecided(gradients, result, 100, 250);
  EXPECT_THAT(precisions_, ElementsAre(kPlain, kFallback, kLowBit));
  ExpectNothingRejected();
}

TEST_F(SlicedKeyTest, ResidualsOfVotesKeepTheirPlacesWhenRoutesChange) {
  using enum PrecisionRoute;
  StartSliced({{Round(1), Routes(kLowBit, kPlain, kLowBit)}, {Round(3), Routes(kFallback, kLowBit, kLowBit)}},
              {.aggregate = VoteAggregate::kMean});
  Train(4);
  EXPECT_GT(Owed(), 0.1);
  Train(1, /*flush=*/true);
  EXPECT_LT(Owed(), 1e-5);
  ExpectNothingRejected();
}

TEST_F(SlicedKeyTest, ASliceKeepsItsRouteInAnotherEpoch) {
  using enum PrecisionRoute;
  StartSliced({{Round(1), Routes(kLowBit, kPlain, kFallback)}});
  const Gradients gradients = RandomGradients(kNodes * 2);
  const Gradients survivors(gradients.begin(), gradients.begin() + 6);
  cluster_->Kill(4);
  const std::vector<RequestId> requests = PushAll(survivors);
  cluster_->scheduler().routes = {{Round(1), KeyRoutes()}};
  cluster_->ChangeMembers({1, 2, 3}, ChainOf({3, 1, 2}));
  const std::vector<float> result = cluster_->Result(requests[0]);
  ExpectDecided(survivors, result, 0, 100);
  ExpectMean(survivors, result, 100, kElements);
}

class ForgedRouteTest : public LowBitRoundsTest {
 protected:
  // Sends node 3 a contribution of node 4, as it would send it, but for what `forge` does to it.
  template <typename Forge>
  void Inject(Forge forge) {
    ChunkMessage message;
    message.id = {Epoch(1), Attempt(0), Round(1), kKey, ChunkIndex(2), Half::kReduce};
    message.policy = cluster_->scheduler().version;
    message.source_incarnation = TestIncarnation(4);
    message.route.path = {NodeId(4), NodeId(3)};
    message.weight = 2;
    message.elements = 100;
    message.precision = PrecisionRoute::kLowBit;
    message.frames = {{CodecId::kVoteCount, 0, 100, 5 + 16 + 26, 0}};
    std::vector<uint8_t> frame(5 + 16 + 26);
    frame[0] = 2;
    EncodedChunk chunk{message.frames, {Buffer::CopyOfBytes(frame)}, 2};
    forge(message, chunk);
    message.frames = chunk.frames;
    message.weight = chunk.weight;
    cluster_->Inject(3, cluster_->ConnectAs(3, 4), message, chunk.payload);
    cluster_->Advance(absl::Seconds(1));
  }
  uint64_t Violations() { return cluster_->scheduler().Said<NodeReport>(3).back().route_violations; }
  void ExpectNamed(const std::string& what) {
    EXPECT_THAT(cluster_->logs(), Contains(Field(&LogLine::text, HasSubstr(what))));
    EXPECT_EQ(cluster_->Rejected(3), 1u);
  }
  void OpenRound() {
    Start({{Round(1), PrecisionRoute::kLowBit}});
    cluster_->Push(3, 0, kKey, std::vector<float>(kElements));
    cluster_->Push(3, 1, kKey, std::vector<float>(kElements));
  }
};

TEST_F(ForgedRouteTest, WhatKeepsTheRulesIsTaken) {
  OpenRound();
  Inject([](ChunkMessage&, EncodedChunk&) {});
  EXPECT_EQ(cluster_->Rejected(3), 0u);
  EXPECT_EQ(Violations(), 0u);
}

TEST_F(ForgedRouteTest, AnotherRouteIsRefusedCountedAndNamed) {
  OpenRound();
  Inject([](ChunkMessage& message, EncodedChunk&) { message.precision = PrecisionRoute::kFallback; });
  ExpectNamed("route fallback came, expected low-bit");
  EXPECT_EQ(Violations(), 1u);
}

TEST_F(ForgedRouteTest, TheRouteOfAnotherSliceIsRefused) {
  borders_ = {200};  // chunk 2 is the second slice
  KeyRoutes routes(PrecisionRoute::kFallback);
  routes.Set(1, PrecisionRoute::kLowBit);
  Start({{Round(1), routes}});
  cluster_->Push(3, 0, kKey, std::vector<float>(kElements));
  cluster_->Push(3, 1, kKey, std::vector<float>(kElements));
  Inject([](ChunkMessage& message, EncodedChunk&) { message.precision = PrecisionRoute::kFallback; });
  ExpectNamed("route fallback came, expected low-bit");
  EXPECT_EQ(Violations(), 1u);
}

TEST_F(ForgedRouteTest, FloatsInALowBitRoundAreRefused) {
  OpenRound();
  Inject([](ChunkMessage&, EncodedChunk& chunk) {
    chunk = EncodeChunk({.codec = CodecId::kFp32}, Buffer::Allocate(100), 2).encoded();
  });
  ExpectNamed("other frames than votes came in a low-bit round");
  EXPECT_EQ(Violations(), 1u);
}

TEST_F(ForgedRouteTest, VotesInARoundOfFloatsAreRefused) {
  Start({});
  cluster_->Push(3, 0, kKey, std::vector<float>(kElements));
  cluster_->Push(3, 1, kKey, std::vector<float>(kElements));
  Inject([](ChunkMessage& message, EncodedChunk&) { message.precision = PrecisionRoute::kPlain; });
  ExpectNamed("votes came in a round of kind aggregation and route plain");
  EXPECT_EQ(Violations(), 1u);
}

TEST_F(ForgedRouteTest, MoreVotesThanTheWeightAreRefused) {
  OpenRound();
  Inject([](ChunkMessage&, EncodedChunk& chunk) { chunk.weight = 1; });
  ExpectNamed("counts of 2 votes came with weight 1");
}

}  // namespace
}  // namespace banyan
