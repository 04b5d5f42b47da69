// An emulated WAN for one test: in the background, in a directory of its own, gone at the end. Thread-compatible.
#ifndef BANYAN_WAN_TESTING_TESTING_WAN_H_
#define BANYAN_WAN_TESTING_TESTING_WAN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "topology/network_view.h"
#include "wan/emulator.h"
#include "wan/wan_client.h"

namespace banyan {

// A link of both directions between the nodes numbered from 1.
struct TestingWanLink {
  uint32_t a = 0;
  uint32_t b = 0;
  double mbps = 0;
  double delay_ms = 0;
  double loss_fraction = 0;
};

// Nodes n1..n<nodes> with these links.
NetworkView TestingView(int nodes, const std::vector<TestingWanLink>& links);

class TestingWan {
 public:
  // Makes the directory only.
  TestingWan();
  TestingWan(const TestingWan&) = delete;
  TestingWan& operator=(const TestingWan&) = delete;
  ~TestingWan();

  // The options that Start takes; a test may change them before.
  EmulatorOptions options;
  // The process may find itself in another user namespace afterwards, with the right to enter nodes.
  absl::Status Start();
  absl::Status Stop() { return StopEmulator(options.directory); }
  WanClient client() const { return WanClient(options.directory); }
  // Throws what is wrong.
  WanStatus Status() const;

 private:
  std::string parent_;
};

// Returns whether `status` is what a system says that lets nobody here emulate a WAN. That is no fault of the emulator.
bool IsForbidden(const absl::Status& status);

// Emulates a WAN for a moment: what a test wants to know before it lets other processes do so.
absl::Status TryToEmulate();

}  // namespace banyan

#endif  // BANYAN_WAN_TESTING_TESTING_WAN_H_
