// An emulated WAN of a benchmark or a demo, from its start to its end: `banyan wan up` in a process of its own, which
// never outlives this one. With it go all processes in its nodes. Thread-compatible; the thread that starts it must
// live as long.
#ifndef BANYAN_TOOLS_EMULATED_WAN_H_
#define BANYAN_TOOLS_EMULATED_WAN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "posix/child_process.h"
#include "tools/flag_values.h"
#include "wan/wan_client.h"
#include "wan/wan_status.h"

namespace banyan {

struct EmulatedWanOptions {
  std::string banyan_program;
  std::string overlay;    // the file
  std::string directory;  // of the emulator; made by it
  std::string log_path;
  std::string congestion;  // empty: the machine's
  int64_t seed = 1;
  int64_t trim_bytes = 0;     // 0: full queues drop packets
  double redraw_seconds = 0;  // 0: rates stay
  RateRange redraw_rates;
};

// `banyan wan up ..`. Pure.
std::vector<std::string> WanUpArguments(const EmulatedWanOptions& options);

// The command line that runs a program in a node: `banyan wan exec .. -- ..`. Pure.
std::vector<std::string> WanExecArguments(const std::string& banyan_program, const std::string& directory,
                                          const std::string& node, const std::vector<std::string>& program);

// Return the addresses on which Banyan's daemons listen in a node with the IP address `ip`. Pure.
std::string SchedulerAddressAt(const std::string& ip);
std::string NodeAddressAt(const std::string& ip);

class EmulatedWan {
 public:
  // Returns when it runs; the error is what `banyan wan up` has said.
  static absl::StatusOr<std::unique_ptr<EmulatedWan>> Start(const EmulatedWanOptions& options);
  EmulatedWan(const EmulatedWan&) = delete;
  EmulatedWan& operator=(const EmulatedWan&) = delete;
  ~EmulatedWan();

  absl::StatusOr<WanStatus> Status() const { return client_.Status(); }
  // UNAVAILABLE, with the end of its log, once it has ended by itself, or does so within `patience`.
  absl::Status Check(absl::Duration patience = absl::ZeroDuration()) const;
  // The processor time that all processes in its nodes have taken, but for those that have ended.
  double NodesCpuSeconds(const WanStatus& status) const;

 private:
  EmulatedWan(const EmulatedWanOptions& options, std::unique_ptr<ChildProcess> process);
  absl::Status WaitUntilItRuns();

  const std::string directory_;
  const WanClient client_;
  const std::unique_ptr<ChildProcess> process_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_EMULATED_WAN_H_
