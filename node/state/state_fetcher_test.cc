#include "node/state/state_fetcher.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/digest.h"
#include "gtest/gtest.h"
#include "node/step_context.h"

namespace banyan {
namespace {

constexpr NodeId kJoiner(1);
constexpr WorkerId kWorker(0);
constexpr TransferId kTransfer(9);

// How one holder behaves in the toy network.
struct Holder {
  double bytes_per_second = 1e6;
  absl::Duration delay = absl::Milliseconds(10);  // each way
  absl::Duration dies_at = absl::InfiniteDuration();
  bool gives_manifest = true;
  bool gives_wrong_bytes = false;
  Timestamp free_at = Timestamp();
  int64_t sent_bytes = 0;
};

// A joiner, holders behind links of their own, and a worker that takes each chunk a millisecond later.
class StateFetcherTest : public testing::Test {
 protected:
  void Make(int64_t total_bytes) {
    shape_ = {{{"adam", total_bytes / 4}, {"weights", total_bytes - total_bytes / 4}}};
    layout_ = StateLayout(total_bytes);
    state_.resize(total_bytes);
    for (int64_t i = 0; i < total_bytes; ++i) state_[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
    memory_.assign(total_bytes, 0);
  }
  StateHolders HoldersNow() const {
    StateHolders message{Term(1), kTransfer, 1, 1200, {{KeyId(1), KeyId(2), Round(1200)}}, {}};
    for (const auto& [node, holder] : holders_) message.paths.push_back({kJoiner, node});
    return message;
  }
  void Begin() {
    StepContext step = Step();
    ASSERT_TRUE(fetcher_.AddWorker(step, kWorker, shape_).ok());
    fetcher_.OnHolders(step, HoldersNow());
  }
  // Runs until the fetch has ended, or for `limit`.
  void Run(absl::Duration limit = absl::Hours(1)) {
    const Timestamp end = now_ + limit;
    Carry();
    while (now_ < end && fetcher_.phase() != StateFetcher::Phase::kComplete &&
           fetcher_.phase() != StateFetcher::Phase::kFailed) {
      const Timestamp next = std::min(due_.empty() ? kNever : due_.begin()->first, fetcher_.NextDeadline());
      ASSERT_NE(next, kNever) << "nothing would ever happen again: " << fetcher_.Describe();
      now_ = std::max(now_, next);
      StepContext step = Step();
      if (!due_.empty() && due_.begin()->first <= now_) {
        auto happens = std::move(due_.begin()->second);
        due_.erase(due_.begin());
        happens(step);
      } else {
        fetcher_.OnDeadline(step);
      }
      Carry();
    }
  }
  void ExpectComplete() {
    ASSERT_EQ(fetcher_.phase(), StateFetcher::Phase::kComplete) << fetcher_.Describe();
    EXPECT_EQ(memory_, state_);
  }
  absl::Duration Elapsed() const { return now_ - Timestamp(); }
  StepContext Step() { return {now_, actions_, rejections_}; }

  std::map<NodeId, Holder> holders_;
  StateShape shape_;
  StateLayout layout_;
  std::vector<uint8_t> state_;
  std::vector<uint8_t> memory_;  // of the worker
  Timestamp now_;
  int lost_writes_ = 0;  // that the worker answers never
  int writes_ = 0;
  std::multimap<Timestamp, std::function<void(StepContext&)>> due_;
  RejectionLog rejections_;
  StateMail mail_;
  StateFetcher fetcher_{{}, &mail_};

 private:
  bool IsDead(const Holder& holder) const { return Elapsed() >= holder.dies_at; }

  void Carry() {
    EXPECT_TRUE(mail_.to_scheduler.empty()) << "the exchange tells it";
    for (const auto& [message, payload] : std::exchange(mail_.to_nodes, {})) TakeRequest(message);
  }
  void TakeRequest(const Message& message) {
    if (const auto* wanted = std::get_if<StateManifestWanted>(&message)) return AnswerManifest(wanted->route);
    const auto& request = std::get<StateRequest>(message);
    const NodeId node = request.route.destination();
    due_.emplace(now_ + holders_.at(node).delay, [this, node, request](StepContext&) { Serve(node, request); });
  }
  void AnswerManifest(const SourceRoute& route) {
    const NodeId node = route.destination();
    const Holder& holder = holders_.at(node);
    if (IsDead(holder) || !holder.gives_manifest) return;
    StateManifest manifest{{{node, kJoiner}, 0}, kTransfer, shape_, {}};
    for (ChunkIndex chunk(0); layout_.Has(chunk); chunk = chunk.Next()) {
      manifest.hashes.push_back(DigestBytes(BytesOf(chunk), 0));
    }
    due_.emplace(now_ + 2 * holder.delay, [this, manifest](StepContext& step) { fetcher_.OnManifest(step, manifest); });
  }
  absl::Span<const uint8_t> BytesOf(ChunkIndex chunk) const {
    return absl::MakeConstSpan(state_).subspan(layout_.OffsetOf(chunk), layout_.SizeOf(chunk));
  }
  void Serve(NodeId node, const StateRequest& request) {
    Holder& holder = holders_.at(node);
    for (const StateRequest::Run& run : request.chunks) {
      for (ChunkIndex chunk = run.first; chunk <= run.last; chunk = chunk.Next()) {
        const int64_t size_bytes = layout_.SizeOf(chunk);
        holder.free_at = std::max(holder.free_at, now_) + absl::Seconds(size_bytes / holder.bytes_per_second);
        if (holder.free_at - Timestamp() >= holder.dies_at) continue;
        holder.sent_bytes += size_bytes;
        ChunkMessage message;
        message.id = StateChunkId(request.transfer, request.attempt, chunk);
        message.route = {{node, kJoiner}, 0};
        Buffer bytes = Buffer::CopyOfBytes(BytesOf(chunk));
        if (holder.gives_wrong_bytes) static_cast<uint8_t*>(bytes.mutable_data())[0] ^= 1;
        due_.emplace(holder.free_at + holder.delay, [this, message, bytes](StepContext& step) {
          if (!fetcher_.OnChunk(step, message, {bytes})) return;
          for (const WorkerId worker : fetcher_.workers()) Write({worker, message.id.chunk, bytes});
        });
      }
    }
  }
  void Write(const WriteState& write) {
    ++writes_;
    if (lost_writes_ > 0 && lost_writes_-- > 0) return;
    due_.emplace(now_ + absl::Milliseconds(1), [this, write](StepContext& step) {
      std::memcpy(memory_.data() + layout_.OffsetOf(write.chunk), write.bytes.data(), write.bytes.size_bytes());
      fetcher_.OnWritten(step, {write.worker, write.chunk, true});
    });
  }

  Actions actions_;
};

TEST_F(StateFetcherTest, TakesAllFromOne) {
  Make(100'000);
  holders_[NodeId(2)] = {};
  Begin();
  EXPECT_EQ(fetcher_.phase(), StateFetcher::Phase::kNoManifest);
  Run();
  ExpectComplete();
  EXPECT_EQ(fetcher_.boundary(), 1200u);
  EXPECT_LT(Elapsed(), absl::Milliseconds(200));
}

TEST_F(StateFetcherTest, NothingToFetchIsCompleteAtOnce) {
  Make(0);
  shape_.parts.clear();
  holders_[NodeId(2)] = {};
  Begin();
  Run();
  ExpectComplete();
}

TEST_F(StateFetcherTest, FillsTheLinksOfHoldersOfDifferentSpeed) {
  Make(20'000'000);
  holders_[NodeId(2)] = {.bytes_per_second = 4e6, .delay = absl::Milliseconds(5)};
  holders_[NodeId(3)] = {.bytes_per_second = 1e6, .delay = absl::Milliseconds(40)};
  holders_[NodeId(4)] = {.bytes_per_second = 5e4, .delay = absl::Milliseconds(100)};
  Begin();
  Run();
  ExpectComplete();
  const double ideal_seconds = 20e6 / (4e6 + 1e6 + 5e4);
  EXPECT_LT(absl::ToDoubleSeconds(Elapsed()), ideal_seconds / 0.8);
  int64_t sent = 0;
  for (const auto& [node, holder] : holders_) sent += holder.sent_bytes;
  EXPECT_LT(sent, 20'000'000 * 1.1) << "chunks that came twice";
}

TEST_F(StateFetcherTest, OnlyWhatADeadHolderOwesIsAskedAgain) {
  Make(20'000'000);
  holders_[NodeId(2)] = {.bytes_per_second = 2e6};
  holders_[NodeId(3)] = {.bytes_per_second = 2e6, .dies_at = absl::Milliseconds(2500)};
  Begin();
  due_.emplace(Timestamp() + absl::Milliseconds(4000), [this](StepContext& step) {
    holders_.erase(NodeId(3));
    fetcher_.OnHolders(step, HoldersNow());
  });
  Run();
  ExpectComplete();
  // 2.5 s from both, the rest from one; no more is lost than what was under way.
  EXPECT_LT(Elapsed(), absl::Seconds(2.5 + 10.0 / 2 + 1.0));
  EXPECT_LT(holders_.at(NodeId(2)).sent_bytes, 16'000'000);
}

TEST_F(StateFetcherTest, ASilentHolderDoesNotHoldUpTheEnd) {
  Make(2'000'000);
  holders_[NodeId(2)] = {.bytes_per_second = 2e6};
  holders_[NodeId(3)] = {.bytes_per_second = 2e6, .dies_at = absl::Milliseconds(300)};
  Begin();
  Run();
  ExpectComplete();
  EXPECT_LT(Elapsed(), absl::Seconds(2)) << "the scheduler has not said yet that it has died";
}

TEST_F(StateFetcherTest, WrongBytesAreAskedOfAnother) {
  Make(1'000'000);
  holders_[NodeId(2)] = {};
  holders_[NodeId(3)] = {.gives_wrong_bytes = true};
  Begin();
  Run();
  ExpectComplete();
  EXPECT_GE(fetcher_.wrong_chunks(), static_cast<uint64_t>(StateFetcher::kMostWrong));
  EXPECT_LT(holders_.at(NodeId(3)).sent_bytes, 100'000) << "it is asked no more";
}

TEST_F(StateFetcherTest, WrongBytesFromAllAreAnErrorThatNamesThePart) {
  Make(1'000'000);
  holders_[NodeId(2)] = {.gives_wrong_bytes = true};
  holders_[NodeId(3)] = {.gives_wrong_bytes = true};
  Begin();
  Run();
  ASSERT_EQ(fetcher_.phase(), StateFetcher::Phase::kFailed);
  EXPECT_EQ(fetcher_.failure().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(fetcher_.failure().message().find("part 'adam'"), absl::string_view::npos) << fetcher_.failure();
}

TEST_F(StateFetcherTest, WhoHoldsNoStateDescribesNone) {
  Make(100'000);
  holders_[NodeId(2)] = {};
  Begin();
  StepContext step = Step();
  fetcher_.OnManifest(step, {{{NodeId(7), kJoiner}, 0}, kTransfer, shape_, std::vector<uint64_t>(layout_.chunks())});
  EXPECT_EQ(rejections_.total(), 1u);
  Run();
  ExpectComplete();
}

TEST_F(StateFetcherTest, APartThatDiffersIsAnErrorThatNamesIt) {
  Make(100'000);
  holders_[NodeId(2)] = {};
  const auto failure = [&](StateShape came) {
    StepContext step = Step();
    fetcher_.Clear();
    EXPECT_TRUE(fetcher_.AddWorker(step, kWorker, shape_).ok());
    fetcher_.OnHolders(step, HoldersNow());
    fetcher_.OnManifest(step, {{{NodeId(2), kJoiner}, 0}, kTransfer, std::move(came), {}});
    EXPECT_EQ(fetcher_.phase(), StateFetcher::Phase::kFailed);
    return std::string(fetcher_.failure().message());
  };
  EXPECT_EQ(failure({{{"adam", 25'000}, {"weights", 75'004}}}),
            "the state of node 2 is another one: part 'weights' has 75004 bytes there and 75000 here");
  EXPECT_EQ(failure({{{"adam", 25'000}}}), "the state of node 2 is another one: it has no part 'weights'");
  EXPECT_EQ(failure({{{"adam", 25'000}, {"bias", 8}, {"weights", 75'000}}}),
            "the state of node 2 is another one: it has a part 'bias'");
  EXPECT_EQ(failure({{{"weights", 75'000}}}), "the state of node 2 is another one: it has no part 'adam'");
}

TEST_F(StateFetcherTest, AHolderThatSaysNothingOfTheStateIsPassedOver) {
  Make(100'000);
  holders_[NodeId(2)] = {.gives_manifest = false};
  holders_[NodeId(3)] = {};
  Begin();
  Run();
  ExpectComplete();
}

TEST_F(StateFetcherTest, TheLastOneIsAskedHoweverManyRefuse) {
  Make(100'000);
  for (uint32_t node = 2; node <= 7; ++node) holders_[NodeId(node)].gives_manifest = node == 7;
  Begin();
  for (uint32_t node = 2; node < 7; ++node) {
    StepContext step = Step();
    fetcher_.OnRefused(step, {{{NodeId(node), kJoiner}, 0}, kTransfer, "it has none itself"});
  }
  Run();
  ExpectComplete();
}

TEST_F(StateFetcherTest, AHolderThatRefusesIsPassedOver) {
  Make(100'000);
  holders_[NodeId(2)] = {.gives_manifest = false};
  holders_[NodeId(3)] = {};
  Begin();
  StepContext step = Step();
  fetcher_.OnRefused(step, {{{NodeId(2), kJoiner}, 0}, kTransfer, "its worker has gone"});
  Run();
  ExpectComplete();
  EXPECT_LT(Elapsed(), absl::Seconds(1));
}

TEST_F(StateFetcherTest, EndsWhenNothingComesAnyMore) {
  Make(20'000'000);
  holders_[NodeId(2)] = {.dies_at = absl::Seconds(3)};
  Begin();
  Run();
  ASSERT_EQ(fetcher_.phase(), StateFetcher::Phase::kFailed);
  EXPECT_EQ(fetcher_.failure().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(fetcher_.failure().message().find("from nodes 2"), absl::string_view::npos) << fetcher_.failure();
  EXPECT_LT(Elapsed(), absl::Seconds(9));
}

TEST_F(StateFetcherTest, EndsWhenItsWorkerTakesNothing) {
  Make(100'000);
  holders_[NodeId(2)] = {};
  lost_writes_ = 1000;
  Begin();
  Run();
  ASSERT_EQ(fetcher_.phase(), StateFetcher::Phase::kFailed);
}

TEST_F(StateFetcherTest, AnEpochLosesOnlyWhatIsUnderWay) {
  Make(4'000'000);
  holders_[NodeId(2)] = {.bytes_per_second = 1e6};
  Begin();
  Run(absl::Seconds(2));
  fetcher_.Pause();
  due_.clear();  // also what is being written, which an epoch leaves alone; written anew it is right again
  now_ = now_ + absl::Seconds(1);
  StepContext step = Step();
  fetcher_.Resume(step);
  const int64_t sent_before = holders_.at(NodeId(2)).sent_bytes;
  EXPECT_GT(sent_before, 1'500'000);
  holders_.at(NodeId(2)).free_at = now_;
  Run(absl::Seconds(4));
  EXPECT_LT(holders_.at(NodeId(2)).sent_bytes, 4'700'000);
}

TEST_F(StateFetcherTest, ALaterTransferBeginsAnew) {
  Make(2'000'000);
  holders_[NodeId(2)] = {.bytes_per_second = 1e6};
  Begin();
  Run(absl::Seconds(1));
  StepContext step = Step();
  StateHolders later = HoldersNow();
  later.transfer = kTransfer.Next();
  later.step = 1300;
  fetcher_.OnHolders(step, later);
  EXPECT_EQ(fetcher_.phase(), StateFetcher::Phase::kNoManifest);
  EXPECT_EQ(fetcher_.boundary(), 1300u);
  StateHolders stale = HoldersNow();
  fetcher_.OnHolders(step, stale);
  EXPECT_EQ(fetcher_.transfer(), kTransfer.Next());
}

TEST_F(StateFetcherTest, AWorkerThatComesLaterGetsAllOfIt) {
  Make(2'000'000);
  holders_[NodeId(2)] = {.bytes_per_second = 1e6};
  Begin();
  Run(absl::Seconds(1));
  StepContext step = Step();
  StateShape other = shape_;
  other.parts[0].size_bytes += 1;
  EXPECT_EQ(fetcher_.AddWorker(step, WorkerId(1), other).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(fetcher_.AddWorker(step, WorkerId(1), shape_).ok());
  Run();
  ExpectComplete();
  EXPECT_GE(writes_, static_cast<int>(2 * layout_.chunks()));
  fetcher_.RemoveWorker(kWorker);
  EXPECT_EQ(fetcher_.phase(), StateFetcher::Phase::kComplete);
  fetcher_.OnWorkerGone(WorkerId(1));
  EXPECT_EQ(fetcher_.phase(), StateFetcher::Phase::kIdle);
}

TEST_F(StateFetcherTest, AHolderBehindAnotherOneIsAReserve) {
  Make(1'000'000);
  holders_[NodeId(2)] = {};
  holders_[NodeId(3)] = {};
  StepContext step = Step();
  ASSERT_TRUE(fetcher_.AddWorker(step, kWorker, shape_).ok());
  StateHolders holders = HoldersNow();
  holders.paths[1] = {kJoiner, NodeId(2), NodeId(3)};
  fetcher_.OnHolders(step, holders);
  Run(absl::Milliseconds(300));
  EXPECT_EQ(holders_.at(NodeId(3)).sent_bytes, 0);
  holders.paths.erase(holders.paths.begin());
  StepContext later = Step();
  fetcher_.OnHolders(later, holders);
  Run();
  ExpectComplete();
  EXPECT_GT(holders_.at(NodeId(3)).sent_bytes, 500'000);
}

}  // namespace
}  // namespace banyan
