#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/commands.h"

namespace banyan {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Outcome Figures(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = SimFiguresCommand(arguments, out, err);
  return {code, out.str(), err.str()};
}

bool HasGnuplot() { return access("/usr/bin/gnuplot", X_OK) == 0; }

std::string ContentOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(SimFiguresCommandTest, EveryFigureBecomesATableAndAPlot) {
  const std::string directory = ::testing::TempDir() + "/all";
  const Outcome all = Figures({directory, "--quick"});
  EXPECT_EQ(all.code, 0) << all.err;
  for (const char* figure : {"13", "14", "15", "16", "17", "18", "19a", "19b", "20a", "20b", "20c", "20d"}) {
    EXPECT_THAT(all.out, HasSubstr(std::string("### Fig. ") + figure + ":"));
    const std::string stem = directory + "/fig" + figure;
    EXPECT_THAT(ContentOf(stem + ".csv"), HasSubstr(std::string("\n") + figure + ","));
    EXPECT_THAT(ContentOf(stem + ".gnuplot"), HasSubstr(stem + ".png"));
    EXPECT_EQ(std::filesystem::exists(stem + ".png"), HasGnuplot()) << figure;
  }
  const std::string markdown = ContentOf(directory + "/figures.md");
  EXPECT_EQ(all.out.substr(0, markdown.size()), markdown);
  EXPECT_EQ(all.out.find("No plots") == std::string::npos, HasGnuplot());
}

TEST(SimFiguresCommandTest, OneFigureOfOwnFiles) {
  const std::string directory = ::testing::TempDir() + "/own";
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/line.yaml") << "nodes: [{name: a}, {name: b}]\nlinks: [{between: [a, b], mbps: 8}]\n";
  std::filesystem::create_directories(directory + "/figures");
  std::ofstream(directory + "/figures/x.yaml")
      << "figure: \"x\"\ntitle: Size\noverlay: ../line.yaml\nminutes: 0.1\nseries: [{name: tree, planner: fapt}]\n"
         "sweep: {setting: model_bytes, values: [1000000, 2000000]}\nbaseline: {model_bytes: 1000000}\n";
  const Outcome own = Figures({directory + "/out", "--scenarios", directory + "/figures", "--only", "x"});
  EXPECT_EQ(own.code, 0) << own.err;
  EXPECT_THAT(own.out, ContainsRegex("\n\\| model_bytes \\| tree +\\|\n.*\n\\| 1000000 +\\| [0-9.]+ \\(1.00\\) +\\|\n"
                                     "\\| 2000000 +\\| [0-9.]+ \\(0.5[0-9]\\) +\\|\n"));
  EXPECT_EQ(Figures({directory + "/out", "--scenarios", directory + "/figures", "--only", "y"}).code, 1);
}

TEST(SimFiguresCommandTest, RatesHaveALineForEachOverlay) {
  const std::string directory = ::testing::TempDir() + "/rates";
  std::filesystem::create_directories(directory + "/figures");
  std::ofstream(directory + "/line.yaml") << "nodes: [{name: a}, {name: b}]\nlinks: [{between: [a, b], mbps: 8}]\n";
  std::ofstream(directory + "/figures/x.yaml")
      << "figure: x\ntitle: Trees\noverlay: ../line.yaml\nminutes: 0.01\ntable: rates\nseeds: 2\n"
         "base: {model_bytes: 1000000}\nseries: [{name: star, planner: star}, {name: oak, planner: fapt}]\n"
         "sweep: {setting: network, values: [hub_and_mesh_4, internet2_drawn]}\n";
  const Outcome rates = Figures({directory + "/out", "--scenarios", directory + "/figures"});
  EXPECT_EQ(rates.code, 0) << rates.err;
  EXPECT_THAT(rates.out, ContainsRegex("\\| network +\\| +star \\| +oak \\| +bound \\| best / bound \\|\n"));
  EXPECT_THAT(rates.out, ContainsRegex("\n\\| hub_and_mesh_4 +\\| +[0-9.]+ \\| +[0-9.]+ \\| +107.5 \\| +0"));
  EXPECT_THAT(rates.out, ContainsRegex("\n\\| internet2_drawn +\\| +[0-9.]+ \\| +[0-9.]+ \\| +[0-9.]+ \\| +0"));
}

// The files of all figures are read before one of them is chosen; those of a hundred nodes would take too long here.
TEST(SimFiguresCommandTest, PlannersAreComparedByTheirRates) {
  const std::string directory = ::testing::TempDir() + "/planners";
  const Outcome models = Figures({directory, "--scenarios", "sim/planners", "--only", "models", "--quick"});
  EXPECT_EQ(models.code, 0) << models.err;
  EXPECT_THAT(
      models.out,
      ContainsRegex("\\| model_bytes \\| +star \\| +mst \\| +FAPT of one root \\| +FAPT of all roots \\| +with "
                    "auxiliary paths \\| +packed \\| +packed with auxiliary paths \\| +bound \\| +best / bound \\|"));
  EXPECT_THAT(ContentOf(directory + "/figmodels.gnuplot"), HasSubstr("by the model''s bytes"));
}

TEST(SimFiguresCommandTest, JobsThatAreToldLittleAreComparedWithWhoKnows) {
  const std::string directory = ::testing::TempDir() + "/learning";
  const Outcome links = Figures({directory, "--scenarios", "sim/learning", "--only", "links", "--quick"});
  EXPECT_EQ(links.code, 0) << links.err;
  EXPECT_THAT(links.out, ContainsRegex("\\| variant +\\| no rates +\\| wrong rates +\\|\n"));
  EXPECT_THAT(links.out, ContainsRegex("\n\\| internet2 +\\| ([0-9.]+|never); [0-9.]+; [0-9.]+ +\\|"));
  EXPECT_THAT(ContentOf(directory + "/figlinks.csv"), HasSubstr(",near_after_seconds,later_ratio,first_ratio\n"));
}

TEST(SimFiguresCommandTest, WhatIsWrongWithAFileIsSaid) {
  const std::string directory = ::testing::TempDir() + "/wrong";
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/line.yaml.txt") << "nodes: [{name: a}, {name: b}]\n";
  std::ofstream(directory + "/x.yaml") << "figure: x\ntitle: Oaks\noverlay: line.yaml.txt\nbase: {oaks: 3}\n"
                                          "series: [{name: tree}]\nsweep: {setting: roots, values: [1]}\n";
  const Outcome wrong = Figures({directory + "/out", "--scenarios", directory});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("x.yaml:4:14: base.oaks: no such setting; there are"));
}

}  // namespace
}  // namespace banyan
