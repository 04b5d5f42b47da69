// One contender's rounds on an emulated WAN of its own, which has the same links, seed and changes for each. Free
// functions; the thread that calls must live as long as what it started, which is until the call returns.
#ifndef BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_RUN_H_
#define BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_RUN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tools/emulated_wan.h"
#include "tools/wan_benchmark/burst_traffic.h"
#include "tools/wan_benchmark/contender.h"
#include "tools/wan_benchmark/contender_result.h"
#include "tools/wan_benchmark/contender_setup.h"

namespace banyan {

struct ContenderRunOptions {
  EmulatedWanOptions wan;
  BenchPlace place;  // without nodes, which the emulated WAN tells
  int64_t warm_up_rounds = 2;
  int64_t rounds = 5;                                // measured at least
  absl::Duration least_time = absl::ZeroDuration();  // rounds go on until then
  // After those as many again, in bursts. REQUIRES: a contender of Banyan with a codec.
  std::optional<WanBursts> bursts;
  absl::Duration limit = absl::InfiniteDuration();  // from the first round's start
  absl::Duration start_limit = absl::Seconds(60);   // for connecting
  std::function<bool()> stopped = [] { return false; };
  std::function<void(double done)> progress = [](double) {};
};

// A failure of the contender is in the result's status: with a codec also that replicas differ, or that something is
// missing after a flush. CANCELLED when `stopped` says so.
ContenderResult RunContender(const Contender& contender, const ContenderRunOptions& options);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_BENCHMARK_CONTENDER_RUN_H_
