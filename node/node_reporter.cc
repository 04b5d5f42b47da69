#include "node/node_reporter.h"

namespace banyan {

NodeReport NodeReporter::MakeReport(StepContext& step) const {
  NodeReport report;
  parts_.desk->AddTo(report);
  report.rejected_messages = parts_.rejections->total();
  report.links = parts_.network->LinkReport(step.now);
  for (NodeReport::Memory& row : parts_.engine->MemoryReport()) report.memory.push_back(std::move(row));
  report.memory.push_back({"undelivered", static_cast<uint64_t>(parts_.network->undelivered_bytes())});
  report.memory.push_back({"relayed", static_cast<uint64_t>(parts_.network->relay_bytes())});
  report.memory.push_back({"unknown", static_cast<uint64_t>(parts_.network->unknown_bytes())});
  report.memory.push_back({"fetched replicas", static_cast<uint64_t>(parts_.states->replica_bytes())});
  return report;
}

void NodeReporter::Report(StepContext& step) {
  NodeReport report = MakeReport(step);
  if (last_.has_value() && *last_ == report) return;
  last_ = report;
  parts_.scheduler->Send(step, std::move(report));
  // It speaks of workers that are attached, and these are no help where the node abstains.
  if (parts_.desk->attached() > 0) ReportLostWorker(step);
}

void NodeReporter::ReportLostWorker(StepContext& step) const {
  if (!parts_.scheduler->joined()) return;
  if (parts_.desk->attached() > 0) {
    // The one that came in its place has no part in these rounds either.
    if (!parts_.engine->IsAbstaining()) return;
    return parts_.scheduler->Send(step, WorkerLost{WorkerId(), "who came since takes no part in open rounds"});
  }
  if (worker_lost_.has_value()) parts_.scheduler->Send(step, *worker_lost_);
}

void NodeReporter::ReportMissingValues(StepContext& step) const {
  const PolicySlice* slice = parts_.book->newest_slice();
  const bool is_source = slice != nullptr && slice->source == parts_.self;
  if (is_source && parts_.desk->attached() > 0) ReportLostWorker(step);
}

}  // namespace banyan
