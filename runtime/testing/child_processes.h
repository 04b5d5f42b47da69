// Processes that tests stop or kill, one for each test of a suite.
#ifndef BANYAN_RUNTIME_TESTING_CHILD_PROCESSES_H_
#define BANYAN_RUNTIME_TESTING_CHILD_PROCESSES_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "posix/file_descriptor.h"

namespace banyan {

// Children of the test's process that wait until a test tells them what to live for. They are all forked at once: make
// this in SetUpTestSuite of the program's first suite. Later the process may have threads, and ThreadSanitizer ends a
// child of such a process that starts threads of its own. Not thread-safe; owned by the suite.
//
// Invariants:
// - A child that was not started ends with this object; one that was belongs to who started it.
// - No child outlives the test's process.
class ChildProcesses {
 public:
  // What a child does with the line that Start gave it; it does not return to the test.
  using Life = void (*)(const std::string& argument);

  // Forks a child for each test of the running suite.
  explicit ChildProcesses(Life life);
  ChildProcesses(const ChildProcesses&) = delete;
  ChildProcesses& operator=(const ChildProcesses&) = delete;
  ~ChildProcesses();

  // Lets one more child live, with `argument`, a single line. Returns its process.
  pid_t Start(const std::string& argument);

 private:
  struct Waiting {
    pid_t process;
    FileDescriptor argument;  // the end that is written to
  };

  void Fork(Life life);

  std::vector<Waiting> waiting_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TESTING_CHILD_PROCESSES_H_
