// The computations that a core has handed to its driver, each with what is to be done when it has finished.
// Thread-compatible; owned by NodeCore.
#ifndef BANYAN_NODE_COMPUTATION_TABLE_H_
#define BANYAN_NODE_COMPUTATION_TABLE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compression/chunk_device.h"
#include "core/ids.h"
#include "node/step_context.h"
#include "proto/precision/precision_report.h"
#include "protocol/action.h"
#include "protocol/computation.h"
#include "protocol/event.h"

namespace banyan {

class ComputationTable {
 public:
  // `threads` of the driver compute at once. `device` outlives the table and what it starts.
  explicit ComputationTable(uint32_t threads = 1, const ChunkDevice& device = ProcessorDevice())
      : threads_(threads), device_(device) {}

  // Where computations on chunks encode, decode and add.
  const ChunkDevice& device() const { return device_; }

  // `then` gets the finished computation. `Work` is a subclass of Computation.
  template <typename Work>
  void Start(StepContext& step, std::unique_ptr<Work> work, std::function<void(StepContext&, Work&)> then) {
    const ComputationId id = next_;
    next_ = next_.Next();
    running_.emplace(
        id, [then = std::move(then)](StepContext& later, Computation& done) { then(later, static_cast<Work&>(done)); });
    step.actions.emplace_back(std::in_place_type<StartComputation>, StartComputation{id, std::move(work)});
  }

  void OnFinished(StepContext& step, ComputationFinished& finished) {
    const std::optional<ServiceKind> kind = finished.result == nullptr ? std::nullopt : finished.result->service();
    if (kind.has_value()) {
      PrecisionReport::Service& service = services_[static_cast<size_t>(*kind)];
      service.bytes += static_cast<uint64_t>(finished.result->size_bytes());
      service.time += finished.time;
    }
    auto entry = running_.extract(finished.computation);
    if (!entry.empty()) entry.mapped()(step, *finished.result);
  }

  // What still runs will have no effect.
  void Clear() { running_.clear(); }

  // Adds what has been done so far of the kinds of work that there was, and by how many threads.
  void AddTo(PrecisionReport& report) const {
    for (size_t kind = 0; kind < services_.size(); ++kind) {
      if (services_[kind].bytes == 0) continue;
      report.services.push_back({static_cast<ServiceKind>(kind), services_[kind].bytes, services_[kind].time});
    }
    // Threads of a driver have no limit, and a report that a scheduler refuses would tell it nothing.
    report.threads = std::min(threads_, PrecisionReport::kMostThreads);
  }

 private:
  uint32_t threads_;
  const ChunkDevice& device_;
  ComputationId next_ = ComputationId(1);
  std::array<PrecisionReport::Service, PrecisionReport::kMostServices> services_;  // by kind
  std::map<ComputationId, std::function<void(StepContext&, Computation&)>> running_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_COMPUTATION_TABLE_H_
