#include "tools/accuracy_benchmark/bench_accuracy_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "posix/program_path.h"
#include "tools/accuracy_benchmark/accuracy_options.h"
#include "tools/command_line.h"

namespace banyan {
namespace {

constexpr char kProgram[] = "examples/fashion_mnist/accuracy/accuracy_benchmark";

constexpr char kTrims[] = "0,0.001,0.01,0.1,0.2,0.5";

}  // namespace

int BenchAccuracyCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  AccuracyOptions options;
  if (std::optional<int> code = ParseAccuracyOptions(arguments, options, out, err); code.has_value()) return *code;
  absl::StatusOr<std::string> program = FindProgram(kProgram);
  if (!program.ok()) {
    err << "banyan bench accuracy: " << program.status().message() << "\n";
    return kExitFailure;
  }
  std::vector<std::string> words = {*program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  out.flush();
  execv(program->c_str(), pointers.data());
  err << "banyan bench accuracy: cannot start " << *program << ": " << std::strerror(errno) << "\n";
  return kExitFailure;
}

int BenchTrimCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  std::vector<std::string> words(arguments.begin(), arguments.end());
  const bool says_trim =
      std::any_of(words.begin(), words.end(), [](const std::string& word) { return absl::StartsWith(word, "--trim"); });
  if (!says_trim) words.push_back(absl::StrCat("--trim=", kTrims));
  return BenchAccuracyCommand(words, out, err);
}

}  // namespace banyan
