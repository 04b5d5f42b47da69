// A training process that tests can kill: attaches to a node, initialises one key and trains until an error ends it.
//
//   worker_process unix:/path WORKER
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/session/session.h"

namespace banyan {
namespace {

constexpr char kKey[] = "w";
constexpr size_t kElements = 1000;

absl::Status Train(Session& session) {
  std::vector<float> values(kElements, 1.0f);
  if (absl::Status status = session.Init(kKey, values).Wait(); !status.ok()) return status;
  for (uint64_t round = 1;; ++round) {
    const absl::Status status = session.PushPull(kKey, values, absl::MakeSpan(values)).Wait();
    if (!status.ok()) return status;
    std::cout << "round " << round << std::endl;
  }
}

int Run(const char* node, uint32_t worker) {
  SessionOptions options;
  options.node = node;
  options.worker = worker;
  const absl::StatusOr<std::unique_ptr<Session>> session = Session::Open(options);
  const absl::Status status = session.ok() ? Train(**session) : session.status();
  std::cerr << status << std::endl;
  return 1;
}

}  // namespace
}  // namespace banyan

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "expected unix:/path and a worker\n";
    return 2;
  }
  return banyan::Run(argv[1], static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10)));
}
