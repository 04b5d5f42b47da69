// Faults that are put in by hand, and the doctors of a scheduler and three nodes that find each of them, and none where
// there is none.
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"
#include "posix/port_reservation.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/doctor/host_checks.h"
#include "tools/doctor/tcp_address.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kNodes = 3;
constexpr char kSynchronised[] =
    "0A000001,10.0.0.1,3,1.5,-0.00012,0.00003,0.00004,-12.3,0.0,0.1,0.06,0.0009,16.2,Normal";

class DoctorFaultsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    chronyc_ = ::testing::TempDir() + "/chronyc";
    std::ofstream(chronyc_) << "#!/bin/sh\necho '" << kSynchronised << "'\n";
    ASSERT_EQ(chmod(chronyc_.c_str(), 0700), 0);
    for (int node = 0; node <= kNodes; ++node) addresses_[node] = ports_->Address(node);
  }

  // The overlay as `site` has it.
  std::string OverlayOf(const std::string& site) const {
    std::string text = absl::StrCat("scheduler: {address: ", addresses_.at(0), "}\nnodes:\n");
    for (int node = 1; node <= kNodes; ++node) {
      const std::string name = absl::StrCat("n", node);
      const auto wrong = wrong_.find({site, name});
      absl::StrAppend(&text, "  - {name: ", name, ", address: \"",
                      wrong == wrong_.end() ? addresses_.at(node) : wrong->second, "\"}\n");
    }
    return text + links_;
  }
  void RunOne(const std::string& site) {
    const std::string path = absl::StrCat(::testing::TempDir(), "/", site, ".yaml");
    std::ofstream(path) << OverlayOf(site);
    std::vector<std::string> arguments = {path, "--name", site, "--chronyc", chronyc_, "--wait", "1s"};
    arguments.insert(arguments.end(), flags_.begin(), flags_.end());
    if (site == "scheduler" && collects_) arguments.emplace_back("--all");
    codes_[site] = DoctorCommand(arguments, out_[site], err_[site]);
  }
  // Runs the doctors of all sites but those that are `away`.
  void Run() {
    std::vector<std::thread> doctors;
    for (const std::string site : {"scheduler", "n1", "n2", "n3"}) {
      // All are there before threads look for theirs.
      out_[site].str("");
      err_[site].str("");
      codes_[site] = 0;
    }
    for (const std::string site : {"scheduler", "n1", "n2", "n3"}) {
      if (!away_.contains(site)) doctors.emplace_back([this, site] { RunOne(site); });
    }
    for (std::thread& doctor : doctors) doctor.join();
  }
  // The names of the checks that `site` says are to fix.
  std::set<std::string> Found(const std::string& site) {
    std::set<std::string> names;
    for (absl::string_view line : absl::StrSplit(out_[site].str(), '\n')) {
      const std::vector<absl::string_view> words = absl::StrSplit(line, ": ");
      if (words.size() > 2 && words[0] == "fix") names.insert(std::string(words[1]));
    }
    EXPECT_EQ(codes_[site], names.empty() ? kExitSuccess : kExitFaultFound) << out_[site].str() << err_[site].str();
    return names;
  }
  using Names = std::set<std::string>;

  const absl::StatusOr<PortReservation> ports_ = PortReservation::Take(kNodes + 2);
  std::string chronyc_;
  std::map<int, std::string> addresses_;                              // of the scheduler, 0, and the nodes
  std::map<std::pair<std::string, std::string>, std::string> wrong_;  // what a site has for a node instead
  std::string links_;
  std::vector<std::string> flags_;
  std::set<std::string> away_;
  bool collects_ = false;
  std::map<std::string, std::ostringstream> out_, err_;
  std::map<std::string, int> codes_;
};

TEST_F(DoctorFaultsTest, NoneWhereThereIsNone) {
  flags_ = {"--model-size", "46MB", "--tensors", "100"};
  Run();
  for (const std::string site : {"scheduler", "n1", "n2", "n3"}) {
    EXPECT_EQ(Found(site), Names()) << out_[site].str();
    EXPECT_THAT(out_[site].str(), HasSubstr("ok: port: "));
  }
  EXPECT_THAT(out_["n1"].str(), HasSubstr("ok: call-back:n2: n2 can call this site"));
  EXPECT_THAT(out_["n1"].str(), HasSubstr("ok: large:scheduler: large messages pass"));
  EXPECT_THAT(err_["n1"].str(), HasSubstr("n1 looks at its paths to n2, n3, scheduler"));
}

TEST_F(DoctorFaultsTest, ASiteThatIsAway) {
  away_ = {"n2"};
  Run();
  EXPECT_EQ(Found("n1"), Names{"reach:n2"});
  EXPECT_EQ(Found("scheduler"), Names{"reach:n2"});
  EXPECT_THAT(out_["n1"].str(), HasSubstr("run `banyan doctor` at n2 at the same time"));
}

TEST_F(DoctorFaultsTest, ANameThatNobodyKnows) {
  wrong_[{"n1", "n2"}] = "tcp://no-such-name.invalid:7701";
  Run();
  EXPECT_EQ(Found("n1"), Names{"name:n2"});
  EXPECT_EQ(Found("n3"), Names());
}

TEST_F(DoctorFaultsTest, APortThatSomebodyHas) {
  const absl::StatusOr<FileDescriptor> somebody = ListenOnTcp(LookUp(addresses_[2])->front());
  ASSERT_TRUE(somebody.ok()) << somebody.status();
  away_ = {"scheduler", "n1", "n3"};
  Run();
  EXPECT_TRUE(Found("n2").contains("port")) << out_["n2"].str();
}

TEST_F(DoctorFaultsTest, AnAddressThatLeadsElsewhere) {
  wrong_[{"n1", "n2"}] = addresses_[3];
  wrong_[{"n1", "n3"}] = addresses_[2];
  Run();
  EXPECT_EQ(Found("n1"), (Names{"reach:n2", "reach:n3"}));
  EXPECT_THAT(out_["n1"].str(), HasSubstr("leads to n3; correct the address of n2"));
}

TEST_F(DoctorFaultsTest, OneThatCannotCallBack) {
  // Nobody listens there.
  wrong_[{"n2", "n1"}] = ports_->Address(kNodes + 1);
  Run();
  EXPECT_EQ(Found("n1"), Names{"call-back:n2"});
  EXPECT_EQ(Found("n2"), Names{"reach:n1"});
}

TEST_F(DoctorFaultsTest, AnAddressThatIsNotThisMachines) {
  wrong_[{"n1", "n1"}] = "tcp://203.0.113.1:7701";
  away_ = {"scheduler", "n2", "n3"};
  flags_ = {"--idle", "1s"};
  Run();
  EXPECT_TRUE(Found("n1").contains("address")) << out_["n1"].str();
  EXPECT_TRUE(Found("n1").contains("port")) << out_["n1"].str();
}

TEST_F(DoctorFaultsTest, AModelThatDoesNotFit) {
  flags_ = {"--model-size", "4TB", "--tensors", "10000000"};
  Run();
  EXPECT_EQ(Found("n1"), (Names{"descriptors", "mappings", "memory"}));
  EXPECT_EQ(Found("scheduler"), Names());
}

TEST_F(DoctorFaultsTest, BuffersThatAreTooSmall) {
  links_ = "links: [{between: [n1, n2], mbps: 400000, delay_ms: 250}, {between: [n2, n3], mbps: 100}]\n";
  Run();
  EXPECT_EQ(Found("n1"), Names{"buffers"});
  EXPECT_EQ(Found("n3"), Names());
}

TEST_F(DoctorFaultsTest, ALossyLinkWithoutBbr) {
  links_ = "links: [{between: [n1, n2], delay_ms: 20, loss_percent: 1}, {between: [n2, n3]}]\n";
  Run();
  const bool has_bbr = ReadHostFacts("").congestion_control == "bbr";
  EXPECT_EQ(Found("n1"), has_bbr ? Names() : Names{"congestion"});
  EXPECT_EQ(Found("n3"), Names());
}

TEST_F(DoctorFaultsTest, ALinkThatIsSlowerThanTheOverlaySays) {
  links_ = "links: [{between: [n1, n2], mbps: [9000000, 1]}, {between: [n2, n3], mbps: 1}]\n";
  flags_ = {"--load", "100ms", "--load-bytes", "2MB"};
  Run();
  EXPECT_EQ(Found("n1"), Names{"rate-there:n2"});
  EXPECT_EQ(Found("n2"), Names{"rate-back:n1"});
  EXPECT_EQ(Found("n3"), Names());
}

TEST_F(DoctorFaultsTest, TheViewOfAllHasNoneWhereThereIsNone) {
  collects_ = true;
  flags_ = {"--idle", "1s"};
  Run();
  EXPECT_EQ(codes_["scheduler"], 0) << out_["scheduler"].str();
  EXPECT_THAT(out_["scheduler"].str(), HasSubstr("ok: all 4 sites"));
  EXPECT_THAT(err_["n1"].str(), HasSubstr("n1 has told scheduler"));
}

TEST_F(DoctorFaultsTest, TheViewOfAllHasTheFaultsBetweenTwo) {
  collects_ = true;
  // Nobody listens there.
  wrong_[{"n2", "n1"}] = ports_->Address(kNodes + 1);
  away_ = {"n3"};
  Run();
  EXPECT_EQ(codes_["scheduler"], kExitFaultFound);
  const std::string view = out_["scheduler"].str();
  EXPECT_THAT(view, HasSubstr("\nfix: n2 -> n1: reach: "));
  EXPECT_THAT(view, HasSubstr("\nfix: n3: report: has not reported: "));
  const std::vector<std::string> faults = absl::StrSplit(view, "\nfix: ");
  EXPECT_EQ(faults.size(), 3u) << "each once: " << view;
}

TEST_F(DoctorFaultsTest, AClockThatIsOff) {
  flags_ = {"--max-offset", "0.1ms"};
  away_ = {"n2", "n3", "scheduler"};
  Run();
  EXPECT_TRUE(Found("n1").contains("offset")) << out_["n1"].str();
}

TEST_F(DoctorFaultsTest, OnlyASchedulerCollects) {
  collects_ = true;
  const std::string path = absl::StrCat(::testing::TempDir(), "/of-a-node.yaml");
  std::ofstream(path) << OverlayOf("n1");
  std::ostringstream out, err;
  EXPECT_EQ(DoctorCommand({path, "--name", "n1", "--all"}, out, err), 2);
  EXPECT_THAT(err.str(), HasSubstr("expected --all with --name scheduler"));
}

TEST(DoctorWordsTest, NeedsBothOverlayAndName) {
  std::ostringstream out, err;
  EXPECT_EQ(DoctorCommand({"--name", "n1"}, out, err), 2);
  EXPECT_EQ(DoctorCommand({"overlay.yaml"}, out, err), 2);
  EXPECT_EQ(DoctorCommand({"--all"}, out, err), 2);
  EXPECT_EQ(DoctorCommand({"/no/such.yaml", "--name", "n1"}, out, err), 1);
  EXPECT_THAT(err.str(), HasSubstr("/no/such.yaml"));
}

}  // namespace
}  // namespace banyan
