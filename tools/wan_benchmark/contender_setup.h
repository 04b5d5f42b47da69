// The processes of a contender and the files that they need. Pure functions.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_SETUP_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_SETUP_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/wan_benchmark/contender.h"

namespace banyan {

// The place in which the contenders run.
struct BenchPlace {
  std::string banyan_program;
  std::string peer_program;                                // of the contender: each of its workers
  std::string mpirun_program = "/usr/bin/mpirun.openmpi";  // Debian's
  std::string directory;                                   // for files of this contender alone
  std::string gate;                                        // the RoundBarrier's file
  std::string wan_directory;                               // of the emulated WAN
  std::vector<std::pair<std::string, std::string>> nodes;  // names and IP addresses, in the overlay's order
  std::string scheduler_node;                              // by name
  std::string overlay;                                     // the text of the file
  int64_t elements = 0;                                    // of the model
  bool secured = false;                                    // Banyan's processes have keys, in `directory`
};

// A program that runs in a node. Its environment is that of `banyan wan exec`.
struct BenchProcess {
  std::string name;  // for messages, and for the file of its log
  std::string node;
  std::vector<std::string> arguments;
};

struct ContenderSetup {
  std::vector<BenchProcess> processes;
  std::vector<std::pair<std::string, std::string>> files;  // of the directory: name and content
};

// Banyan's overlay among the files of its setup.
inline constexpr char kJobOverlayFile[] = "overlay.yaml";

// tcp://host:port of the scheduler in its node.
std::string SchedulerAddress(const BenchPlace& place);

// The overlay's file with the contender's sections, addresses in the emulated WAN, sums instead of means, and one
// worker per node. REQUIRES: `place.overlay` is an overlay of these nodes.
std::string MakeJobOverlay(const Contender& contender, const BenchPlace& place);

// Banyan: a scheduler, and a node daemon and a worker in each node. Secured ones need MakeJobKeys, whose overlay takes
// the place of kJobOverlayFile. Gloo: a process in each node. Open MPI: mpirun in
// the first node, which starts a process in each.
ContenderSetup MakeSetup(const Contender& contender, const BenchPlace& place);

// The command line that runs the process in its node.
std::vector<std::string> InNode(const BenchPlace& place, const BenchProcess& process);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_SETUP_H_
