// What holds for every command: its help, its version, and what it says to arguments that cannot be.
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/command_table.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kInternet2[] = "deploy/topologies/internet2.yaml";

using Words = std::vector<std::string>;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Outcome Banyan(const Words& arguments) {
  std::ostringstream out, err;
  const int code = CommandTable("banyan", "Trains.", ProgramCommands("")).Run(arguments, out, err);
  return {code, out.str(), err.str()};
}

Words With(Words words, const std::string& more) {
  words.push_back(more);
  return words;
}

struct OneCommand {
  Words words;       // such as {"wan", "up"}
  std::string help;  // as it answers --help
};

// Every command that is no table of others.
std::vector<OneCommand> Commands() {
  std::vector<Words> left;
  for (const Command& command : ProgramCommands("")) left.push_back({command.name});
  std::vector<OneCommand> commands;
  while (!left.empty()) {
    const Words words = std::move(left.back());
    left.pop_back();
    const std::string help = Banyan(With(words, "--help")).out;
    if (!absl::StrContains(help, "COMMAND [ARGUMENTS]")) {
      commands.push_back({words, help});
      continue;
    }
    for (const absl::string_view row : absl::StrSplit(help, '\n')) {
      if (!absl::StartsWith(row, "  ") || absl::StartsWith(row, "   ")) continue;
      const std::string name = Words(absl::StrSplit(row.substr(2), ' '))[0];
      if (name != "completion") left.push_back(With(words, name));
    }
  }
  EXPECT_GT(commands.size(), 30u);
  return commands;
}

std::string OneLine(absl::string_view text) {
  return absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar(" \n\\"), absl::SkipEmpty()), " ");
}

TEST(AllCommandsTest, HelpTellsOfEachFlagAndShowsAnExample) {
  for (const auto& [words, help] : Commands()) {
    const std::string name = absl::StrCat("banyan ", absl::StrJoin(words, " "));
    SCOPED_TRACE(name);
    EXPECT_EQ(Banyan(With(words, "--help")).code, 0);
    EXPECT_EQ(Banyan(With(words, "--help")).err, "");
    EXPECT_EQ(Banyan(With(words, "-h")).out, help);
    EXPECT_THAT(help, StartsWith("usage: " + name));
    const size_t usage_end = help.find("\n\n"), example = help.find("\n\nexample: ");
    ASSERT_NE(example, std::string::npos) << help;
    EXPECT_THAT(OneLine(help.substr(example)), HasSubstr(name));
    for (absl::string_view word : absl::StrSplit(OneLine(help.substr(0, usage_end)), ' ')) {
      if (absl::StartsWith(word, "[--")) {
        const std::string flag = absl::StrReplaceAll(word, {{"[", ""}, {"]", ""}, {".", ""}});
        EXPECT_THAT(help.substr(usage_end, example - usage_end), HasSubstr(flag + " "));
      }
    }
    for (const absl::string_view row : absl::StrSplit(help, '\n')) EXPECT_LE(row.size(), 80u) << row;
  }
}

TEST(AllCommandsTest, HelpAndVersionAreAskedForByEitherWord) {
  for (const auto& [words, help] : Commands()) {
    Words question = words;
    question.insert(question.begin(), "help");
    EXPECT_EQ(Banyan(question).out, help);
    EXPECT_EQ(Banyan(With(words, "--version")).out, Banyan({"version"}).out);
  }
}

TEST(AllCommandsTest, AFlagThatIsNoneIsRefusedWithAHint) {
  for (const auto& [words, help] : Commands()) {
    const std::string name = absl::StrCat("banyan ", absl::StrJoin(words, " "));
    const Outcome refused = Banyan(With(words, "--hepl"));
    EXPECT_EQ(refused.code, 2) << name;
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(refused.err,
              absl::StrCat(name, ": unknown flag --hepl; did you mean '--help'?\nTry '", name, " --help'.\n"));
  }
}

TEST(AllCommandsTest, AnAddressOfASchedulerIsOne) {
  int asking = 0;
  for (const auto& [words, help] : Commands()) {
    if (!absl::StrContains(help, "[--scheduler ")) continue;
    ++asking;
    const Outcome refused = Banyan(With(With(words, "--scheduler"), "10.0.0.1:7700"));
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("--scheduler: expected an address"));
    EXPECT_THAT(refused.err, HasSubstr("write tcp://10.0.0.1:7700"));
  }
  EXPECT_GE(asking, 7);
}

// Words apart by spaces, and what the error says.
using Mistakes = std::vector<std::pair<std::string, std::string>>;

void ExpectRefused(int code, const Mistakes& mistakes) {
  for (const auto& [arguments, message] : mistakes) {
    const Outcome refused = Banyan(absl::StrSplit(arguments, ' '));
    EXPECT_EQ(refused.code, code) << arguments;
    EXPECT_EQ(refused.out, "") << arguments;
    EXPECT_THAT(refused.err, HasSubstr(message)) << arguments;
  }
}

TEST(AllCommandsTest, WhatIsMissingIsNamed) {
  ExpectRefused(2, {{"plna", "did you mean 'plan'?"},
                    {"help plna", "did you mean 'plan'?"},
                    {"scheduler", "missing argument OVERLAY.yaml"},
                    {"node --scheduler tcp://127.0.0.1:7700", "expected --name"},
                    {"node --name n1", "expected --scheduler or the variable BANYAN_SCHEDULER"},
                    {"status", "expected --scheduler or the variable BANYAN_SCHEDULER"},
                    {"stop", "expected --scheduler or the variable BANYAN_SCHEDULER"},
                    {"trace a.json", "expected --scheduler or the variable BANYAN_SCHEDULER"},
                    {"remove", "missing argument NODE"},
                    {"reconfigure", "missing argument OVERLAY.yaml"},
                    {"replay", "expected --transcript FILE"},
                    {"view", "missing argument FILE"},
                    {"calibrate", "expected --healthy"},
                    {"preflight a.yaml", "expected --profile and --binding"},
                    {"keygen", "missing argument NAME"},
                    {"chaos", "expected at least one kind of fault"},
                    {"plan", "missing argument OVERLAY.yaml, or --from-measurements FILE"},
                    {"sim", "missing argument OVERLAY.yaml"},
                    {"sim-figures", "missing argument OUT_DIR"},
                    {"bench wan", "missing argument OVERLAY.yaml"},
                    {"bench loopbck", "did you mean 'loopback'?"},
                    {"wan upp", "did you mean 'up'?"},
                    {"wan up", "missing argument OVERLAY.yaml"},
                    {"wan exec n1 --", "expected -- and a program at the end"},
                    {"wan rate n1 n2", "expected --rate"},
                    {"wan cut n1", "missing argument TO"},
                    {"wan heal", "missing argument FROM"},
                    {"wan traffic n1 n2", "expected --rate"}});
}

TEST(AllCommandsTest, WhatIsWrongIsNamed) {
  ExpectRefused(2,
                {{"scheduler a.yaml --listen 127.0.0.1:7700", "--listen: expected an address of the form tcp://"},
                 {"status --scheduler tcp://127.0.0.1", "the port is missing"},
                 {"status --timeout 5MB", "--timeout: expected a time"},
                 {"veto --scope=", "--scope: expected a name, got nothing"},
                 {"replay --transcript a --listen here", "--listen: expected an address"},
                 {"view a --speed 0", "--speed: expected a number from 0.01 to 10000, got '0'"},
                 {"view a --http here", "--http: expected an address"},
                 {"calibrate --healthy a.txt --harmed b.txt", "such as run.txt:400, got 'b.txt'"},
                 {"keygen no/name", "NAME: expected a name"},
                 {"keygen n1 --scheduler-key short", "--scheduler-key: expected 40 characters of Z85"},
                 {"doctor --max-offset -1", "--max-offset: expected a time"},
                 {"chaos --kill-every 15", "expected a time above 0 with its unit, such as 15s, 1m30s or 500ms"},
                 {"chaos --kill-every 0s", "--kill-every: expected a time above 0"},
                 {"chaos --kill-every -1s", "--kill-every: expected a time above 0"},
                 {"chaos --kill-every soon", "got 'soon'"},
                 {"chaos --kill-every inf", "got 'inf'"},
                 {"chaos --kill-every 1s --cut all", "--cut: unknown value 'all'; known are either, both, one"},
                 {"chaos --kill-every 1s --kill-every 2s", "--kill-every is given twice"},
                 {"demo --rounds 0", "--rounds: expected a whole number from 1"},
                 {"demo --network lan", "did you mean 'wan'?"},
                 {"demo --redraw-interval -1", "--redraw-interval: expected a time"},
                 {"demo --least-accuracy 87", "expected a number from 0 to 1, got '87'"},
                 {"bench loopback --nodes 1", "--nodes: expected a whole number from 2"},
                 {"bench loopback --rate 5MB", "--rate: expected a rate"},
                 {"bench accuracy --rate 200,5s", "commas between, such as 200,1Gbit/s, got '200,5s'"},
                 {"bench accuracy --scenario statc", "did you mean 'static'"},
                 {"bench accuracy --compression {\"codec\":tokp}", "--compression: YAML:1:10: compression.codec"},
                 {"bench wan x.yaml --peers gloo,open-mpi", "did you mean 'openmpi'?"},
                 {"bench wan x.yaml --model-size 0", "--model-size: expected a size from 0.001MB to 4000MB, got '0'"},
                 {"wan exec n1 true", "unexpected argument 'true'"},
                 {"wan traffic n1 n2 --rate 3 --protocol sctp", "known are udp, tcp"},
                 {"sim-faults --seeds 0", "--seeds: expected a whole number from 1"},
                 {"sim-faults --kind oak", "--kind: unknown value 'oak'"},
                 {"sim a.yaml --model-size 10Mb", "expected a size in bytes, such as 46MB, got '10Mb' in bits"},
                 {"sim a.yaml --tensors 4M,5s", "--tensors: expected a size"},
                 {"sim a.yaml --rounds 0", "--rounds: expected a whole number from 1"},
                 {"sim a.yaml --planner faptt", "did you mean 'fapt'?"},
                 {"sim a.yaml --prior some", "expected rates, none, wrong, wrong:SEED or nodes"}});
}

TEST(AllCommandsTest, NodesHaveNamesAndAddresses) {
  const std::string node = "node --name n1 --scheduler tcp://h:1 ";
  ExpectRefused(2,
                {{"node --name ! --scheduler tcp://h:1",
                  "--name: expected a name of 1 to 64 letters, digits, '-', '_' or '.', not with '-' or '.' first, "
                  "got '!'"},
                 {node + "--job " + std::string(65, 'j'), "--job: expected a name"},
                 {"node --name n1 --scheduler tcp://h:1,tcp://h:1", "--scheduler: expected different addresses"},
                 {node + "--listen tcp://h", "--listen: expected an address"},
                 {node + "--listen tcp://*:7701", "expected --advertise"},
                 {node + "--listen tcp://0.0.0.0:7701", "expected --advertise"},
                 {node + "--listen tcp://[::]:7701", "expected --advertise"},
                 {node + "--listen tcp://[0::0]:7701", "expected --advertise"},
                 {node + "--advertise tcp://h:0", "--advertise: expected an address"},
                 {node + "--worker-socket /run/n1", "--worker-socket: expected unix:/path, got '/run/n1'"},
                 {node + "--worker-socket unix:/run/" + std::string(120, 'n'), "a socket's path has 1 to 107 bytes"}});
}

TEST(AllCommandsTest, FlagsThatDoNotGoTogetherAreNamed) {
  const std::string plan = absl::StrCat("plan ", kInternet2), sim = absl::StrCat("sim ", kInternet2);
  ExpectRefused(2, {{"scheduler a.yaml --check --log-json", "--check and --log-json exclude each other"},
                    {"status --scheduler tcp://h:1 --record a.rec", "--record requires --watch"},
                    {"preflight a.yaml --propose ternary", "--propose requires --tensors"},
                    {"wan up a.yaml --redraw-rates 20-155", "--redraw-rates requires --redraw-interval"},
                    {"demo --network loopback --redraw-interval 5s", "has no effect with --network loopback"},
                    {plan + " --k 3", "--k: only the planner bkt has it"},
                    {plan + " --shares balanced", "--shares: only the planners fapt, custom have it"},
                    {sim + " --planner star --roots 3", "--roots: only the planners fapt, packed have it, not 'star'"},
                    {sim + " --redraw-fraction 0.5", "--redraw-fraction requires --redraw-interval"},
                    {sim + " --redraw-interval 3", "--redraw-interval requires --redraw-rates"},
                    {sim + " --redraw-interval 3 --redraw-rates 155-20", "expected two rates in Mbit/s, the lower one"},
                    {sim + " --model-size 12M --tensors 4M,4M", "make 8000000 bytes, --model-size says 12000000"},
                    {"sim - --changes -", "--changes: OVERLAY.yaml is standard input already"}});
}

// What an argument names, other than the argument itself, is a failure.
TEST(AllCommandsTest, FilesThatAreNotThereAreNamed) {
  constexpr char kNoFile[] = "/no/such.yaml: there is no such file; give the path of one";
  ExpectRefused(1, {{"scheduler /no/such.yaml", kNoFile},
                    {"reconfigure /no/such.yaml", kNoFile},
                    {"plan /no/such.yaml", kNoFile},
                    {"sim /no/such.yaml", kNoFile},
                    {absl::StrCat("sim ", kInternet2, " --changes /no/such.yaml"), kNoFile},
                    {"doctor /no/such.yaml --name n1", kNoFile},
                    {"calibrate --healthy /no/such.yaml", kNoFile},
                    {absl::StrCat("preflight ", kInternet2, " --profile /no/such.yaml --binding b.yaml"), kNoFile},
                    {"demo --overlay /no/such.yaml", kNoFile},
                    {"demo --compression {\"codec\":tokp}", "the demo's overlay with --compression:"},
                    {"bench wan /no/such.yaml", kNoFile},
                    {absl::StrCat("bench wan ", kInternet2, " --only pakced"), "did you mean 'packed'?"},
                    {"wan up /no/such.yaml --dir /no/wan", kNoFile},
                    {"replay --transcript /no/n1.transcript", "/no/n1.transcript: No such file"},
                    {"view /no/such.rec", "banyan view: cannot read /no/such.rec: No such file"},
                    {"trace a.json --records /no/such", "cannot read /no/such"},
                    {"sim-figures /no/out --scenarios /no/such", "--scenarios: /no/such: No such file"},
                    {"status --scheduler tcp://h:1 --watch --record /no/such/a.rec",
                     "cannot write /no/such/a.rec: No such file or directory"}});
}

}  // namespace
}  // namespace banyan
