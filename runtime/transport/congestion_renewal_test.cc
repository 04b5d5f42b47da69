#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"
#include "runtime/transport/congestion_control.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

constexpr double kUnpaced = std::numeric_limits<double>::infinity();
constexpr Timestamp kStart = Timestamp::FromNanoseconds(100'000'000'000);

// Two ends of a TCP connection on loopback.
class CongestionRenewalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const FileDescriptor listener(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listener.get(), 1), 0);
    ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    sender_ = FileDescriptor(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(sender_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    receiver_ = FileDescriptor(accept(listener.get(), nullptr, nullptr));
    ASSERT_GE(receiver_.get(), 0);
    renewal_.Watch(sender_.get(), kStart);
  }

  bool Use(const std::string& name) {
    return setsockopt(sender_.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size())) ==
           0;
  }
  std::string InUse() const { return CongestionControlOf(sender_.get()); }
  // Sends and waits until the other end has it, and this end knows.
  void Exchange() {
    std::array<char, 1000> bytes = {};
    for (int i = 0; i < 50; ++i) {
      ASSERT_EQ(send(sender_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
      ASSERT_EQ(recv(receiver_.get(), bytes.data(), bytes.size(), MSG_WAITALL), static_cast<ssize_t>(bytes.size()));
    }
    // An answer carries the acknowledgement of all.
    ASSERT_EQ(send(receiver_.get(), bytes.data(), 1, 0), 1);
    ASSERT_EQ(recv(sender_.get(), bytes.data(), 1, 0), 1);
  }
  // Has round trips look long, as the other end holds back what it could acknowledge at once.
  void ExchangeSlowly() {
    for (int i = 0; i < 40; ++i) {
      const int not_at_once = 0;
      setsockopt(receiver_.get(), IPPROTO_TCP, TCP_QUICKACK, &not_at_once, sizeof(not_at_once));
      char byte = 'x';
      ASSERT_EQ(send(sender_.get(), &byte, 1, 0), 1);
      ASSERT_EQ(recv(receiver_.get(), &byte, 1, MSG_WAITALL), 1);
      // Nothing but the acknowledgement tells of it.
      for (int unacknowledged = 1; unacknowledged > 0;) {
        ASSERT_EQ(ioctl(sender_.get(), SIOCOUTQ, &unacknowledged), 0);
        poll(nullptr, 0, 1);
      }
    }
  }
  // What BBR believes, in the kernel's units.
  uint64_t BelievedRate() const {
    struct {
      uint32_t low;
      uint32_t high;
      std::array<uint32_t, 3> rest;
    } info = {};
    socklen_t size = sizeof(info);
    EXPECT_EQ(getsockopt(sender_.get(), IPPROTO_TCP, TCP_CC_INFO, &info, &size), 0);
    return (static_cast<uint64_t>(info.high) << 32) | info.low;
  }

  FileDescriptor sender_;
  FileDescriptor receiver_;
  CongestionRenewal renewal_;
};

TEST_F(CongestionRenewalTest, BbrForgetsItsRateInTheFirstPauseAfterAWhile) {
  if (!Use("bbr")) GTEST_SKIP() << "the kernel lets this process have no BBR";
  Exchange();
  ASSERT_GT(BelievedRate(), 0u);
  EXPECT_FALSE(renewal_.OnSend(kStart + CongestionRenewal::kPause, kUnpaced)) << "too early";
  Timestamp now = kStart + CongestionRenewal::kRenewAfter;
  EXPECT_TRUE(renewal_.OnSend(now, kUnpaced));
  EXPECT_EQ(InUse(), "bbr");
  EXPECT_EQ(BelievedRate(), 0u);
  now = now + CongestionRenewal::kPause;
  EXPECT_FALSE(renewal_.OnSend(now, kUnpaced)) << "too early again";
  now = now + CongestionRenewal::kRenewAfter;
  EXPECT_TRUE(renewal_.OnSend(now, kUnpaced));
}

TEST_F(CongestionRenewalTest, BbrThatWouldBelieveInARoundTripFarTooShortIsLeftAlone) {
  if (!Use("bbr")) GTEST_SKIP() << "the kernel lets this process have no BBR";
  Exchange();
  ExchangeSlowly();
  ASSERT_FALSE(renewal_.OnSend(kStart + CongestionRenewal::kLookEvery, kUnpaced));
  Timestamp now = kStart + CongestionRenewal::kRenewAfter;
  EXPECT_FALSE(renewal_.OnSend(now, kUnpaced)) << "in a pause";
  EXPECT_FALSE(renewal_.OnSend(now + CongestionRenewal::kLookEvery, 1e12)) << "below the pace";
}

TEST_F(CongestionRenewalTest, WhatDoesNotPauseGoesOn) {
  if (!Use("bbr")) GTEST_SKIP() << "the kernel lets this process have no BBR";
  for (absl::Duration at = absl::ZeroDuration(); at < 2 * CongestionRenewal::kRenewAfter;
       at += CongestionRenewal::kPause / 2) {
    EXPECT_FALSE(renewal_.OnSend(kStart + at, kUnpaced));
  }
}

TEST_F(CongestionRenewalTest, BbrThatBelievesInFarLessThanThePaceBeginsAnewSeldomerEachTime) {
  if (!Use("bbr")) GTEST_SKIP() << "the kernel lets this process have no BBR";
  std::vector<absl::Duration> renewals;
  for (absl::Duration at; at < 2 * CongestionRenewal::kRenewAfter; at += CongestionRenewal::kPause / 2) {
    if (InUse() == "bbr" && BelievedRate() == 0) Exchange();
    const double pace_bps = 8 * 10 * static_cast<double>(BelievedRate());
    if (renewal_.OnSend(kStart + at, pace_bps)) renewals.push_back(at);
  }
  EXPECT_THAT(renewals, ElementsAre(CongestionRenewal::kLookEvery, 3 * CongestionRenewal::kLookEvery,
                                    7 * CongestionRenewal::kLookEvery, 15 * CongestionRenewal::kLookEvery,
                                    31 * CongestionRenewal::kLookEvery, 63 * CongestionRenewal::kLookEvery));
  EXPECT_EQ(InUse(), "bbr");
}

TEST_F(CongestionRenewalTest, BbrThatBelievesInThePaceGoesOn) {
  if (!Use("bbr")) GTEST_SKIP() << "the kernel lets this process have no BBR";
  Exchange();
  const double pace_bps = 8 * static_cast<double>(BelievedRate());
  for (absl::Duration at; at < CongestionRenewal::kRenewAfter; at += CongestionRenewal::kPause / 2) {
    EXPECT_FALSE(renewal_.OnSend(kStart + at, pace_bps));
  }
}

TEST_F(CongestionRenewalTest, WhatHasNotYetARateIsGivenTime) {
  if (!Use("bbr")) GTEST_SKIP() << "the kernel lets this process have no BBR";
  EXPECT_FALSE(renewal_.OnSend(kStart + CongestionRenewal::kLookEvery, 1e9));
}

TEST_F(CongestionRenewalTest, WhatIsStillOnItsWayIsNotDisturbed) {
  if (!Use("bbr")) GTEST_SKIP() << "the kernel lets this process have no BBR";
  const std::string bytes(size_t{64} << 20, 'x');
  // More than the receiver, who reads nothing, has room for.
  ASSERT_GT(send(sender_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT), 0);
  EXPECT_FALSE(renewal_.OnSend(kStart + 2 * CongestionRenewal::kRenewAfter, kUnpaced));
}

TEST_F(CongestionRenewalTest, OthersAreLeftAlone) {
  ASSERT_TRUE(Use("reno"));
  EXPECT_FALSE(renewal_.OnSend(kStart + 2 * CongestionRenewal::kRenewAfter, kUnpaced));
  EXPECT_EQ(InUse(), "reno");
}

TEST_F(CongestionRenewalTest, AForgottenSocketIsNotTouched) {
  renewal_.Forget();
  EXPECT_FALSE(renewal_.OnSend(kStart + 2 * CongestionRenewal::kRenewAfter, kUnpaced));
}

}  // namespace
}  // namespace banyan
