#include "tools/replay/replay_command.h"

#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Outcome Replay(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = ReplayCommand(arguments, out, err);
  return {code, out.str(), err.str()};
}

// That it replays is for tests/replay_job_test.cc, with nodes.
TEST(ReplayCommandTest, RefusesWhatItCannotDo) {
  EXPECT_EQ(Replay({}).code, 2);
  EXPECT_THAT(Replay({}).err, HasSubstr("--transcript"));
  EXPECT_EQ(Replay({"--transcript", "a", "--listen", "here"}).code, 2);
  EXPECT_THAT(Replay({"--help"}).out, HasSubstr("banyan replay --transcript"));
}

TEST(ReplayCommandTest, NamesTheFileThatIsNoTranscript) {
  const Outcome none = Replay({"--transcript", "/none/n1.transcript"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("/none/n1.transcript"));
}

}  // namespace
}  // namespace banyan
