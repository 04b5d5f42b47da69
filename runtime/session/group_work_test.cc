#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/session/session_group.h"

namespace banyan {
namespace {

// A group of four elements whose result is {1, 2, 3, 4}.
class GroupWorkTest : public testing::Test {
 protected:
  GroupWorkTest() {
    keys_->named.try_emplace("g", 4);
    SessionKey& key = keys_->named.at("g");
    key.Opened(TensorId(1), segment_);
    key.LendResult(0, SessionKey::Holder::kSession);
    for (int i = 0; i < 4; ++i) segment_->result(0).floats()[i] = static_cast<float>(i + 1);
  }

  std::shared_ptr<Operation> Whole(const GroupWork& work) {
    auto whole = MakeWholeOperation([work](Operation& done, const absl::Status& status) {
      work.Finish(done, status);
      done.Abandon();
    });
    whole->KeepShared([this] { return SlotLease(keys_, "g", segment_, SlotLease::Row::kResults, 0); });
    return whole;
  }

  const std::shared_ptr<TensorSegment> segment_ = TensorSegment::Create({4, 1, 1}).value();
  const std::shared_ptr<SessionKeys> keys_ = std::make_shared<SessionKeys>();
};

TEST_F(GroupWorkTest, EachTargetGetsItsPart) {
  std::vector<float> first(1);
  std::vector<float> last(2);
  const auto operation = std::make_shared<Operation>("k", absl::MakeSpan(first));
  const std::shared_ptr<Operation> whole =
      Whole({{operation}, {{0, absl::MakeSpan(first)}, {2, absl::MakeSpan(last)}, {1, {}}}});
  whole->SetRound(7);
  whole->Finish(absl::OkStatus());
  EXPECT_TRUE(operation->Wait(absl::ZeroDuration()).ok());
  EXPECT_EQ(operation->round(), 7u);
  EXPECT_EQ(first, std::vector<float>({1}));
  EXPECT_EQ(last, std::vector<float>({3, 4}));
  keys_->named.at("g").LendResult(0, SessionKey::Holder::kSession);  // it is free again
}

TEST_F(GroupWorkTest, MemoryThatWasGivenUpIsNotWritten) {
  std::vector<float> kept(1);
  std::vector<float> given_up(1);
  const auto one = std::make_shared<Operation>("k", absl::MakeSpan(kept));
  const auto other = std::make_shared<Operation>("l", absl::MakeSpan(given_up));
  const std::shared_ptr<Operation> whole =
      Whole({{one, other}, {{0, absl::MakeSpan(kept), 0}, {1, absl::MakeSpan(given_up), 1}}});
  other->Abandon();
  whole->Finish(absl::OkStatus());
  EXPECT_EQ(kept, std::vector<float>({1}));
  EXPECT_EQ(given_up, std::vector<float>({0}));
}

TEST_F(GroupWorkTest, AnErrorIsThatOfEachPart) {
  std::vector<float> values(2, 9);
  const auto one = std::make_shared<Operation>("key one", absl::MakeSpan(values));
  const auto other = std::make_shared<Operation>("key other", absl::Span<float>());
  Whole({{one, other}, {{0, absl::MakeSpan(values)}}})->Finish(absl::UnavailableError("node n3 was lost"));
  EXPECT_EQ(one->Wait(absl::ZeroDuration()), absl::UnavailableError("key one: node n3 was lost"));
  EXPECT_EQ(other->Wait(absl::ZeroDuration()), absl::UnavailableError("key other: node n3 was lost"));
  EXPECT_EQ(values, std::vector<float>(2, 9));
}

}  // namespace
}  // namespace banyan
