#include "runtime/session/slot_lease.h"

#include <memory>
#include <optional>
#include <utility>

#include "gtest/gtest.h"

namespace banyan {
namespace {

class SlotLeaseTest : public ::testing::Test {
 protected:
  SlotLeaseTest() {
    SessionKey& key = keys_->named.try_emplace("w", 4).first->second;
    key.Opened(TensorId(1), segment_);
    const auto init = key.Take(TensorCallKind::kInit, 1);
    key.Answered(TensorCallKind::kInit, *init, true, 0);
    key.GradientFreed(init->gradient);
  }

  SessionKey& key() { return keys_->named.at("w"); }
  SlotLease Lend() { return SlotLease(keys_, "w", segment_, SlotLease::Row::kGradients, key().LendGradient().value()); }

  std::shared_ptr<SessionKeys> keys_ = std::make_shared<SessionKeys>();
  const std::shared_ptr<TensorSegment> segment_ = TensorSegment::Create({4, 1, 1}).value();
};

TEST_F(SlotLeaseTest, GivesItsSlotBackOnce) {
  {
    SlotLease lease = Lend();
    EXPECT_EQ(lease.values().data(), segment_->gradient(0).data());
    EXPECT_EQ(lease.values().elements(), 4);
    SlotLease moved = std::move(lease);
    EXPECT_TRUE(lease.values().empty());  // NOLINT(bugprone-use-after-move): of nothing now
    EXPECT_TRUE(key().AllGradientsLent());
  }
  EXPECT_FALSE(key().AllGradientsLent());
  SlotLease again = Lend();
  again = SlotLease();
  EXPECT_FALSE(key().AllGradientsLent());
}

TEST_F(SlotLeaseTest, WhatWasPassedOnIsNotGivenBack) {
  {
    SlotLease lease = Lend();
    EXPECT_TRUE(lease.IsOf(*keys_, "w"));
    EXPECT_FALSE(lease.IsOf(*keys_, "v"));
    EXPECT_FALSE(lease.IsOf(SessionKeys(), "w"));
    lease.PassOn();
    EXPECT_FALSE(lease.IsOf(*keys_, "w"));
    EXPECT_TRUE(lease.values().empty());
  }
  EXPECT_TRUE(key().AllGradientsLent());
}

TEST_F(SlotLeaseTest, AResultStaysReadableWhenTheSessionHasGone) {
  const auto pull = key().Take(TensorCallKind::kPull, 1);
  key().Answered(TensorCallKind::kPull, *pull, true, 0);
  key().LendResult(pull->result, SessionKey::Holder::kWorker);
  SlotLease lease(keys_, "w", segment_, SlotLease::Row::kResults, pull->result);
  segment_->result(0).floats()[2] = 7;
  keys_.reset();
  EXPECT_EQ(lease.values().floats()[2], 7);
}

}  // namespace
}  // namespace banyan
