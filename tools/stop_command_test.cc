#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/port_reservation.h"
#include "runtime/protocol_host.h"
#include "runtime/testing/testing_protocol.h"
#include "tools/commands.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class StopCommandTest : public ::testing::Test {
 protected:
  using Command = int (*)(absl::Span<const std::string>, std::ostream&, std::ostream&);

  int Run(Command command, std::vector<std::string> arguments) { return command(arguments, out_, err_); }

  // Runs the command against a scheduler that gives this answer.
  int RunWith(Command command, const OperatorReply& answer, std::vector<std::string> arguments) {
    absl::StatusOr<std::unique_ptr<ProtocolHost>> host = ProtocolHost::Create({.name = "scheduler"});
    EXPECT_TRUE(host.ok()) << host.status();
    auto scheduler = std::make_unique<TestingProtocol>();
    scheduler->on_message = [&](MessageReceived& received, Actions& actions) {
      asked_ = received.message;
      TestingProtocol::Add(actions, Send{received.connection, answer, {}});
    };
    std::thread thread([&] { EXPECT_EQ((*host)->Run(std::move(scheduler)), absl::OkStatus()); });
    arguments.insert(arguments.end(), {"--scheduler", (*host)->bound_address()});
    const int code = Run(command, arguments);
    (*host)->RequestStop();
    thread.join();
    return code;
  }

  std::optional<Message> asked_;
  std::ostringstream out_, err_;
};

TEST_F(StopCommandTest, StopsTheJobWithAReason) {
  EXPECT_EQ(RunWith(StopCommand, {true, "it is over"}, {"--reason", "enough"}), 0);
  ASSERT_TRUE(asked_.has_value());
  EXPECT_EQ(std::get<StopJob>(*asked_).reason, "enough");
  EXPECT_EQ(out_.str(), "it is over\n");
}

TEST_F(StopCommandTest, RemovesANode) {
  EXPECT_EQ(RunWith(RemoveCommand, {true, "n3 is removed"}, {"n3", "--json"}), 0);
  ASSERT_TRUE(asked_.has_value());
  EXPECT_EQ(std::get<RemoveNode>(*asked_).name, "n3");
  EXPECT_EQ(out_.str(), "{\"accepted\":true,\"text\":\"n3 is removed\"}\n");
}

TEST_F(StopCommandTest, VetoesScopesAndLiftsVetoes) {
  EXPECT_EQ(RunWith(VetoCommand, {true, "vetoed"}, {"--scope", "encoder", "--scope", "backbone"}), 0);
  EXPECT_EQ(std::get<VetoLowBit>(*asked_), (VetoLowBit{{"encoder", "backbone"}, false}));
  EXPECT_EQ(RunWith(VetoCommand, {true, "lifted"}, {"--lift"}), 0);
  EXPECT_EQ(std::get<VetoLowBit>(*asked_), (VetoLowBit{{}, true}));
}

TEST_F(StopCommandTest, SaysWhyItIsRefused) {
  EXPECT_EQ(RunWith(RemoveCommand, {false, "no such node"}, {"n9"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("banyan remove: refused, nothing has changed: no such node"));
}

TEST_F(StopCommandTest, SaysThatNobodyAnswers) {
  absl::StatusOr<PortReservation> port = PortReservation::Take(1);
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_EQ(Run(StopCommand, {"--scheduler", port->Address(0), "--timeout", "0.2"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("within 200ms"));
}

}  // namespace
}  // namespace banyan
