// The command `banyan`: one subcommand per file beside this one.

#include <iostream>
#include <string>
#include <vector>

#include "runtime/chunk_heap.h"
#include "tools/bench_command.h"
#include "tools/command_table.h"
#include "tools/demo/demo_command.h"
#include "tools/doctor_command.h"
#include "tools/node_command.h"
#include "tools/plan_command.h"
#include "tools/reconfigure_command.h"
#include "tools/scheduler_command.h"
#include "tools/sim_command.h"
#include "tools/sim_faults_command.h"
#include "tools/sim_figures_command.h"
#include "tools/status_command.h"
#include "tools/wan_command.h"

int main(int argc, char** argv) {
  banyan::KeepChunksInHeap();
  const banyan::CommandTable table(
      "banyan", "Trains one model in many data centres over a slow, uneven, changing network.",
      {{"scheduler", "runs the scheduler of a job", banyan::SchedulerCommand},
       {"node", "runs the node of one data centre", banyan::NodeCommand},
       {"status", "shows what a running job is doing", banyan::StatusCommand},
       {"reconfigure", "changes how a running job travels", banyan::ReconfigureCommand},
       {"plan", "shows how gradients would travel over an overlay", banyan::PlanCommand},
       {"sim", "simulates a job's rounds over an overlay", banyan::SimCommand},
       {"sim-faults", "simulates random jobs under random faults", banyan::SimFaultsCommand},
       {"sim-figures", "simulates the figures of an evaluation", banyan::SimFiguresCommand},
       {"doctor", "looks whether this machine's clock is right", banyan::DoctorCommand},
       {"wan", "emulates a WAN on this machine", banyan::WanCommand},
       {"bench", "measures Banyan on this machine", banyan::BenchCommand},
       {"demo", "nine data centres train one model on this machine", banyan::DemoCommand}});
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return table.Run(arguments, std::cout, std::cerr);
}
