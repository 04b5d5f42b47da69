// Every target takes its seeds, and survives what comes of them by small changes. The fuzzer itself goes further.
#include "fuzz/fuzz_target.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "core/random.h"

namespace banyan {
namespace {

int Mutations() { return std::getenv("BANYAN_LONG") == nullptr ? 500 : 100'000; }

class FuzzTargetTest : public testing::TestWithParam<FuzzTarget> {
 protected:
  std::string Spoilt(std::string bytes) {
    for (int64_t edits = random_.Between(1, 4); edits > 0; --edits) {
      const size_t at = bytes.empty() ? 0 : random_.Below(bytes.size());
      switch (bytes.empty() ? 2 : random_.Below(4)) {
        case 0:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random_.Below(8)));
          break;
        case 1:
          bytes.erase(at, random_.Below(9));
          break;
        case 2:
          bytes.insert(at, 1, static_cast<char>(random_.Next()));
          break;
        default:
          bytes.insert(random_.Below(bytes.size()), bytes.substr(at, random_.Below(9)));
      }
    }
    return bytes;
  }

  Random random_{1};
};

TEST_P(FuzzTargetTest, TakesItsSeeds) {
  const std::vector<std::string> seeds = GetParam().seeds();
  EXPECT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) EXPECT_TRUE(GetParam().run(seed)) << seed;
}

TEST_P(FuzzTargetTest, RefusesAndSurvivesWhatIsSpoilt) {
  const std::vector<std::string> seeds = GetParam().seeds();
  int refused = 0;
  for (int i = 0; i < Mutations(); ++i) {
    refused += GetParam().run(Spoilt(seeds[random_.Below(seeds.size())])) ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
}

TEST(FuzzTargetsTest, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const FuzzTarget& target : FuzzTargets()) {
    EXPECT_TRUE(names.insert(target.name).second) << target.name;
    EXPECT_EQ(FindFuzzTarget(target.name), &target);
  }
  EXPECT_EQ(FindFuzzTarget("nobody"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, FuzzTargetTest, testing::ValuesIn(FuzzTargets()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

}  // namespace
}  // namespace banyan
