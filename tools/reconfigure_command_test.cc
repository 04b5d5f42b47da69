#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/port_reservation.h"
#include "runtime/protocol_host.h"
#include "runtime/testing/testing_protocol.h"
#include "tools/commands.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr char kNodes[] = "nodes:\n  - {name: a, address: tcp://h:1}\n  - {name: b, address: tcp://h:2}\n";

class ReconfigureCommandTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> arguments) { return ReconfigureCommand(arguments, out_, err_); }

  std::string File(const std::string& text) {
    const std::string path = ::testing::TempDir() + "/reconfigure.yaml";
    std::ofstream(path) << text;
    return path;
  }

  // Runs the command against a scheduler that gives this answer. The overlay says where it is.
  int RunWith(const OperatorReply& answer, std::vector<std::string> flags = {}) {
    absl::StatusOr<std::unique_ptr<ProtocolHost>> host = ProtocolHost::Create({.name = "scheduler"});
    EXPECT_TRUE(host.ok()) << host.status();
    auto scheduler = std::make_unique<TestingProtocol>();
    scheduler->on_message = [&](MessageReceived& received, Actions& actions) {
      asked_ = std::get<Reconfigure>(received.message);
      TestingProtocol::Add(actions, Send{received.connection, answer, {}});
    };
    std::thread thread([&] { EXPECT_EQ((*host)->Run(std::move(scheduler)), absl::OkStatus()); });
    file_ = absl::StrCat("scheduler: {address: '", (*host)->bound_address(), "'}\n", kNodes);
    flags.insert(flags.begin(), File(file_));
    const int code = Run(flags);
    (*host)->RequestStop();
    thread.join();
    return code;
  }

  std::string file_;
  std::optional<Reconfigure> asked_;
  std::ostringstream out_, err_;
};

TEST_F(ReconfigureCommandTest, FindsMistakesWithoutTheScheduler) {
  const std::string path = File("nodes:\n  - {name: a}\n  - {nam: b}\n");
  EXPECT_EQ(Run({path}), 1);
  EXPECT_THAT(err_.str(), HasSubstr(path + ":3"));
  EXPECT_EQ(Run({File(kNodes)}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("address"));
}

TEST_F(ReconfigureCommandTest, SaysWhatHasChanged) {
  EXPECT_EQ(RunWith({true, "topology.planner: fapt -> star"}), 0);
  EXPECT_EQ(out_.str(), "topology.planner: fapt -> star\n");
  ASSERT_TRUE(asked_.has_value());
  EXPECT_EQ(asked_->overlay_yaml, file_);
  EXPECT_THAT(asked_->file_name, HasSubstr("/reconfigure.yaml"));
}

TEST_F(ReconfigureCommandTest, SaysWhyItIsRefused) {
  EXPECT_EQ(RunWith({false, "overlay.yaml:2: a node more"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("refused, nothing has changed: overlay.yaml:2: a node more"));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(ReconfigureCommandTest, PrintsJson) {
  EXPECT_EQ(RunWith({true, "a \"b\""}, {"--json"}), 0);
  EXPECT_EQ(RunWith({false, "c"}, {"--json"}), 1);
  EXPECT_EQ(out_.str(), "{\"accepted\":true,\"text\":\"a \\\"b\\\"\"}\n{\"accepted\":false,\"text\":\"c\"}\n");
}

TEST_F(ReconfigureCommandTest, SaysThatNobodyAnswers) {
  absl::StatusOr<PortReservation> port = PortReservation::Take(1);
  ASSERT_TRUE(port.ok()) << port.status();
  const std::string path = File(absl::StrCat("scheduler: {address: tcp://h:3}\n", kNodes));
  EXPECT_EQ(Run({path, "--scheduler", port->Address(0), "--timeout", "0.2"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("within 200ms"));
}

}  // namespace
}  // namespace banyan
