// The results of `banyan bench wan`, and what it prints of them. Values and pure functions.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_WAN_REPORT_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_WAN_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/wan_benchmark/contender.h"
#include "wan/wan_status.h"

namespace banyan {

// What one contender came to.
struct ContenderResult {
  struct Round {
    int64_t round = 0;         // from 1, with those that warm up
    int64_t policy = 0;        // in use at its end; 0 where there is none
    double seconds = 0;        // from the first member's start to the last member's result
    double began_after_s = 0;  // since the first round, of those that warm up too
  };
  struct Link {
    std::string from;
    std::string to;
    int64_t bytes = 0;  // in all measured rounds, with headers and what was sent again
  };

  Contender contender;
  absl::Status status;              // why there are no rounds
  std::string note;                 // what is odd about them; empty for nothing
  std::vector<Round> rounds;        // those that count; every member has found the right sums in each
  std::vector<Round> quiet_rounds;  // with bursts: those before them, that count
  std::vector<Link> links;
  std::vector<Link> loaded;                 // with bursts: the links that meet them, with their bytes before
  std::optional<double> simulated_seconds;  // the median, says the simulator; empty when it was not asked
  double nodes_cores = 0;                   // processor time of all in the nodes / time of the rounds
  double forwarder_cores = 0;               // likewise of the emulator

  bool ok() const { return status.ok() && !rounds.empty(); }
};

// REQUIRES (all): result.ok().
double MedianSeconds(const ContenderResult& result);
double FastestSeconds(const ContenderResult& result);
double SlowestSeconds(const ContenderResult& result);
// Returns the first round from which on rounds take about as long as `usual_seconds` (FirstNear); nullptr for none.
const ContenderResult::Round* FirstRoundNear(const ContenderResult& result, double usual_seconds);
// Bytes over all links, per round.
double BytesPerRound(const ContenderResult& result);

// Returns what each link carried between the statuses `before` and `after`.
std::vector<ContenderResult::Link> LinkBytesBetween(const WanStatus& before, const WanStatus& after);

struct WanReport {
  std::string overlay;  // the file
  double model_bits = 0;
  double bound_bps = 0;    // of the rates at the start
  std::string congestion;  // TCP's
  bool dynamic = false;    // rates have changed meanwhile
  std::vector<ContenderResult> results;
  std::vector<std::string> left_out;  // peers that are not installed, and what to do
};

// Whom the others are compared with: the last of Banyan's contenders that has a result. nullptr without one.
const ContenderResult* Favourite(const WanReport& report);

std::string WanReportText(const WanReport& report);
// Writes a report for scripts: keys may be added, and those that exist stay. The keys outside of `contenders` are those
// of the favourite.
std::string WanReportJson(const WanReport& report);
// The commands that make gnuplot draw the rates, and the bound.
std::string WanReportGnuplot(const WanReport& report, const std::string& png_path);

// What `banyan bench wan --bursts` prints: rounds in bursts of others' traffic beside those before. REQUIRES (both):
// each result that is ok() has quiet rounds.
std::string BurstReportText(const WanReport& report);
std::string BurstReportJson(const WanReport& report);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_WAN_REPORT_H_
