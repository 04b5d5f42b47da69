#include <ostream>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tools/command_table.h"
#include "tools/commands.h"

namespace banyan {

std::vector<Command> ProgramCommands(const std::string& state_home) {
  return {{"local", "trains at several sites on this machine", LocalCommand},
          {"run", "trains at one site: a node, and a program beside it", RunCommand},
          {"scheduler", "runs the scheduler of a job",
           [state_home](absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
             return SchedulerCommand(arguments, state_home, out, err);
           }},
          {"node", "runs the node of one data centre", NodeCommand},
          {"status", "shows what a running job is doing", StatusCommand},
          {"remove", "takes a node out of a running job", RemoveCommand},
          {"veto", "ends low-bit rounds of a running job", VetoCommand},
          {"keygen", "makes secret keys, and the lines that list them", KeygenCommand},
          {"stop", "ends a job for all its nodes", StopCommand},
          {"wan", "emulates a WAN on this machine", WanCommand},
          {"chaos", "breaks a running job, to see it survive", ChaosCommand},
          {"demo", "nine data centres train one model on this machine", DemoCommand}};
}

}  // namespace banyan
