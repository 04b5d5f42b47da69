// `banyan bench loopback`: how long a push-pull of node processes on one machine takes, beside Gloo's ring all-reduce
// of the same bytes between the same processes.
#ifndef BANYAN_TOOLS_LOOPBACK_BENCHMARK_H_
#define BANYAN_TOOLS_LOOPBACK_BENCHMARK_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/status.h"

namespace banyan {

struct LoopbackBenchmarkOptions {
  int nodes = 4;
  double megabytes = 64;  // of float32 that every node pushes and pulls
  int64_t keys = 1;       // among which they are divided evenly
  bool group = false;     // of which all are one
  double mbps = 0;        // at which the overlay believes each link to be; 0: it does not say
  bool insecure = false;  // no process has keys, and nothing is encrypted
  bool pinned = false;    // each node's process stays on one processor, in turns
  int64_t line_gbps = 0;  // two nodes, on one processor and on two, beside a line of so many Gbit/s; 0: none
  int pairs = 10;         // measured, after one that is not
  bool json = false;
  std::string banyan_program;  // the command `banyan`, for the scheduler
  std::string peer_program;    // //bench:loopback_peer
};

// Returns how much each of `processors` carries while `nodes` make sums of `megabytes` each in `seconds`, in Gbit/s.
// All nodes together send 2 (nodes - 1) times the values, over a ring as over trees.
double GbpsPerCore(int nodes, double megabytes, double seconds, int processors);
// Returns what each of two nodes sends, and receives at the same time, in Gbit/s.
inline double GbpsEachWay(double megabytes, double seconds) { return GbpsPerCore(2, megabytes, seconds, 2); }

// Starts a scheduler and the nodes, measures interleaved pairs and writes the medians to `out`. What a process that
// fails has logged is in the error. REQUIRES: 2 <= nodes, 1 <= megabytes, whole floats, 1 <= pairs,
// 1 <= keys, and there are as many floats.
absl::Status RunLoopbackBenchmark(const LoopbackBenchmarkOptions& options, std::ostream& out);

}  // namespace banyan

#endif  // BANYAN_TOOLS_LOOPBACK_BENCHMARK_H_
