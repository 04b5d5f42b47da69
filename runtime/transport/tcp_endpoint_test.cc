#include "runtime/transport/tcp_endpoint.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/port_reservation.h"

namespace banyan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TcpEndpointTest, NumbersNeedNoLookup) {
  EXPECT_EQ(NumericEndpoint("tcp://10.0.0.1:7700"), (TcpEndpoint{"10.0.0.1", "7700", false}));
  EXPECT_EQ(NumericEndpoint("tcp://[fd00::1]:7700"), (TcpEndpoint{"fd00::1", "7700", true}));
  for (const char* other : {"tcp://localhost:1", "tcp://*:1", "tcp://10.0.0.1", "tcp://10.0.0.1:65536", "10.0.0.1:1",
                            "tcp://:1", "", "tcp://10.0.0.1:x"}) {
    EXPECT_EQ(NumericEndpoint(other), std::nullopt) << other;
  }
}

TEST(TcpEndpointTest, AnAddressIsWrittenAsItWasRead) {
  for (const char* address : {"tcp://10.0.0.1:7700", "tcp://[fd00::1]:7700"}) {
    EXPECT_EQ(NumericEndpoint(address)->Address(), address);
  }
}

TEST(TcpEndpointTest, NamesAreLookedUp) {
  const auto found = LookUpEndpoints("tcp://localhost:7700");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(*found, Contains(TcpEndpoint{"127.0.0.1", "7700", false}));
  EXPECT_EQ(*LookUpEndpoints("tcp://127.0.0.1:1"), (std::vector<TcpEndpoint>{{"127.0.0.1", "1", false}}));
}

TEST(TcpEndpointTest, WhatCannotBeLookedUpIsNamed) {
  // No name server is asked: a label has at most 63 characters.
  const auto unknown = LookUpEndpoints("tcp://" + std::string(64, 'a') + ":1");
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(unknown.status().message(), HasSubstr("cannot be looked up"));
  EXPECT_EQ(LookUpEndpoints("tcp://localhost").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(TcpEndpointTest, EveryAddressOfThisMachineIsOfBothFamilies) {
  EXPECT_THAT(*LookUpListeners("tcp://*:0"),
              ElementsAre(TcpEndpoint{"::", "0", true}, TcpEndpoint{"0.0.0.0", "0", false}));
  EXPECT_THAT(*LookUpListeners("tcp://localhost:5"), Contains(TcpEndpoint{"127.0.0.1", "5", false}));
}

TEST(TcpEndpointTest, TheReasonIsThatOfTheKernel) {
  const auto port = PortReservation::Take(1);
  ASSERT_TRUE(port.ok());
  const TcpEndpoint nobody{"127.0.0.1", std::to_string(port->ports()[0]), false};
  EXPECT_EQ(WhyUnreachable(nobody, absl::Seconds(5)), "Connection refused");
}

}  // namespace
}  // namespace banyan
