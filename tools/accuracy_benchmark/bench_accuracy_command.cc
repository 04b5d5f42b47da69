#include "tools/accuracy_benchmark/bench_accuracy_command.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "posix/program_path.h"
#include "tools/accuracy_benchmark/accuracy_options.h"
#include "tools/command_line.h"

namespace banyan {
namespace {

constexpr char kProgram[] = "examples/fashion_mnist/accuracy/accuracy_benchmark";

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

}  // namespace banyan
