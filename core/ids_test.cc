#include "core/ids.h"

#include <map>
#include <sstream>
#include <type_traits>

#include "gtest/gtest.h"

namespace banyan {
namespace {

// An id is nothing but itself: neither a number nor another kind of id passes for it.
static_assert(!std::is_convertible_v<uint32_t, NodeId>);
static_assert(!std::is_convertible_v<NodeId, uint32_t>);
static_assert(!std::is_constructible_v<NodeId, KeyId>);
static_assert(!std::is_constructible_v<Round, Term>);
static_assert(std::is_trivially_copyable_v<NodeId> && sizeof(NodeId) == sizeof(uint32_t));

TEST(IdsTest, ComparesByValue) {
  EXPECT_EQ(NodeId(3), NodeId(3));
  EXPECT_NE(NodeId(3), NodeId(4));
  EXPECT_LT(NodeId(3), NodeId(4));
  EXPECT_GE(Round(1), Round(1));
}

TEST(IdsTest, DefaultIsZero) {
  EXPECT_EQ(NodeId(), NodeId(0));
  EXPECT_EQ(NodeId(), kSchedulerNode);
  EXPECT_EQ(Incarnation().value(), 0u);
}

TEST(IdsTest, NextIsOneMore) {
  EXPECT_EQ(Round(41).Next(), Round(42));
  EXPECT_EQ(NodeId(0xffffffff).Next(), NodeId(0));
}

TEST(IdsTest, PrintsItsValue) {
  std::ostringstream out;
  out << NodeId(7) << " " << Incarnation(0xffffffffffffffff);
  EXPECT_EQ(out.str(), "7 18446744073709551615");
}

TEST(IdsTest, OrdersMaps) {
  const std::map<ConnectionId, int> connections = {{kInboundConnection, 2}, {ConnectionId(1), 1}};
  EXPECT_EQ(connections.begin()->first, ConnectionId(1));
  EXPECT_EQ(connections.rbegin()->second, 2);
}

}  // namespace
}  // namespace banyan
