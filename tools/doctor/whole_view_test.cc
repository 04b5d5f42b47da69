#include "tools/doctor/whole_view.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kOverlay[] =
    "scheduler: {address: tcp://10.0.0.1:7700}\n"
    "nodes:\n"
    "  - {name: n1, address: tcp://10.0.1.1:7701}\n"
    "  - {name: n2, address: tcp://10.0.2.1:7701}\n";

// What is found about a path where nothing is wrong.
CheckResults Healthy(const std::string& other) {
  const auto name = [&other](const char* check) { return absl::StrCat(check, ":", other); };
  return {{name("reach"), true, "answers", "yes"},       {name("round-trip"), true, "20.0 ms there", "20.0 ms"},
          {name("clock"), true, "0 ms ahead", "+0 ms"},  {name("call-back"), true, "can call", "yes"},
          {name("large"), true, "large pass", "1500 B"}, {name("loss"), true, "0.0% of", "0.0%"}};
}

class WholeViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Reports({"n1", "n2"}, "scheduler");
    Reports({"n2", "scheduler"}, "n1");
    Reports({"n1", "scheduler"}, "n2");
  }
  void Reports(const std::vector<std::string>& others, const std::string& site) {
    reports_[site] = {{"memory", true, "enough"}};
    for (const std::string& other : others) {
      const CheckResults more = Healthy(other);
      reports_[site].insert(reports_[site].end(), more.begin(), more.end());
    }
  }
  // What `site` has found under `name` is a fault.
  void Break(const std::string& site, const std::string& name, const std::string& value) {
    CheckResults& report = reports_[site];
    const auto found =
        std::find_if(report.begin(), report.end(), [&name](const CheckResult& one) { return one.name == name; });
    ASSERT_NE(found, report.end()) << name;
    *found = {name, false, absl::StrCat("broken: ", value), value};
    // Nothing is found about a path that is not there.
    if (name.starts_with("reach:")) {
      const std::string other = name.substr(name.find(':'));
      std::erase_if(report, [&](const CheckResult& one) { return one.name != name && one.name.ends_with(other); });
    }
  }
  WholeView View() const { return MakeWholeView(*ParseOverlay(kOverlay, "overlay.yaml"), "scheduler", reports_); }
  std::vector<std::string> Faults() const {
    std::vector<std::string> faults;
    for (const WholeFault& fault : FindFaults(View())) faults.push_back(absl::StrCat(fault.where, ": ", fault.what));
    return faults;
  }

  std::map<std::string, CheckResults> reports_;
};

TEST_F(WholeViewTest, NoneWhereThereIsNone) {
  EXPECT_THAT(Faults(), IsEmpty());
  const std::string text = FormatView(View());
  EXPECT_THAT(text, HasSubstr("from       to         reached  round trip  packets  sent again\n"));
  EXPECT_THAT(text, HasSubstr("n1         n2         yes      20.0 ms     1500 B   0.0%\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("ok: all 3 sites"), Not(HasSubstr("fix"))));
  EXPECT_THAT(ViewJson(View()), HasSubstr("{\"ok\":true,\"missing\":[]"));
}

TEST_F(WholeViewTest, OneDirectionThatIsClosedIsOneFault) {
  Break("n1", "reach:n2", "silent");
  Break("n2", "call-back:n1", "no");
  EXPECT_THAT(Faults(), ElementsAre("n1 -> n2: reach"));
  EXPECT_THAT(FormatView(View()), AllOf(ContainsRegex("n1 +n2 +silent +- +- +- +fix\n"),
                                        ContainsRegex("n2 +n1 +yes +20.0 ms +1500 B +0.0%\n"),
                                        HasSubstr("fix: n1 -> n2: reach: broken: silent\n")));
}

TEST_F(WholeViewTest, WhatBothEndsHaveFoundIsToldOnce) {
  Break("n1", "large:n2", "lost");
  Break("n2", "large:n1", "lost");
  Break("n2", "loss:scheduler", "3.0%");
  EXPECT_THAT(Faults(), ElementsAre("n1 <-> n2: large", "n2 -> scheduler: loss"));
}

TEST_F(WholeViewTest, AMachinesFaultIsNamedWithItsSite) {
  Break("n2", "memory", "");
  EXPECT_THAT(Faults(), ElementsAre("n2: memory"));
}

TEST_F(WholeViewTest, WhoIsAwayIsNamedOnce) {
  reports_.erase("n2");
  Break("n1", "reach:n2", "refused");
  Break("scheduler", "reach:n2", "refused");
  EXPECT_THAT(MissingSites(View()), ElementsAre("n2"));
  EXPECT_THAT(Faults(), ElementsAre("n2: report"));
  EXPECT_THAT(FormatView(View()), AllOf(ContainsRegex("n2 +n1 +\\? "), HasSubstr("has not reported: broken: refused")));
  EXPECT_THAT(ViewJson(View()), AllOf(HasSubstr("\"missing\":[\"n2\"]"),
                                      HasSubstr("{\"from\":\"n2\",\"to\":\"n1\",\"ok\":false,\"reach\":null")));
}

TEST_F(WholeViewTest, WithoutAPortNobodyCanReport) {
  reports_.erase("n1");
  reports_.erase("n2");
  reports_["scheduler"].push_back({"port", false, "taken"});
  EXPECT_THAT(Faults(), ElementsAre("scheduler: port", "n1: report", "n2: report"));
  EXPECT_THAT(FormatView(View()), HasSubstr("could not report, since the doctor of scheduler does not listen"));
}

TEST_F(WholeViewTest, WhoCannotReportIsSeenByTheOthers) {
  reports_.erase("n2");
  Break("scheduler", "call-back:n2", "no");
  Break("n1", "call-back:n2", "no");
  EXPECT_THAT(Faults(), ElementsAre("n2 -> scheduler: call-back", "n2 -> n1: call-back", "n2: report"));
  EXPECT_THAT(FormatView(View()), AllOf(ContainsRegex("n2 +n1 +no "), HasSubstr("its doctor answers and has not")));
}

}  // namespace
}  // namespace banyan
