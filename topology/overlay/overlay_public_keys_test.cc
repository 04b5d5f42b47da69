#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/access_list.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

// Of the right form; `last` tells one from another.
std::string Key(char last) { return std::string("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf") + last; }

std::string Document(const std::string& scheduler, const std::string& first, const std::string& second,
                     const std::string& rest = "") {
  const auto field = [](const std::string& key) {
    return key.empty() ? std::string() : absl::StrCat(", public_key: '", key, "'");
  };
  return absl::StrCat("scheduler: {address: tcp://10.0.0.1:7700", field(scheduler), "}\nnodes:\n  - {name: n1",
                      field(first), "}\n  - {name: n2", field(second), "}\n", rest);
}

std::string ErrorOf(const std::string& document) {
  return std::string(ParseOverlay(document, "overlay.yaml").status().message());
}

TEST(OverlayKeysTest, ReadsTheKeysOfAll) {
  const absl::StatusOr<OverlayConfig> overlay =
      ParseOverlay(Document(Key('0'), Key('1'), Key('2'),
                            absl::StrCat("operators: [{name: ada, public_key: '", Key('3'), "'}]\n",
                                         "observers:\n  - name: bob\n    public_key: '", Key('4'), "'\n")),
                   "overlay.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status();
  EXPECT_EQ(overlay->scheduler.public_key, Key('0'));
  EXPECT_EQ(overlay->nodes[1].public_key, Key('2'));
  ASSERT_EQ(overlay->operators.size(), 1u);
  EXPECT_EQ(overlay->operators[0].name, "ada");
  EXPECT_EQ(overlay->operators[0].public_key, Key('3'));
  ASSERT_EQ(overlay->observers.size(), 1u);
  EXPECT_EQ(overlay->observers[0].public_key, Key('4'));
}

TEST(OverlayKeysTest, KeysAreOfAllOrOfNobody) {
  EXPECT_EQ(ErrorOf(Document("", "", "")), "");
  EXPECT_THAT(ErrorOf(Document("", Key('1'), Key('2'))), HasSubstr("scheduler.public_key is missing"));
  EXPECT_THAT(ErrorOf(Document(Key('0'), Key('1'), "")), HasSubstr("node 'n2' has no public_key"));
  EXPECT_THAT(ErrorOf(Document(Key('0'), Key('1'), "")), HasSubstr("banyan keygen --all"));
}

TEST(OverlayKeysTest, NoTwoHaveTheSame) {
  EXPECT_THAT(ErrorOf(Document(Key('0'), Key('1'), Key('1'))), HasSubstr("node 'n1' and node 'n2' have the same"));
  EXPECT_THAT(ErrorOf(Document(Key('0'), Key('1'), Key('2'),
                               absl::StrCat("operators: [{name: ada, public_key: '", Key('0'), "'}]\n"))),
              HasSubstr("the scheduler and operator 'ada' have the same"));
}

TEST(OverlayKeysTest, RefusesOtherForms) {
  EXPECT_THAT(ErrorOf(Document("short", Key('1'), Key('2'))), HasSubstr("40 characters of Z85"));
  EXPECT_THAT(ErrorOf(Document("", "", "", "operators: ada\n")), HasSubstr("operators: expected a list such as"));
  EXPECT_THAT(ErrorOf(Document("", "", "", "observers: [{name: bob}]\n")), HasSubstr("public_key"));
  EXPECT_FALSE(IsKeyText(std::string(39, 'a') + " "));
  EXPECT_FALSE(IsKeyText(std::string(41, 'a')));
  EXPECT_TRUE(IsKeyText(std::string(40, '#')));
}

}  // namespace
}  // namespace banyan
