// Holds the tables of docs/reference/overlay.md against those of the keys. A failure prints what the tables should say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/compression/ratio_numbers.h"
#include "topology/overlay/overlay_reference.h"

namespace banyan {
namespace {

constexpr char kReference[] = "docs/reference/overlay.md";

// The keys of the controllers' numbers, whose table says what each controller makes of them.
std::set<std::string> ControllerKeys() {
  std::set<std::string> keys;
  for (const RatioControllerKind kind : AllRatioControllerKinds()) {
    for (const RatioNumber& number : NumbersOf(kind)) keys.insert(absl::StrCat("compression.", number.name));
  }
  return keys;
}

TEST(OverlayDocumentTest, ReferenceSaysWhatTheTableOfKeysSays) {
  std::vector<std::string> documented;
  std::set<std::string> of_controllers;
  std::ifstream file(kReference);
  const std::set<std::string> controller_keys = ControllerKeys();
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "| `")) continue;
    const std::string key = line.substr(3, line.find('`', 3) - 3);
    if (controller_keys.contains(key)) {
      EXPECT_TRUE(of_controllers.insert(key).second) << key << " has two rows";
    } else {
      documented.push_back(line);
    }
  }
  std::vector<std::string> rows;
  for (const OverlayKeyText& key : DescribeOverlayKeys()) {
    EXPECT_NE(key.meaning, "") << key.path << " is a list whose entries have no rows there, or has no meaning";
    rows.push_back(absl::StrCat("| `", key.path, "` | ", key.takes, " | ", key.value, " | ",
                                key.is_live ? "live | " : "| ", key.meaning, " |"));
  }
  EXPECT_EQ(absl::StrJoin(documented, "\n"), absl::StrJoin(rows, "\n")) << "the rows of " << kReference;
  EXPECT_EQ(of_controllers, controller_keys) << "these keys of controllers have a row in " << kReference;
}

}  // namespace
}  // namespace banyan
