#include "runtime/transport/dialler.h"

#include <chrono>
#include <functional>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/port_reservation.h"

namespace banyan {
namespace {

using ::testing::Contains;

Timestamp At(int64_t seconds) { return Timestamp::FromNanoseconds(seconds * 1'000'000'000); }

// Asks until there is an answer.
template <typename Value>
Value Await(const std::function<std::optional<Value>()>& ask) {
  while (true) {
    if (std::optional<Value> answer = ask()) return *std::move(answer);
    std::this_thread::yield();
  }
}

TEST(DiallerTest, LooksNamesUp) {
  Dialler dialler;
  EXPECT_EQ(dialler.Found("tcp://localhost:7700"), std::nullopt);
  dialler.LookUp("tcp://localhost:7700", At(1));
  const auto found = Await<Dialler::Endpoints>([&] { return dialler.Found("tcp://localhost:7700"); });
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(*found, Contains(TcpEndpoint{"127.0.0.1", "7700", false}));
  // A fresh answer stands; an old one makes place for the next.
  dialler.LookUp("tcp://localhost:7700", At(1));
  EXPECT_TRUE(dialler.Found("tcp://localhost:7700").has_value());
  dialler.LookUp("tcp://localhost:7700", At(3));
  EXPECT_TRUE(Await<Dialler::Endpoints>([&] { return dialler.Found("tcp://localhost:7700"); }).ok());
}

TEST(DiallerTest, SaysWhyANameIsNotKnown) {
  Dialler dialler;
  dialler.LookUp("tcp://localhost", At(1));
  EXPECT_FALSE(Await<Dialler::Endpoints>([&] { return dialler.Found("tcp://localhost"); }).ok());
}

TEST(DiallerTest, FindsOutWhyNobodyAnswers) {
  const auto port = PortReservation::Take(1);
  ASSERT_TRUE(port.ok());
  const TcpEndpoint endpoint = *NumericEndpoint(port->Address(0));
  Dialler dialler;
  dialler.Diagnose(endpoint, At(1));
  EXPECT_EQ(Await<std::string>([&] { return dialler.Diagnosis(endpoint); }), "Connection refused");
}

}  // namespace
}  // namespace banyan
