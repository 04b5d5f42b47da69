// The subcommands of `banyan`, each in a file of its name. `arguments` come after that name. Each returns the exit
// code: 0 success, 1 failure, 2 usage. Functions; for the program's main thread.
#ifndef BANYAN_TOOLS_COMMANDS_H_
#define BANYAN_TOOLS_COMMANDS_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// The scheduler daemon. Runs until SIGTERM or Ctrl-C, or until another scheduler leads. `state_home` is where this
// user's programs keep state; empty: unknown. Returns DaemonExitCode.
int SchedulerCommand(absl::Span<const std::string> arguments, const std::string& state_home, std::ostream& out,
                     std::ostream& err);
// The node daemon. Runs until SIGTERM, Ctrl-C, or the end of its job. Returns DaemonExitCode.
int NodeCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// A job on this machine for a training program: a scheduler, a node for each site, the program at each
// (launch_commands.cc, as the next). Returns the program's exit code.
int LocalCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// One site of a job: its node, and the training program beside it. Returns the program's exit code.
int RunCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// In the scheduler's place where a training is run again from transcripts. Runs until all nodes have finished, or one
// cannot go on.
int ReplayCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

// Shows what a job is doing.
int StatusCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Has nodes note the inside of rounds, and puts it together.
int TraceCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Serves the page of a job from a recording, until Ctrl-C.
int ViewCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

// Gives a job that runs another overlay.yaml (operator_commands.cc, as the next three).
int ReconfigureCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Ends one node's part in a job.
int RemoveCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Ends a job's low-bit rounds.
int VetoCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Ends a job.
int StopCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

// Makes secret keys, and the lines of the overlay that list them.
int KeygenCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Looks for what will keep a job from running at this site, or at all, and says what to do; 5 where something is to
// fix.
int DoctorCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Shows how gradients would travel over an overlay.
int PlanCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Makes an operating profile of the losses of past runs; 1 also where a harmed run goes undetected.
int CalibrateCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Says whether a job, an operating profile and a binding fit, before a run with low-bit rounds; 0 also where it prints
// a proposal.
int PreflightCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

// Simulates a job's rounds over an overlay.
int SimCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Simulates random jobs under random faults that they are to outlive; 1 when a seed breaks a rule or hangs.
int SimFaultsCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Simulates every figure of an evaluation, and writes tables and plots.
int SimFiguresCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Runs the benchmarks.
int BenchCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// One of them, `bench wan`: Banyan and what people would use instead, on the same emulated WAN, one after the other. 0
// when every contender has a result.
int BenchWanCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Another, `bench training`: how much of the time training computes there.
int BenchTrainingCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Gradients of several nodes of an emulated WAN to one, whose queues cut packets.
int BenchIncastCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

// Emulates a WAN on this machine.
int WanCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Breaks a running job, for people who want to see it survive; 1 also when the job ends before its training.
int ChaosCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);
// Trains one model in data centres on this machine, and leaves no process behind; 1 also when replicas differ or have
// learned too little.
int DemoCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_COMMANDS_H_
