#include "node/state/state_server.h"

#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "node/step_context.h"

namespace banyan {
namespace {

constexpr NodeId kHolder(2);
constexpr NodeId kJoiner(4);
constexpr TransferId kTransfer(9);
constexpr WorkerId kFirst(0);
constexpr WorkerId kSecond(1);

class StateServerTest : public testing::Test, private StateWorkers {
 protected:
  struct Completed {
    RequestId request;
    absl::Status status;
    friend bool operator==(const Completed&, const Completed&) = default;
  };

  static StateShape Shape() { return {{{"adam", 1000}, {"weights", 2000}}}; }
  static SourceRoute FromJoiner() { return {{kJoiner, NodeId(3), kHolder}, 1}; }
  static SourceRoute ToJoiner() { return {{kHolder, NodeId(3), kJoiner}, 0}; }
  static StateSought Sought(TransferId transfer = kTransfer) { return {Term(1), transfer, "n4 has joined"}; }
  static StateRequest Request(uint32_t first, uint32_t last) {
    return {FromJoiner(), kTransfer, Attempt(1), {{ChunkIndex(first), ChunkIndex(last)}}};
  }

  StepContext Step() { return {now_, actions_, rejections_}; }
  void Share(WorkerId worker) { EXPECT_TRUE(server_.Share(worker, Shape()).ok()); }
  void Seek(TransferId transfer = kTransfer) {
    StepContext step = Step();
    server_.OnSought(step, Sought(transfer));
  }
  void Reach(WorkerId worker, uint64_t boundary, uint64_t request) {
    StepContext step = Step();
    server_.OnBoundary(step, {RequestId(request), worker, boundary});
  }
  void Answer(WorkerId worker, std::optional<ChunkIndex> chunk, int64_t size_bytes) {
    StepContext step = Step();
    server_.OnRead(step, {worker, chunk, Buffer::Allocate(size_bytes, DataType::kByte)});
  }
  template <typename Kind>
  std::vector<Kind> TakeTold() {
    std::vector<Kind> kinds;
    for (const Message& message : std::exchange(mail_.to_scheduler, {})) {
      if (std::holds_alternative<Kind>(message)) kinds.push_back(std::get<Kind>(message));
    }
    return kinds;
  }
  template <typename Kind>
  std::vector<Kind> TakeSent() {
    std::vector<Kind> kinds;
    for (const auto& [message, payload] : std::exchange(mail_.to_nodes, {})) {
      if (std::holds_alternative<Kind>(message)) kinds.push_back(std::get<Kind>(message));
    }
    return kinds;
  }
  // What has been asked to be read; the workers may go on or not.
  std::vector<ReadState> TakeReads() {
    std::vector<ReadState> reads;
    for (; taken_ < actions_.size(); ++taken_) {
      const auto* ask = std::get_if<AskWorker>(&actions_[taken_]);
      if (ask == nullptr) continue;
      if (const auto* read = std::get_if<ReadState>(&ask->task)) reads.push_back(*read);
      if (const auto* hold = std::get_if<HoldWorkers>(&ask->task)) is_held_ = hold->is_held;
    }
    return reads;
  }
  // All calls that have ended so far.
  std::vector<Completed> CompletedCalls() const {
    std::vector<Completed> completed;
    for (const Action& action : actions_) {
      if (const auto* call = std::get_if<CompleteRequest>(&action)) completed.push_back({call->request, call->status});
    }
    return completed;
  }

  Timestamp now_;
  Actions actions_;
  size_t taken_ = 0;  // of these, by TakeReads
  RejectionLog rejections_;
  StateMail mail_;
  bool is_held_ = false;
  std::vector<WorkerId> beginners_;
  StateServer server_{&mail_, this};

 private:
  std::vector<KeysPushed> PushedBy(WorkerId) const override { return {{KeyId(1), KeyId(2), Round(7)}}; }
  bool HasState(WorkerId) const override { return true; }
  bool HasMissedNothing(WorkerId) const override { return false; }
  std::vector<WorkerId> Beginners() const override { return beginners_; }
  void Abstain(StepContext&, WorkerId) override {}
  void AbstainUntil(StepContext&, const std::vector<KeysPushed>&) override {}
  void AbstainFromAll(StepContext&) override {}
  bool HasResultsOf(const std::vector<KeysPushed>&) const override { return true; }
  void BeginAfter(StepContext&, WorkerId, const std::vector<KeysPushed>&) override {}
  void BeginAnywhere(StepContext&, WorkerId) override {}
};

TEST_F(StateServerTest, ABoundaryIsPassedWhileNobodySeeksAState) {
  Share(kFirst);
  Reach(kFirst, 5, 1);
  EXPECT_EQ(CompletedCalls(), (std::vector<Completed>{{RequestId(1), absl::OkStatus()}}));
  EXPECT_TRUE(mail_.to_scheduler.empty());
}

TEST_F(StateServerTest, WhoSharesNothingSaysSoAtOnce) {
  Seek();
  EXPECT_EQ(TakeTold<NoState>().size(), 1u);
  Share(kFirst);
  server_.NoteFetching(kFirst);
  EXPECT_EQ(TakeTold<NoState>().size(), 1u) << "its only worker fetches itself";
}

TEST_F(StateServerTest, ABeginnerThatMayYetShareItsStateIsWaitedFor) {
  beginners_ = {kFirst, kSecond};
  Seek();
  Share(kFirst);
  server_.Review();
  EXPECT_TRUE(mail_.to_scheduler.empty());
  Reach(kFirst, 1, 1);
  EXPECT_EQ(TakeTold<BoundaryHeld>().size(), 1u);
}

TEST_F(StateServerTest, BeginnersThatShareNothingHaveNoState) {
  beginners_ = {kFirst, kSecond};
  Seek();
  server_.ShareNothing(kFirst);
  EXPECT_TRUE(mail_.to_scheduler.empty()) << "of the other one nothing is known";
  beginners_ = {kFirst};
  server_.Review();
  server_.Review();
  EXPECT_EQ(TakeTold<NoState>().size(), 1u) << "it has pushed, or has gone";
}

TEST_F(StateServerTest, HoldsItsWorkersAtTheirNextBoundary) {
  Share(kFirst);
  Share(kSecond);
  Seek();
  EXPECT_TRUE(TakeReads().empty());
  EXPECT_TRUE(is_held_);
  EXPECT_TRUE(mail_.to_scheduler.empty());
  Reach(kSecond, 5, 1);
  EXPECT_EQ(TakeTold<BoundaryHeld>(), (std::vector<BoundaryHeld>{{kTransfer, 5, {{KeyId(1), KeyId(2), Round(7)}}}}));
  Reach(kFirst, 5, 2);
  EXPECT_TRUE(mail_.to_scheduler.empty());
  Seek();
  EXPECT_EQ(TakeTold<BoundaryHeld>().size(), 1u) << "the answer may have been lost";
  EXPECT_TRUE(CompletedCalls().empty());
  StepContext step = Step();
  server_.OnReleased(step, TransferId(8));
  EXPECT_TRUE(CompletedCalls().empty()) << "an earlier one";
  server_.OnReleased(step, kTransfer);
  EXPECT_EQ(CompletedCalls().size(), 2u);
  TakeReads();
  EXPECT_FALSE(is_held_);
}

TEST_F(StateServerTest, AnotherShapeIsRefused) {
  Share(kFirst);
  EXPECT_EQ(server_.Share(kSecond, {{{"adam", 4}}}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(StateServerTest, GivesTheManifestAndChunks) {
  Share(kFirst);
  Seek();
  Reach(kFirst, 5, 1);
  StepContext step = Step();
  server_.OnManifestWanted(step, {FromJoiner(), kTransfer});
  server_.OnManifestWanted(step, {FromJoiner(), kTransfer});
  ASSERT_EQ(TakeReads().size(), 1u);
  Answer(kFirst, std::nullopt, 24);
  const std::vector<StateManifest> manifests = TakeSent<StateManifest>();
  ASSERT_EQ(manifests.size(), 1u) << "a joiner waits for it once";
  EXPECT_EQ(manifests[0].route, ToJoiner());
  EXPECT_EQ(manifests[0].shape, Shape());
  EXPECT_EQ(manifests[0].hashes.size(), 3u);
  server_.OnRequest(step, Request(0, 2));
  ASSERT_EQ(TakeReads().size(), 3u);
  Answer(kFirst, ChunkIndex(0), 1024);
  Answer(kFirst, ChunkIndex(1), 1024);
  Answer(kFirst, ChunkIndex(2), 952);
  const std::vector<ChunkMessage> chunks = TakeSent<ChunkMessage>();
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[2].id, StateChunkId(kTransfer, Attempt(1), ChunkIndex(2)));
  EXPECT_EQ(chunks[2].route, ToJoiner());
  EXPECT_EQ(chunks[2].elements, 952);
  EXPECT_EQ(chunks[2].frames, (std::vector<FrameHeader>{{CodecId::kFp32, 0, 952, 952}}));
}

TEST_F(StateServerTest, TwoJoinersShareARead) {
  Share(kFirst);
  Seek();
  Reach(kFirst, 5, 1);
  StepContext step = Step();
  server_.OnRequest(step, Request(1, 1));
  StateRequest other = Request(1, 1);
  other.route.path[0] = NodeId(5);
  server_.OnRequest(step, other);
  for (int again = 0; again < 3; ++again) server_.OnRequest(step, other);
  EXPECT_EQ(TakeReads().size(), 1u);
  Answer(kFirst, ChunkIndex(1), 1024);
  EXPECT_EQ(TakeSent<ChunkMessage>().size(), 2u) << "a joiner waits for a chunk once";
}

TEST_F(StateServerTest, FewChunksAreReadAtATime) {
  Share(kFirst);
  EXPECT_TRUE(server_.Share(kFirst, {{{"weights", 100 * 1024}}}).ok());
  Seek();
  Reach(kFirst, 5, 1);
  StepContext step = Step();
  server_.OnRequest(step, Request(0, 99));
  EXPECT_EQ(TakeReads().size(), StateServer::kMostReads);
  Answer(kFirst, ChunkIndex(0), 1024);
  EXPECT_EQ(TakeReads().size(), 1u);
}

TEST_F(StateServerTest, RequestsWithoutSenseAreRejected) {
  Share(kFirst);
  Seek();
  Reach(kFirst, 5, 1);
  StepContext step = Step();
  server_.OnRequest(step, Request(2, 3));
  EXPECT_EQ(rejections_.total(), 1u);
  // Nor may more ask than there can be.
  for (uint32_t node = 0; node <= StateServer::kMostJoiners; ++node) {
    StateRequest request = Request(0, 0);
    request.route.path[0] = NodeId(100 + node);
    server_.OnRequest(step, request);
  }
  EXPECT_EQ(rejections_.total(), 2u);
}

TEST_F(StateServerTest, OtherTransfersAreRefused) {
  Share(kFirst);
  StepContext step = Step();
  server_.OnRequest(step, Request(0, 0));
  server_.OnManifestWanted(step, {FromJoiner(), kTransfer});
  Seek();
  server_.OnManifestWanted(step, {FromJoiner(), kTransfer});
  EXPECT_EQ(TakeSent<StateRefused>().size(), 3u) << "none is held yet";
}

TEST_F(StateServerTest, AnotherWorkerTakesThePlaceOfOneThatDies) {
  Share(kFirst);
  Share(kSecond);
  Seek();
  Reach(kFirst, 5, 1);
  Reach(kSecond, 5, 2);
  StepContext step = Step();
  server_.OnManifestWanted(step, {FromJoiner(), kTransfer});
  server_.OnRequest(step, Request(0, 1));
  EXPECT_EQ(TakeReads().size(), 3u);
  server_.OnWorkerGone(step, kFirst);
  for (const ReadState& read : TakeReads()) EXPECT_EQ(read.worker, kSecond);
  Answer(kSecond, std::nullopt, 24);
  Answer(kSecond, ChunkIndex(0), 1024);
  Answer(kSecond, ChunkIndex(1), 1024);
  EXPECT_EQ(TakeSent<StateManifest>().size(), 1u);
  EXPECT_TRUE(TakeTold<NoState>().empty());
}

TEST_F(StateServerTest, WithoutAWorkerJoinersAreRefusedOnceEach) {
  Share(kFirst);
  Seek();
  Reach(kFirst, 5, 1);
  StepContext step = Step();
  server_.OnManifestWanted(step, {FromJoiner(), kTransfer});
  server_.OnRequest(step, Request(0, 1));
  mail_.to_scheduler.clear();
  server_.OnLeave(step, kFirst);
  EXPECT_EQ(TakeSent<StateRefused>().size(), 1u);
  EXPECT_EQ(TakeTold<NoState>(), (std::vector<NoState>{{kTransfer, "worker 0 has left its boundary", true}}));
  ASSERT_EQ(CompletedCalls().size(), 1u);
  EXPECT_EQ(CompletedCalls()[0].status.code(), absl::StatusCode::kCancelled);
}

// The scheduler may not have heard that it was held.
TEST_F(StateServerTest, WhoWasLetGoInSilenceSaysThatItHadAState) {
  Share(kFirst);
  Seek();
  Reach(kFirst, 5, 1);
  StepContext step = Step();
  server_.OnSchedulerSilent(step);
  mail_.to_scheduler.clear();
  Seek();
  const std::vector<NoState> told = TakeTold<NoState>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].transfer, kTransfer);
  EXPECT_TRUE(told[0].had_state);
}

TEST_F(StateServerTest, WhatWasReadForAnEarlierTransferGoesNowhere) {
  Share(kFirst);
  Seek();
  Reach(kFirst, 5, 1);
  StepContext step = Step();
  server_.OnRequest(step, Request(0, 0));
  server_.OnReleased(step, kTransfer);
  Seek(kTransfer.Next());
  Reach(kFirst, 6, 2);
  StateRequest later = Request(0, 0);
  later.transfer = kTransfer.Next();
  server_.OnRequest(step, later);
  Answer(kFirst, ChunkIndex(0), 1024);
  EXPECT_TRUE(TakeSent<ChunkMessage>().empty()) << "the state of step 5";
  Answer(kFirst, ChunkIndex(0), 1024);
  EXPECT_EQ(TakeSent<ChunkMessage>().size(), 1u);
}

TEST_F(StateServerTest, ALaterTransferTakesWhoIsHeld) {
  Share(kFirst);
  Seek();
  Reach(kFirst, 5, 1);
  mail_.to_scheduler.clear();
  Seek(kTransfer.Next());
  EXPECT_EQ(TakeTold<BoundaryHeld>().at(0).transfer, kTransfer.Next());
  EXPECT_TRUE(CompletedCalls().empty());
  StepContext step = Step();
  server_.FailAll(step, absl::UnavailableError("the job has ended"));
  EXPECT_EQ(CompletedCalls(), (std::vector<Completed>{{RequestId(1), absl::UnavailableError("the job has ended")}}));
}

}  // namespace
}  // namespace banyan
