#include "tools/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() : line_("banyan try", "Tries things.", "banyan try a.yaml --rounds 3") {
    line_.Positional("FILE", "what to read", &file_);
    line_.Switch("json", "print JSON", &json_);
    line_.Text("root", "NAME", "the root", &root_);
    line_.Text("key", "FILE", "the key", &key_);
    line_.Choice("planner", {"fapt", "star"}, "how to plan", &planner_);
    line_.Integer("rounds", "N", "how many", 1, 100, &rounds_);
    line_.Number("rate", "R", "how fast", 0, 1, &rate_);
  }

  std::optional<int> Parse(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    return line_.Parse(arguments, out_, err_);
  }

  std::string file_;
  bool json_ = false;
  std::optional<std::string> root_;
  std::string planner_ = "fapt";
  std::string key_ = "own.key";
  int64_t rounds_ = 1;
  double rate_ = 0.5;
  CommandLine line_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(CommandLineTest, BothWaysOfValuesInAnyOrder) {
  EXPECT_EQ(Parse({"--rounds=7", "a.yaml", "--rate", "0.25", "--json", "--root", "n1", "--planner=star"}),
            std::nullopt);
  EXPECT_EQ(file_, "a.yaml");
  EXPECT_EQ(rounds_, 7);
  EXPECT_EQ(rate_, 0.25);
  EXPECT_TRUE(json_);
  EXPECT_EQ(root_, "n1");
  EXPECT_EQ(planner_, "star");
}

TEST_F(CommandLineTest, AnEmptyTextIsNotTakenForNone) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"a", "--key", ""}, {"a", "--key="}}) {
    EXPECT_EQ(Parse(arguments), kExitUsage);
    EXPECT_THAT(err_.str(), HasSubstr("--key: expected FILE, or no --key at all, got ''"));
  }
}

TEST_F(CommandLineTest, DefaultsStay) {
  EXPECT_EQ(Parse({"a.yaml"}), std::nullopt);
  EXPECT_FALSE(json_);
  EXPECT_FALSE(root_.has_value());
  EXPECT_EQ(rounds_, 1);
}

TEST_F(CommandLineTest, AVariableStandsForAFlagThatIsNotThere) {
  std::map<std::string, std::string> variables = {
      {"BANYAN_ROUNDS", "7"}, {"BANYAN_KEY", "from.key"}, {"BANYAN_RATE", ""}, {"BANYAN_DRY_RUN", "0"}};
  CommandLine::SetEnvironment([&variables](const std::string& name) { return variables[name]; });
  bool is_dry = false;
  line_.Switch("dry-run", "change nothing", &is_dry);
  line_.Exclude("root", "key");
  line_.Needs("json", "rounds");
  EXPECT_EQ(Parse({"a.yaml", "--json"}), std::nullopt) << err_.str();
  EXPECT_EQ(rounds_, 7);
  EXPECT_EQ(key_, "from.key");
  EXPECT_EQ(rate_, 0.5) << "an empty one is none";
  key_ = "own.key";
  EXPECT_EQ(Parse({"a.yaml", "--rounds", "9", "--root", "n1"}), std::nullopt) << err_.str();
  EXPECT_EQ(rounds_, 9);
  EXPECT_EQ(key_, "own.key") << "a flag that is there excludes it";
  EXPECT_FALSE(is_dry);
  variables["BANYAN_DRY_RUN"] = "yes";
  EXPECT_EQ(Parse({"a.yaml"}), std::nullopt) << err_.str();
  EXPECT_TRUE(is_dry);
  variables["BANYAN_DRY_RUN"] = "perhaps";
  EXPECT_EQ(Parse({"a.yaml"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("banyan try: BANYAN_DRY_RUN: expected 1 or 0, got 'perhaps'"));
  variables["BANYAN_ROUNDS"] = "many";
  EXPECT_EQ(Parse({"a.yaml"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("banyan try: BANYAN_ROUNDS: expected a whole number"));
  EXPECT_EQ(Parse({"--help"}), kExitSuccess);
  CommandLine::SetEnvironment(nullptr);
}

TEST_F(CommandLineTest, FlagsThatAreTypedMostHaveALetter) {
  EXPECT_EQ(Parse({"-j", "a.yaml", "-k", "my.key", "-p", "star"}), std::nullopt) << err_.str();
  EXPECT_TRUE(json_);
  EXPECT_EQ(key_, "my.key");
  EXPECT_EQ(planner_, "star");
  EXPECT_THAT(line_.Help(), HasSubstr("\n  -k, --key FILE "));
  EXPECT_EQ(Parse({"a.yaml", "-k"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--key needs a value: FILE"));
  EXPECT_EQ(Parse({"a.yaml", "-k", "my.key", "--key", "other.key"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--key is given twice"));
}

TEST_F(CommandLineTest, AFormerNameIsTakenWithAWarning) {
  line_.FormerName("rounds", "turns");
  EXPECT_EQ(Parse({"a.yaml", "--turns=7"}), std::nullopt);
  EXPECT_EQ(rounds_, 7);
  EXPECT_EQ(err_.str(), "banyan try: --turns is now --rounds\n");
  double megabytes = 0;
  line_.Megabytes("model-size", "of the model", 1, 1000, &megabytes);
  line_.FormerName("model-size", "mbytes", "MB");
  EXPECT_EQ(Parse({"a.yaml", "--mbytes", "46"}), std::nullopt);
  EXPECT_EQ(megabytes, 46) << "with the unit of old";
  EXPECT_EQ(Parse({"a.yaml", "--model-size", "46"}), kExitUsage);
  EXPECT_EQ(Parse({"a.yaml", "--turns=7", "--rounds=8"}), kExitUsage);
  EXPECT_THAT(line_.Help(), ::testing::Not(HasSubstr("turns")));
}

TEST_F(CommandLineTest, AVariableCountsOnlyWhereItsFlagMay) {
  CommandLine::SetEnvironment(
      [](const std::string& name) { return name == "BANYAN_PLANNER" ? std::string("star") : std::string(); });
  line_.Needs("planner", "rate");
  EXPECT_EQ(Parse({"a.yaml"}), std::nullopt) << err_.str();
  EXPECT_EQ(planner_, "fapt");
  EXPECT_EQ(Parse({"a.yaml", "--rate=1"}), std::nullopt) << err_.str();
  EXPECT_EQ(planner_, "star");
  CommandLine::SetEnvironment(nullptr);
}

TEST_F(CommandLineTest, WritesItsManualPage) {
  EXPECT_EQ(Parse({kManual, "tries things"}), kExitSuccess);
  EXPECT_THAT(out_.str(), ::testing::StartsWith(".TH BANYAN\\-TRY 1 "));
  EXPECT_THAT(out_.str(), HasSubstr("\nbanyan\\-try \\- tries things\n"));
  EXPECT_THAT(out_.str(), HasSubstr("\n.TP\n.B \\-j, \\-\\-json\nprint JSON\n"));
}

TEST_F(CommandLineTest, TwoDashesEndTheFlags) {
  EXPECT_EQ(Parse({"--", "--json"}), std::nullopt);
  EXPECT_EQ(file_, "--json");
}

TEST_F(CommandLineTest, HelpGoesToTheOutput) {
  EXPECT_EQ(Parse({"--rounds", "nonsense", "--help"}), kExitSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("usage: banyan try FILE [--json]"));
  EXPECT_THAT(out_.str(), HasSubstr("example: banyan try a.yaml"));
  EXPECT_THAT(out_.str(), HasSubstr("--planner fapt|star"));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CommandLineTest, TellsItsVersion) {
  EXPECT_EQ(Parse({"--rounds", "nonsense", "--version"}), kExitSuccess);
  EXPECT_THAT(out_.str(), HasSubstr("banyan "));
  EXPECT_THAT(out_.str(), HasSubstr("(protocol "));
}

TEST_F(CommandLineTest, CountsMayHavePrefixes) {
  EXPECT_EQ(Parse({"a", "--rounds", "1e2"}), std::nullopt);
  EXPECT_EQ(rounds_, 100);
  EXPECT_EQ(Parse({"a", "--rounds", "1k"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--rounds: expected a whole number from 1 to 100, got '1k'"));
}

TEST_F(CommandLineTest, ArgumentsMayBeOptionalAndFlagsRepeated) {
  std::string file = "default.yaml";
  std::vector<std::string> words;
  CommandLine line("banyan try", "Tries.", "banyan try");
  line.OptionalPositional("FILE", "a file", &file);
  line.Repeated("word", "W", "a word", [&words](absl::string_view word) {
    words.emplace_back(word);
    return absl::OkStatus();
  });
  EXPECT_EQ(line.Parse({"--word", "a", "--word=b"}, out_, err_), std::nullopt);
  EXPECT_EQ(file, "default.yaml");
  EXPECT_EQ(words, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(line.Parse({"mine.yaml"}, out_, err_), std::nullopt);
  EXPECT_EQ(file, "mine.yaml");
  EXPECT_THAT(line.Help(), HasSubstr("usage: banyan try [FILE] [--word W]..."));
}

TEST_F(CommandLineTest, TimesAndRatesMayHaveUnits) {
  double seconds = 0, milliseconds = 0, mbps = 0;
  CommandLine line("banyan try", "Tries.", "banyan try");
  line.Time("s", "S", "a time", absl::Seconds(1), 0.1, 3600, &seconds);
  line.Time("ms", "MS", "a time", absl::Milliseconds(1), 0, 1e6, &milliseconds);
  line.Rate("rate", "R", "a rate", 0.001, 1e6, &mbps);
  EXPECT_EQ(line.Parse({"--s=2m", "--ms", "0.5s", "--rate", "1Gbit/s"}, out_, err_), std::nullopt);
  EXPECT_EQ(seconds, 120);
  EXPECT_EQ(milliseconds, 500);
  EXPECT_EQ(mbps, 1000);
  EXPECT_EQ(line.Parse({"--s=5", "--ms", "0.02", "--rate", "100"}, out_, err_), std::nullopt);
  EXPECT_EQ(seconds, 5);
  EXPECT_EQ(milliseconds, 20);
  EXPECT_EQ(mbps, 100);
  for (const char* bad : {"--s=2h", "--s=0", "--s=-1s", "--s=soon", "--rate=0", "--rate=5s"}) {
    EXPECT_EQ(line.Parse({bad}, out_, err_), kExitUsage) << bad;
  }
  EXPECT_THAT(err_.str(), HasSubstr("--s: expected a time from 100ms to 1h, got '2h'"));
}

TEST_F(CommandLineTest, FlagsThatSayNothingAreRefused) {
  line_.Needs("rate", "rounds");
  line_.Exclude("json", "root");
  EXPECT_EQ(Parse({"a", "--rate=1"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--rate requires --rounds; add it, or leave --rate out"));
  EXPECT_EQ(Parse({"a", "--rate=1", "--rounds=2"}), std::nullopt);
  EXPECT_EQ(Parse({"a", "--root=n1", "--json"}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--json and --root exclude each other"));
  std::string file, key;
  CommandLine line("banyan try", "Tries.", "banyan try");
  line.OptionalPositional("FILE", "a file", &file);
  line.Text("key", "FILE", "its key", &key);
  line.Needs("key", "FILE");
  EXPECT_EQ(line.Parse({"--key", "k", "a.yaml"}, out_, err_), std::nullopt);
  EXPECT_EQ(line.Parse({"--key", "k"}, out_, err_), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--key requires FILE; add it, or leave --key out"));
}

TEST_F(CommandLineTest, HelpFitsATerminal) {
  line_.Text("a-flag-with-a-long-name", "AND-A-LONG-VALUE", std::string(200, 'w').replace(70, 1, " "), &root_);
  line_.Choice("kind", {"one", "two"}, "words that go on and on and need more than one line of the text of the help",
               &planner_);
  for (const absl::string_view row : absl::StrSplit(line_.Help(), '\n')) {
    if (absl::StrContains(row, "www")) continue;  // one long word
    EXPECT_LE(row.size(), 80u) << row;
  }
}

TEST_F(CommandLineTest, UsageErrors) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "missing argument FILE"},
      {{"a", "b"}, "unexpected argument 'b'"},
      {{"a", "\xe2\x80\x94-json"}, "-json'; flags begin with two hyphens, --"},
      {{"a", "--jsn"}, "unknown flag --jsn; did you mean '--json'?"},
      {{"a", "-s"}, "unknown flag -s"},
      {{"a", "--rounds"}, "--rounds needs a value: N"},
      {{"a", "--rounds=x"}, "--rounds: expected a whole number from 1 to 100, got 'x'"},
      {{"a", "--rounds", "0"}, "got '0'"},
      {{"a", "--rounds=99999999999999999999"}, "expected a whole number"},
      {{"a", "--rate", "nan"}, "expected a number"},
      {{"a", "--json=yes"}, "--json takes no value"},
      {{"a", "--json", "--json"}, "--json is given twice"},
      {{"a", "--planner", "fatp"}, "did you mean 'fapt'?"}};
  for (const auto& [arguments, message] : cases) {
    EXPECT_EQ(Parse(arguments), kExitUsage) << message;
    EXPECT_THAT(err_.str(), HasSubstr(message));
    EXPECT_THAT(err_.str(), HasSubstr("Try 'banyan try --help'."));
    EXPECT_EQ(out_.str(), "");
  }
}

}  // namespace
}  // namespace banyan
