#include "tools/other_program.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/status/statusor.h"
#include "posix/program_path.h"
#include "tools/command_line.h"

namespace banyan {

int BecomeProgram(const std::string& path, const std::string& command, absl::Span<const std::string> arguments,
                  std::ostream& out, std::ostream& err) {
  absl::StatusOr<std::string> program = FindProgram(path);
  if (!program.ok()) {
    err << command << ": " << program.status().message() << "\n";
    return kExitFailure;
  }
  std::vector<std::string> words = {*program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  out.flush();
  execv(program->c_str(), pointers.data());
  err << command << ": cannot start " << *program << ": " << std::strerror(errno) << "\n";
  return kExitFailure;
}

}  // namespace banyan
