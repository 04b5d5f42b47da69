#include "tools/accuracy_benchmark/bench_accuracy_command.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/accuracy_benchmark/accuracy_options.h"
#include "tools/other_program.h"

namespace banyan {
namespace {

constexpr char kTrims[] = "0,0.001,0.01,0.1,0.2,0.5";

int Measure(const std::string& command, absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  AccuracyOptions options;
  options.command = command;
  if (std::optional<int> code = ParseAccuracyOptions(arguments, options, out, err); code.has_value()) return *code;
  return BecomeProgram("examples/fashion_mnist/accuracy/accuracy_benchmark", command, arguments, out, err);
}

}  // namespace

int BenchAccuracyCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  return Measure("banyan bench accuracy", arguments, out, err);
}

int BenchTrimCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  std::vector<std::string> words(arguments.begin(), arguments.end());
  const bool says_trim =
      std::any_of(words.begin(), words.end(), [](const std::string& word) { return absl::StartsWith(word, "--trim"); });
  if (!says_trim) words.push_back(absl::StrCat("--trim=", kTrims));
  return Measure("banyan bench trim", words, out, err);
}

}  // namespace banyan
