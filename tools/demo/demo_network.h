// The network of a demo: where its processes run and how they reach each other. All are on the loopback interface, or
// each data centre is in a node of an emulated WAN, which lives as long as the object. Thread-compatible; the thread
// that makes it must live as long.
#ifndef BANYAN_TOOLS_DEMO_DEMO_NETWORK_H_
#define BANYAN_TOOLS_DEMO_DEMO_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "posix/port_reservation.h"
#include "posix/work_directory.h"
#include "tools/emulated_wan.h"
#include "wan/wan_status.h"

namespace banyan {

struct DemoWanOptions {
  std::string banyan_program;
  std::string overlay;       // the text of the file
  std::string overlay_name;  // for messages
  int64_t seed = 1;
  double redraw_seconds = 0;  // 0: rates stay
};

class DemoNetwork {
 public:
  // Makes a network on the loopback interface for a scheduler and `nodes` nodes.
  static absl::StatusOr<std::unique_ptr<DemoNetwork>> OnLoopback(size_t nodes);
  // Starts the emulated WAN, whose files go to `directory`. The scheduler sits where links are best. Fails, saying why,
  // when the system lets nobody here emulate one or a link of the overlay has no rate.
  static absl::StatusOr<std::unique_ptr<DemoNetwork>> OnWan(const DemoWanOptions& options,
                                                            const WorkDirectory& directory);
  DemoNetwork(const DemoNetwork&) = delete;
  DemoNetwork& operator=(const DemoNetwork&) = delete;

  // tcp://host:port; those of nodes are in the overlay's order.
  const std::string& scheduler_address() const { return scheduler_address_; }
  const std::vector<std::string>& node_addresses() const { return node_addresses_; }
  // The command line that runs a program in the `node`-th data centre, or where the scheduler is.
  std::vector<std::string> InNode(size_t node, const std::vector<std::string>& program) const;
  std::vector<std::string> BesideScheduler(const std::vector<std::string>& program) const;

  bool is_wan() const { return wan_ != nullptr; }
  // The directory by which the emulated WAN is known; empty without one.
  const std::string& wan_directory() const { return wan_directory_; }
  // Returns the present state of the emulated WAN; nothing without one, or when it does not answer.
  std::optional<WanStatus> TakeWanStatus() const;
  // UNAVAILABLE once the emulated WAN has ended by itself, or does so within `patience`.
  absl::Status Check(absl::Duration patience = absl::ZeroDuration()) const;

 private:
  DemoNetwork() = default;
  std::vector<std::string> In(const std::string& node, const std::vector<std::string>& program) const;

  std::optional<PortReservation> ports_;  // on loopback, for as long as the processes run
  std::unique_ptr<EmulatedWan> wan_;
  std::string banyan_program_;
  std::string wan_directory_;
  std::string scheduler_node_;
  std::vector<std::string> node_names_;
  std::string scheduler_address_;
  std::vector<std::string> node_addresses_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_NETWORK_H_
