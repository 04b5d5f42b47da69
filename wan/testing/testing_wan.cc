#include "wan/testing/testing_wan.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "wan/node_namespace.h"

namespace banyan {

NetworkView TestingView(int nodes, const std::vector<TestingWanLink>& links) {
  std::vector<NetworkNode> made_nodes;
  for (int i = 1; i <= nodes; ++i) {
    made_nodes.push_back({NodeId(static_cast<uint32_t>(i)), absl::StrCat("n", i), std::nullopt, std::nullopt});
  }
  std::vector<NetworkLink> made_links;
  for (const TestingWanLink& link : links) {
    NetworkLink there;
    there.from = NodeId(link.a);
    there.to = NodeId(link.b);
    there.throughput_bps = link.mbps * 1e6;
    there.delay = absl::Milliseconds(link.delay_ms);
    there.loss_fraction = link.loss_fraction;
    NetworkLink back = there;
    std::swap(back.from, back.to);
    made_links.push_back(there);
    made_links.push_back(back);
  }
  absl::StatusOr<NetworkView> view = NetworkView::Create(std::move(made_nodes), std::move(made_links));
  BANYAN_CHECK(view.ok());
  return *std::move(view);
}

// Not under TEST_TMPDIR, whose path may be too long for a socket's.
TestingWan::TestingWan() {
  char path[] = "/tmp/banyan-wan-test-XXXXXX";
  BANYAN_CHECK(mkdtemp(path) != nullptr);
  parent_ = path;
  options.directory = parent_ + "/wan";
  options.overlay = "test.yaml";
}

TestingWan::~TestingWan() {
  StopEmulator(options.directory).IgnoreError();
  rmdir(parent_.c_str());
}

absl::Status TestingWan::Start() {
  if (const absl::Status status = GainNamespaceRights(); !status.ok()) return status;
  return StartEmulatorInBackground(options);
}

WanStatus TestingWan::Status() const {
  absl::StatusOr<WanStatus> status = client().Status();
  if (!status.ok()) throw std::runtime_error(std::string(status.status().message()));
  return *std::move(status);
}

bool IsForbidden(const absl::Status& status) { return absl::IsPermissionDenied(status) || absl::IsNotFound(status); }

absl::Status TryToEmulate() {
  TestingWan probe;
  probe.options.view = TestingView(2, {{1, 2, 10, 1}});
  return probe.Start();
}

}  // namespace banyan
