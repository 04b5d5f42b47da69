#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "precision/profile/precision_binding.h"
#include "tools/commands.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr char kOverlay[] = "deploy/topologies/internet2.yaml";
constexpr char kProfile[] = "deploy/precision/profile.yaml";
constexpr char kBinding[] = "deploy/precision/binding.yaml";
constexpr char kTensors[] = "deploy/precision/tensors.txt";

class PreflightCommandTest : public testing::Test {
 protected:
  int Preflight(const std::vector<std::string>& arguments) { return PreflightCommand(arguments, out_, err_); }

  std::ostringstream out_, err_;
};

TEST_F(PreflightCommandTest, TheSamplesPass) {
  EXPECT_EQ(Preflight({kOverlay, "--profile", kProfile, "--binding", kBinding, "--tensors", kTensors}), 0)
      << out_.str() << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("ok     coverage          all 8 tensors are bound"));
  EXPECT_THAT(out_.str(), HasSubstr("ok     after the veto"));
}

TEST_F(PreflightCommandTest, PrintsJson) {
  EXPECT_EQ(Preflight({kOverlay, "--profile", kProfile, "--binding", kBinding, "--json"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("{\"is_passed\":true"));
}

TEST_F(PreflightCommandTest, ProposesWhatTheSampleBinds) {
  EXPECT_EQ(Preflight({kOverlay, "--tensors", kTensors, "--propose", "binary"}), 0);
  const absl::StatusOr<PrecisionBinding> proposed = ReadBinding(out_.str(), "proposal");
  ASSERT_TRUE(proposed.ok()) << proposed.status();
  const absl::StatusOr<PrecisionBinding> sample = ReadBinding(*ReadOverlayText(kBinding), kBinding);
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(proposed->candidate_elements(), sample->candidate_elements());
  EXPECT_EQ(proposed->tensors().size(), sample->tensors().size());
}

TEST_F(PreflightCommandTest, SaysWhatItCannotRead) {
  EXPECT_EQ(Preflight({kOverlay, "--profile", kBinding, "--binding", kBinding}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("binding.yaml:2:1"));
}

}  // namespace
}  // namespace banyan
