#include "runtime/session/session_group.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "proto/session_messages.h"

namespace banyan {
namespace {

// A group of three tensors, one of them empty, in a session that answers as the test says.
class SessionGroupTest : public testing::Test {
 protected:
  struct Sent {
    std::shared_ptr<Operation> whole;
    TensorCallKind kind = TensorCallKind::kPull;
    std::vector<float> gradient;
    int32_t priority = 0;
  };

  SessionGroupTest() {
    keys_->named.try_emplace("g", 3);
    key().Opened(TensorId(1), segment_);
    const auto init = key().Take(TensorCallKind::kInit, 1);
    key().Answered(TensorCallKind::kInit, *init, true, 0);
    key().GradientFreed(init->gradient);
  }

  SessionKey& key() { return keys_->named.at("g"); }

  SlotLease LendGradient() {
    std::lock_guard<std::mutex> lock(keys_->mutex);
    return SlotLease(keys_, "g", segment_, SlotLease::Row::kGradients, key().LendGradient().value());
  }

  void Start(std::shared_ptr<Operation> whole, TensorCallKind kind, SlotLease* gradient, int32_t priority) {
    Sent sent{std::move(whole), kind, {}, priority};
    if (gradient != nullptr) {
      const absl::Span<float> values = gradient->values().floats();
      sent.gradient.assign(values.begin(), values.end());
    }
    sent_.push_back(std::move(sent));
  }

  // Answers the oldest call with a result.
  void Answer(const std::vector<float>& result, uint64_t round) {
    const Sent sent = sent_.front();
    sent_.erase(sent_.begin());
    if (HasResult(sent.kind)) {
      std::copy(result.begin(), result.end(), segment_->result(0).floats().begin());
      {
        std::lock_guard<std::mutex> lock(keys_->mutex);
        key().LendResult(0, SessionKey::Holder::kSession);
      }
      sent.whole->KeepShared([this] { return SlotLease(keys_, "g", segment_, SlotLease::Row::kResults, 0); });
    }
    sent.whole->SetRound(round);
    sent.whole->Finish(absl::OkStatus());
  }

  // The operation on a part that the test waits for.
  std::shared_ptr<Operation> Begin(TensorCallKind kind, size_t part, ConstTensorView gradient, TensorView result = {},
                                   int32_t priority = 0) {
    auto operation = std::make_shared<Operation>("", result);
    SessionGroup::Call call{.kind = kind, .first = part, .priority = priority};
    if (HasGradient(kind)) call.gradients = {&gradient, 1};
    if (HasResult(kind)) call.results = {&result, 1};
    group_.Start(operation, call);
    return operation;
  }
  std::shared_ptr<Operation> Push(size_t part, std::vector<float> gradient) {
    return Begin(TensorCallKind::kPush, part, gradient);
  }
  static std::string ErrorOf(Operation& operation) {
    const absl::Status status = operation.Wait(absl::ZeroDuration());
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    return std::string(status.message());
  }

  const std::shared_ptr<TensorSegment> segment_ = TensorSegment::Create({3, 2, 1}).value();
  const std::shared_ptr<SessionKeys> keys_ = std::make_shared<SessionKeys>();
  std::vector<Sent> sent_;
  const SessionGroup::Session session_{
      .lend = [this](const std::string&) -> absl::StatusOr<SessionGroup::Room> {
        return SessionGroup::Room{LendGradient(), 5};
      },
      .start = [this](std::shared_ptr<Operation> whole, const std::string&, TensorCallKind kind, SlotLease* gradient,
                      int32_t priority) { Start(std::move(whole), kind, gradient, priority); }};
  SessionGroup group_{"g", {{{"a", 1}, {"none", 0}, {"b", 2}}}, &session_};
};

TEST_F(SessionGroupTest, GoesOutWhenAllPartsAreIn) {
  std::vector<float> result(2);
  const auto a = Begin(TensorCallKind::kPush, 0, {7}, {}, -4);
  EXPECT_TRUE(group_.IsFilling());
  const auto b = Begin(TensorCallKind::kPushPull, 2, {8, 9}, absl::MakeSpan(result), -2);
  EXPECT_TRUE(sent_.empty());
  const auto none = Push(1, {});
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(sent_[0].kind, TensorCallKind::kPushPull);
  EXPECT_EQ(sent_[0].gradient, std::vector<float>({7, 8, 9}));
  EXPECT_EQ(sent_[0].priority, 0);
  EXPECT_FALSE(group_.IsFilling());
  EXPECT_FALSE(a->done());
  Answer({17, 18, 19}, 6);
  for (const auto& operation : {a, none, b}) {
    EXPECT_TRUE(operation->Wait(absl::ZeroDuration()).ok());
    EXPECT_EQ(operation->round(), 6u);
  }
  EXPECT_EQ(result, std::vector<float>({18, 19}));
}

TEST_F(SessionGroupTest, SaysWhichPartsAreMissing) {
  EXPECT_EQ(group_.DescribeMissing(5), "");
  Push(0, {7});
  EXPECT_EQ(group_.DescribeMissing(5), "group g waits for this worker's own push of none, b");
  EXPECT_EQ(group_.DescribeMissing(4), "") << "the round before waits for others";
  EXPECT_EQ(ErrorOf(*Push(0, {7})), "a is in this round of group g already, which still waits for none, b");
  float value = 0;
  const absl::Span<float> results(&value, 1);
  EXPECT_TRUE(absl::StrContains(ErrorOf(*Begin(TensorCallKind::kFlush, 1, {}, results.subspan(0, 0))),
                                "begun by a Push, and a Flush of another tensor came"));
  EXPECT_TRUE(absl::StrContains(group_.BeginWhole(TensorCallKind::kPush).message(), "still waits for none, b"));
  EXPECT_TRUE(group_.BeginWhole(TensorCallKind::kPull).ok());
}

TEST_F(SessionGroupTest, NamesSomeOfManyParts) {
  TensorLayout layout;
  for (int i = 0; i < 100; ++i) layout.parts.push_back({"k" + std::to_string(i), 0});
  layout.parts[0].elements = 3;
  SessionGroup group("g", layout, &session_);
  const std::vector<float> gradient(3);
  const ConstTensorView view = gradient;
  group.Start(std::make_shared<Operation>("", TensorView()),
              {.kind = TensorCallKind::kPush, .first = 0, .gradients = {&view, 1}});
  EXPECT_EQ(group.DescribeMissing(5), "group g waits for this worker's own push of k1, k2, k3 and 96 others");
}

TEST_F(SessionGroupTest, RefusesOtherShapes) {
  const auto push = Push(2, {1});
  EXPECT_EQ(push->Wait(absl::ZeroDuration()),
            absl::InvalidArgumentError("expected a gradient of 2 elements for b, as InitGroup had, got 1"));
  const std::vector<int32_t> integers(2);
  EXPECT_EQ(Begin(TensorCallKind::kPush, 2, integers)->Wait(absl::ZeroDuration()),
            absl::InvalidArgumentError("expected a gradient of float32 for b, as InitGroup had, got int32"));
  EXPECT_FALSE(group_.IsFilling());
}

TEST_F(SessionGroupTest, OnePullServesAllParts) {
  std::vector<float> a(1);
  std::vector<float> b(2);
  std::vector<float> again(1);
  const auto first = Begin(TensorCallKind::kPull, 0, {}, absl::MakeSpan(a));
  const auto second = Begin(TensorCallKind::kPull, 2, {}, absl::MakeSpan(b));
  ASSERT_EQ(sent_.size(), 1u);
  Answer({1, 2, 3}, 5);
  EXPECT_TRUE(first->done() && second->done());
  EXPECT_EQ(a, std::vector<float>({1}));
  EXPECT_EQ(b, std::vector<float>({2, 3}));
  // One that comes later finds it there, and the last part lets it go.
  const auto none = Begin(TensorCallKind::kPull, 1, {}, {});
  EXPECT_TRUE(none->done());
  EXPECT_EQ(none->round(), 5u);
  EXPECT_TRUE(sent_.empty());
  const auto anew = Begin(TensorCallKind::kPull, 0, {}, absl::MakeSpan(again));
  ASSERT_EQ(sent_.size(), 1u);
  Answer({4, 5, 6}, 5);
  EXPECT_EQ(again, std::vector<float>({4}));
}

TEST_F(SessionGroupTest, APullOfAPushedPartIsOfTheRoundThatFills) {
  std::vector<float> a(1);
  std::vector<float> b(2);
  Push(0, {7});
  const auto pull = Begin(TensorCallKind::kPull, 0, {}, absl::MakeSpan(a));
  EXPECT_TRUE(sent_.empty());
  // The part that has not been pushed has the round before.
  const auto former = Begin(TensorCallKind::kPull, 2, {}, absl::MakeSpan(b));
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(sent_[0].kind, TensorCallKind::kPull);
  Answer({1, 2, 3}, 4);
  EXPECT_EQ(b, std::vector<float>({2, 3}));
  Push(1, {});
  Push(2, {8, 9});
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(sent_[0].kind, TensorCallKind::kPushPull);
  EXPECT_FALSE(pull->done());
  Answer({4, 5, 6}, 5);
  EXPECT_TRUE(pull->done());
  EXPECT_EQ(a, std::vector<float>({4}));
}

TEST_F(SessionGroupTest, AResultThatNobodyPullsToTheEndMakesRoom) {
  std::vector<float> a(1);
  const auto pull = Begin(TensorCallKind::kPull, 0, {}, absl::MakeSpan(a));
  Answer({1, 2, 3}, 4);
  Push(0, {7});
  Push(1, {});
  Push(2, {8, 9});
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(sent_[0].kind, TensorCallKind::kPush);
  std::lock_guard<std::mutex> lock(keys_->mutex);
  key().LendResult(0, SessionKey::Holder::kSession);  // it is free
}

TEST_F(SessionGroupTest, AFailedPullIsTriedAgain) {
  std::vector<float> a(1);
  const auto pull = Begin(TensorCallKind::kPull, 0, {}, absl::MakeSpan(a));
  sent_[0].whole->Finish(absl::UnavailableError("gone"));
  EXPECT_EQ(pull->Wait(absl::ZeroDuration()), absl::UnavailableError("gone"));
  sent_.clear();
  Begin(TensorCallKind::kPull, 0, {}, absl::MakeSpan(a));
  ASSERT_EQ(sent_.size(), 1u);
  Answer({1, 2, 3}, 4);
}

TEST_F(SessionGroupTest, TheEndTakesAHalfFullRoundAlong) {
  const auto push = Push(0, {7});
  group_.End(absl::CancelledError("closed"));
  for (const auto& operation : {push, Push(2, {8, 9}), Begin(TensorCallKind::kPull, 1, {}, {})}) {
    EXPECT_EQ(operation->Wait(absl::ZeroDuration()), absl::CancelledError("closed"));
  }
  EXPECT_TRUE(sent_.empty());
  // Its room is free again.
  const SlotLease one = LendGradient();
  const SlotLease other = LendGradient();
  EXPECT_NE(one.slot(), other.slot());
}

TEST_F(SessionGroupTest, AllAtOnceIsOneCall) {
  const std::vector<float> gradient = {1, 2, 3};
  std::vector<float> result(3);
  const std::vector<ConstTensorView> gradients = {{gradient.data(), 1}, {}, {gradient.data() + 1, 2}};
  const std::vector<TensorView> results = {absl::MakeSpan(result).subspan(2), {}, absl::MakeSpan(result).subspan(0, 2)};
  const auto all = std::make_shared<Operation>("", absl::MakeSpan(result));
  group_.Start(all, {TensorCallKind::kPushPull, 0, 3, gradients, results, 9});
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(sent_[0].gradient, gradient);
  EXPECT_EQ(sent_[0].priority, 9);
  Answer({4, 5, 6}, 5);
  EXPECT_TRUE(all->done());
  EXPECT_EQ(result, std::vector<float>({5, 6, 4}));
  Push(0, {1});
  const auto refused = std::make_shared<Operation>("", TensorView());
  group_.Start(refused, {TensorCallKind::kPush, 0, 3, gradients, {}, 0});
  EXPECT_TRUE(absl::StrContains(ErrorOf(*refused), "a is in this round of group g already"));
  const auto mixed = std::make_shared<Operation>("", absl::MakeSpan(result));
  group_.Start(mixed, {TensorCallKind::kPull, 0, 3, {}, results, 0});
  EXPECT_TRUE(absl::StrContains(ErrorOf(*mixed), "group g still waits for none, b"));
}

TEST_F(SessionGroupTest, ThreadsFillARoundTogether) {
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<Operation>> operations(3);
  const std::vector<std::vector<float>> gradients = {{1}, {}, {2, 3}};
  for (size_t part = 0; part < 3; ++part) {
    threads.emplace_back([&, part] { operations[part] = Push(part, gradients[part]); });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(sent_[0].gradient, std::vector<float>({1, 2, 3}));
  Answer({}, 5);
  for (const auto& operation : operations) EXPECT_TRUE(operation->done());
}

}  // namespace
}  // namespace banyan
