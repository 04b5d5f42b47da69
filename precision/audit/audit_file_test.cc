#include "precision/audit/audit_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace banyan {
namespace {

using ::testing::HasSubstr;

PrecisionController Controller() {
  OperatingProfile profile;
  profile.name = "small";
  profile.detector = {0.01, 0.1, 0.5};
  profile.controls = *NamedControls("static");
  SliceBinding slice;
  slice.elements = 8;
  slice.is_candidate = true;
  slice.role = TensorRole::kEncoder;
  return PrecisionController(profile, PrecisionBinding("net", {}, {{"fc", 8, {slice}}}));
}

TEST(AuditFileTest, SaysWhatWasDecidedAndWhatBecameOfIt) {
  PrecisionController controller = Controller();
  controller.BeginRound();
  RouteAudit audit(1);
  audit.Record("fc", {{8, true, PrecisionRoute::kLowBit, PrecisionRoute::kLowBit}}, 5);
  const std::string json = AuditJson(audit, controller);
  for (const char* part :
       {R"("schema":1,"profile":"small","controls")", R"("bits_per_element":1)", R"("settings":"static","triggers":0)",
        R"("scope":"encoder","is_admitted":true)", R"("low_bit":1,"fallback":0,"plain":0,"mixed":0,"violations":0)",
        R"("traffic_ratio":0.03125,"sent_bytes":5)", R"("keys":[{"key":"fc",)"}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
}

TEST(AuditFileTest, IsWrittenInPlaceOfAnOlderOne) {
  const std::string path = testing::TempDir() + "/audit.json";
  ASSERT_TRUE(WriteRunFile(path, "a longer text than the next").ok());
  ASSERT_TRUE(WriteRunFile(path, "{}\n").ok());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "{}\n");
}

TEST(AuditFileTest, SaysWhyItCannotBeWritten) {
  const absl::Status status = WriteRunFile("/no/such/folder/audit.json", "{}");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "/no/such/folder/audit.json: cannot be written: No such file or directory");
}

}  // namespace
}  // namespace banyan
