#include <fstream>
#include <memory>

#include "access/key_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/work_directory.h"
#include "tools/doctor/host_checks.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class KeyCheckTest : public testing::Test {
 protected:
  KeyCheckTest() {
    overlay_.nodes.resize(2);
    overlay_.nodes[0].name = "n1";
    overlay_.nodes[1].name = "n2";
  }

  // Makes a key called `name`, and returns the public one.
  std::string Make(const std::string& name) {
    const KeyFile file{MakeCurveKeys(), {}};
    EXPECT_TRUE(WriteKeyFile(folder_->path() + "/" + name + ".key", file, name).ok());
    return file.keys.public_key;
  }
  void Expect(const std::string& site, bool ok, const std::string& text) {
    const CheckResult result = CheckKey(overlay_, site, {"/nonexistent", folder_->path()});
    EXPECT_EQ(result.name, "key");
    EXPECT_EQ(result.ok, ok) << result.text;
    EXPECT_THAT(result.text, HasSubstr(text));
  }

  const std::unique_ptr<WorkDirectory> folder_ = *WorkDirectory::Make("banyan-test");
  OverlayConfig overlay_;
};

TEST_F(KeyCheckTest, KnowsTheRightOneFromOthers) {
  Expect("n1", true, "the overlay lists none for n1: reached from other machines, its daemon starts with --insecure");
  overlay_.nodes[0].public_key = std::string(40, 'x');
  Expect("n1", false, "there is no n1.key in /nonexistent, ");
  const std::string made = Make("n1");
  Expect("n1", false, "n1.key is not that which the overlay lists for n1; bring the right one, or list this one");
  overlay_.nodes[1].public_key = made;
  Expect("n1", false, "is not that which the overlay lists for n1, but that of n2");
  overlay_.nodes[0].public_key = made;
  Expect("n1", true, "n1.key is that which the overlay lists");
  overlay_.scheduler.public_key = Make("scheduler");
  Expect("scheduler", true, "scheduler.key is that which");
  std::ofstream(folder_->path() + "/n2.key") << "no key";
  Expect("n2", false, "n2.key");
}

}  // namespace
}  // namespace banyan
