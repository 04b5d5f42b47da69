#include "tools/emulated_wan.h"

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

EmulatedWanOptions Options() {
  EmulatedWanOptions options;
  options.banyan_program = "/bin/banyan";
  options.overlay = "o.yaml";
  options.directory = "/tmp/d";
  options.log_path = ::testing::TempDir() + "/log";
  return options;
}

TEST(EmulatedWanTest, TellsTheCommandWhatToEmulate) {
  EmulatedWanOptions options = Options();
  EXPECT_EQ(absl::StrJoin(WanUpArguments(options), " "),
            "/bin/banyan wan up o.yaml --foreground --dir /tmp/d --seed 1");
  options.seed = 7;
  options.congestion = "bbr";
  options.trim_bytes = 82;
  options.redraw_seconds = 180;
  EXPECT_EQ(absl::StrJoin(WanUpArguments(options), " "),
            "/bin/banyan wan up o.yaml --foreground --dir /tmp/d --seed 7 --congestion bbr --trim-bytes 82 "
            "--redraw-interval 180 --redraw-rates 20-155");
}

TEST(EmulatedWanTest, RunsProgramsInNodes) {
  EXPECT_EQ(absl::StrJoin(WanExecArguments("/bin/banyan", "/tmp/d", "n3", {"ip", "address"}), " "),
            "/bin/banyan wan exec n3 --dir /tmp/d -- ip address");
}

TEST(EmulatedWanTest, SaysWhyItDoesNotStart) {
  EmulatedWanOptions options = Options();
  options.banyan_program = "/no/such/program";
  const absl::Status status = EmulatedWan::Start(options).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot start /no/such/program"));
}

}  // namespace
}  // namespace banyan
