// One contender's rounds on an emulated WAN of its own, which has the same links, seed and changes for each. Free
// functions; the thread that calls must live as long as what it started, which is until the call returns.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_RUN_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_RUN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/emulated_wan.h"
#include "tools/wan_benchmark/contender.h"
#include "tools/wan_benchmark/contender_setup.h"
#include "tools/wan_benchmark/wan_report.h"
#include "topology/overlay/link_schedule.h"
#include "wan/wan_status.h"

namespace banyan {

// What others send over the links that carry most, from after the rounds that count on.
struct WanBursts {
  double part = 0;  // of each link's rate
  int links = 3;
  std::vector<ContenderResult::Link> loaded = {};  // over these; empty: over so many that carry most
  absl::Duration on = absl::Seconds(2);
  absl::Duration off = absl::Seconds(3);
  int64_t first_rounds = 3;  // in bursts, that do not count
};

// Returns at most `count` of `links`, those that were used most of the time at their rates in `status`, the first the
// most.
std::vector<ContenderResult::Link> MostLoaded(std::vector<ContenderResult::Link> links, const WanStatus& status,
                                              int count);

// The command line that sends bursts of `mbps` over the link until it is ended.
std::vector<std::string> TrafficArguments(const BenchPlace& place, const ContenderResult::Link& link, double mbps,
                                          const WanBursts& bursts);

struct ContenderRunOptions {
  EmulatedWanOptions wan;
  BenchPlace place;  // without nodes, which the emulated WAN tells
  int64_t warm_up_rounds = 2;
  int64_t rounds = 5;                                // measured at least
  absl::Duration least_time = absl::ZeroDuration();  // rounds go on until then
  // After those as many again, in bursts. REQUIRES: a contender of Banyan with a codec.
  std::optional<WanBursts> bursts;
  absl::Duration limit = absl::InfiniteDuration();  // from the first round's start
  absl::Duration start_limit = absl::Minutes(5);    // for connecting, and for the first values over slow links
  std::function<bool()> stopped = [] { return false; };
  std::function<void(double done)> progress = [](double) {};
};

// A failure of the contender is in the result's status: with a codec also that replicas differ, or that something is
// missing after a flush. CANCELLED when `stopped` says so.
ContenderResult RunContender(const Contender& contender, const ContenderRunOptions& options);

// --- the same in simulated time, to put it beside what was measured ---

struct ContenderSimulationOptions {
  uint64_t warm_up_rounds = 0;
  uint64_t rounds = 1;  // after those; at least 1
  // The changes of the rates, from the start of the job.
  std::optional<LinkRedraw> redraw = std::nullopt;
};

// The median time of a round, in seconds, of the same overlay, sections and model; the nodes of `place` need
// no addresses. Errors as Simulate's. REQUIRES: a contender of Banyan.
absl::StatusOr<double> SimulatedSeconds(const Contender& contender, const BenchPlace& place,
                                        const ContenderSimulationOptions& options);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_RUN_H_
