#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/daemon/scheduler_setup.h"

namespace banyan {
namespace {

using testing::HasSubstr;

constexpr char kProfile[] =
    "schema: 1\nprofile: p\nprovenance: {source: a test, made_by: hand, evidence: none}\nmode: binary\n"
    "detector: {slack: 0.1, threshold: 1, smoothing: 0.5}\n";
constexpr char kBinding[] =
    "schema: 1\nbinding: b\nprovenance: {source: a test, made_by: hand, evidence: none}\n"
    "tensors:\n- {name: w, elements: 8, role: encoder, route: low-bit, family: binary, reason: a matrix}\n";

class PrecisionLoadingTest : public testing::Test {
 protected:
  PrecisionLoadingTest() {
    overlay_.file_name = testing::TempDir() + "/overlay.yaml";
    overlay_.precision.profile = "loading_profile.yaml";
    overlay_.precision.binding = "loading_binding.yaml";
    Write("loading_profile.yaml", kProfile);
    Write("loading_binding.yaml", kBinding);
  }
  static void Write(const std::string& name, const std::string& text) {
    std::ofstream(testing::TempDir() + "/" + name) << text;
  }
  std::string Error() const { return std::string(LoadPrecision(overlay_).status().message()); }

  OverlayConfig overlay_;
};

TEST_F(PrecisionLoadingTest, FilesLieBesideTheOverlay) {
  const absl::StatusOr<std::optional<PrecisionFiles>> files = LoadPrecision(overlay_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ((*files)->profile.name, "p");
  EXPECT_EQ((*files)->binding.candidate_elements(), 8);
}

TEST_F(PrecisionLoadingTest, AnOverlayWithoutNeedsNone) {
  overlay_.precision = {};
  EXPECT_FALSE(LoadPrecision(overlay_).value().has_value());
}

TEST_F(PrecisionLoadingTest, ErrorsNameTheFile) {
  overlay_.precision.binding = "no_such_file.yaml";
  EXPECT_THAT(Error(), HasSubstr("no_such_file.yaml"));
  Write("loading_profile.yaml", "schema: 7\n");
  EXPECT_THAT(Error(), HasSubstr("loading_profile.yaml:1"));
}

}  // namespace
}  // namespace banyan
