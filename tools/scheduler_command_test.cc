#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/commands.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class SchedulerCommandTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> arguments) { return SchedulerCommand(arguments, state_home_, out_, err_); }

  // A file with addresses, and with more of the section `scheduler`.
  static std::string Job(const std::string& scheduler) {
    const std::string path = ::testing::TempDir() + "/job.yaml";
    std::ofstream(path) << "scheduler: {" << scheduler << "}\n"
                        << "nodes: [{name: a, address: tcp://h:1}, {name: b, address: tcp://h:2}]\n";
    return path;
  }

  std::string state_home_ = ::testing::TempDir();
  std::ostringstream out_, err_;
};

TEST_F(SchedulerCommandTest, RefusesABadFileWithItsLine) {
  const std::string path = ::testing::TempDir() + "/bad.yaml";
  std::ofstream(path) << "nodes:\n  - {name: a}\n  - {nam: b}\n";
  EXPECT_EQ(Run({path}), 1);
  EXPECT_THAT(err_.str(), HasSubstr(path + ":3"));
}

TEST_F(SchedulerCommandTest, RefusesAFileWithoutAddresses) {
  const std::string path = ::testing::TempDir() + "/no_addresses.yaml";
  std::ofstream(path) << "nodes:\n  - {name: a}\n  - {name: b}\n";
  EXPECT_EQ(Run({path}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("address"));
}

TEST_F(SchedulerCommandTest, TheSampleFileConfiguresAJob) {
  const absl::StatusOr<OverlayConfig> overlay = LoadOverlay("deploy/overlay.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  EXPECT_TRUE(ValidateForJob(*overlay).ok());
}

TEST_F(SchedulerCommandTest, OneOfSeveralMustSayWhichItIs) {
  EXPECT_EQ(Run({Job("addresses: [tcp://127.0.0.1:1, tcp://127.0.0.1:2], etcd: [http://127.0.0.1:1]")}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected --listen"));
  EXPECT_THAT(err_.str(), HasSubstr("names 2 schedulers"));
}

TEST_F(SchedulerCommandTest, KeepsItsStateInOnePlace) {
  EXPECT_EQ(Run({Job("address: tcp://127.0.0.1:1"), "--forgetful", "--state-dir", "/tmp"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("got both"));
  EXPECT_EQ(Run({Job("address: tcp://127.0.0.1:1, etcd: [http://127.0.0.1:1]"), "--forgetful"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected no --forgetful"));
  state_home_ = "";
  EXPECT_EQ(Run({Job("address: tcp://127.0.0.1:1")}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected --state-dir"));
}

TEST_F(SchedulerCommandTest, OperatorsOfThePageHaveTokensOfTheirOwn) {
  const auto file = [](const std::string& name, const std::string& token, int mode) {
    const std::string path = ::testing::TempDir() + "/" + name;
    std::ofstream(path) << token << "\n";
    EXPECT_EQ(chmod(path.c_str(), static_cast<mode_t>(mode)), 0);
    return path;
  };
  const std::string ada = file("ada", "0123456789abcdef", 0600);
  const std::string open = file("open", "0123456789abcdeg", 0644);
  const std::string job = Job("address: tcp://127.0.0.1:1, http: 127.0.0.1:0");
  EXPECT_EQ(Run({job, "--check", "--http-operator", ada}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--http-operator: expected NAME=FILE"));
  EXPECT_EQ(Run({job, "--check", "--http-operator", "ada=" + open}), 1);
  EXPECT_THAT(err_.str(), HasSubstr(open));
  EXPECT_EQ(Run({job, "--check", "--http-operator", "ada=" + ada, "--http-token", ada}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("a token of their own"));
  EXPECT_EQ(Run({job, "--check", "--http-operator", "ada=" + ada}), 0) << err_.str();
  EXPECT_EQ(Run({Job("address: tcp://127.0.0.1:1"), "--check", "--http-operator", "ada=" + ada}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--http-operator: expected scheduler.http"));
}

TEST_F(SchedulerCommandTest, WhatKeepsItsStateFromBeingMadeIsToldWithWaysOut) {
  const std::string file = ::testing::TempDir() + "/file";
  std::ofstream(file) << "";
  EXPECT_EQ(Run({Job("address: tcp://127.0.0.1:1"), "--state-dir", file + "/banyan/state"}), 1);
  EXPECT_THAT(err_.str(),
              HasSubstr("cannot create the directory " + file + "/banyan/state: Not a directory; --state-dir names"));
  EXPECT_THAT(err_.str(), HasSubstr("--forgetful keeps none"));
}

TEST_F(SchedulerCommandTest, APortFileThatCannotBeWrittenSaysWhy) {
  EXPECT_EQ(Run({Job("address: tcp://127.0.0.1:1"), "--listen", "tcp://127.0.0.1:0", "--forgetful", "--port-file",
                 "/no/such/folder/port"}),
            1);
  EXPECT_THAT(err_.str(), HasSubstr("--port-file: cannot write /no/such/folder/port: No such file or directory"));
}

TEST_F(SchedulerCommandTest, AccessToEtcdBelongsToAnOverlayWithEtcd) {
  const std::string password = ::testing::TempDir() + "/password";
  std::ofstream(password) << "secret\n";
  ASSERT_EQ(chmod(password.c_str(), 0644), 0);
  const std::string with = Job("address: tcp://127.0.0.1:1, etcd: [http://127.0.0.1:1]");
  EXPECT_EQ(Run({with, "--check", "--etcd-user", "banyan"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("--etcd-user: expected NAME=FILE"));
  EXPECT_EQ(Run({with, "--check", "--etcd-user", "banyan=" + password}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("got mode 0644"));
  ASSERT_EQ(chmod(password.c_str(), 0600), 0);
  EXPECT_EQ(Run({with, "--check", "--etcd-user", "banyan=" + password}), 0) << err_.str();
  EXPECT_EQ(Run({with, "--check", "--etcd-cert", password}), 2);
  EXPECT_EQ(Run({Job("address: tcp://127.0.0.1:1"), "--check", "--etcd-user", "banyan=" + password}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("expected scheduler.etcd in "));
}

}  // namespace
}  // namespace banyan
