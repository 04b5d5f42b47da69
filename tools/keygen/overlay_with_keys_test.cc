#include <string>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/keygen/job_keys.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

std::string Key(char c) { return std::string(40, c); }

const JobPublicKeys& Keys() {
  static const JobPublicKeys& keys =
      *new JobPublicKeys{Key('s'), {{"n1", Key('1')}, {"n2", Key('2')}}, Key('o'), Key('w')};
  return keys;
}

void ExpectAllKeys(const std::string& text) {
  const absl::StatusOr<std::string> with = WithPublicKeys(text, "overlay.yaml", Keys());
  ASSERT_TRUE(with.ok()) << with.status() << "\n" << text;
  const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(*with, "overlay.yaml");
  ASSERT_TRUE(overlay.ok()) << overlay.status() << "\n" << *with;
  EXPECT_EQ(overlay->scheduler.public_key, Key('s'));
  EXPECT_EQ(overlay->nodes[0].public_key, Key('1'));
  EXPECT_EQ(overlay->nodes[1].public_key, Key('2'));
  EXPECT_EQ(overlay->operators[0].public_key, Key('o'));
  EXPECT_EQ(overlay->observers[0].public_key, Key('w'));
}

TEST(OverlayWithKeysTest, EveryFormOfAFileTakesThem) {
  ExpectAllKeys(
      "scheduler: {address: tcp://127.0.0.1:1}\n"
      "nodes:\n  - {name: n1, address: tcp://127.0.0.1:2}\n  - {name: n2, address: tcp://127.0.0.1:3}\n");
  ExpectAllKeys(
      "nodes:\n- name: n1\n  address: tcp://127.0.0.1:2\n-   address: tcp://127.0.0.1:3\n    name: n2\n"
      "scheduler:\n  # here\n\n    address: tcp://127.0.0.1:1");
  ExpectAllKeys(
      "scheduler: {address: tcp://127.0.0.1:1}\n"
      "nodes: [{name: n1, address: tcp://127.0.0.1:2}, {name: n2, address: tcp://127.0.0.1:3}]\n");
}

TEST(OverlayWithKeysTest, CommentsStay) {
  const absl::StatusOr<std::string> with = WithPublicKeys(
      "# ours\nscheduler: {address: tcp://127.0.0.1:1}  # Berlin\nnodes:\n  - {name: n1, address: tcp://127.0.0.1:2}\n"
      "  - {name: n2, address: tcp://127.0.0.1:3}  # far\n",
      "overlay.yaml", Keys());
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_THAT(*with, HasSubstr("# ours\n"));
  EXPECT_THAT(*with, HasSubstr("}  # Berlin\n"));
  EXPECT_THAT(*with, HasSubstr("}  # far\n"));
}

TEST(OverlayWithKeysTest, RefusesWhatHasKeysOrIsOfNoFormThatTakesThem) {
  const std::string plain =
      "scheduler: {address: tcp://127.0.0.1:1}\nnodes: [{name: n1, address: tcp://127.0.0.1:2}, {name: n2, address: "
      "tcp://127.0.0.1:3}]\n";
  const std::string once = *WithPublicKeys(plain, "overlay.yaml", Keys());
  EXPECT_THAT(std::string(WithPublicKeys(once, "overlay.yaml", Keys()).status().message()),
              HasSubstr("has keys already"));
  EXPECT_THAT(std::string(WithPublicKeys("nodes: 5\n", "overlay.yaml", Keys()).status().message()), HasSubstr("nodes"));
  EXPECT_THAT(
      std::string(WithPublicKeys("{" + plain.substr(0, plain.find('\n')) + ", " +
                                     plain.substr(plain.find('\n') + 1, plain.size() - plain.find('\n') - 2) + "}",
                                 "overlay.yaml", Keys())
                      .status()
                      .message()),
      HasSubstr("of this form"));
}

}  // namespace
}  // namespace banyan
