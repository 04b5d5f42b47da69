#include "tools/trace/record_gatherer.h"

#include <utility>

#include "tracing/round_recorder.h"

namespace banyan {

void RecordGatherer::Take(const TracePiece& piece) {
  if (piece.trace != trace_) *this = RecordGatherer();
  trace_ = piece.trace;
  const NodeRecords& of_node = piece.of_node;
  size_ += of_node.records.size() + of_node.records.clocks.size();
  is_too_much_ = is_too_much_ || size_ > kMostRecords;
  if (is_too_much_) return;
  names_[of_node.node] = of_node.name;
  AddPiece(of_node.records, records_[of_node.node]);
}

GatheredRecords RecordGatherer::TakeAll() {
  GatheredRecords all{std::move(records_), std::move(names_), *std::move(end_)};
  *this = RecordGatherer();
  for (const TraceEnd::Missing& missing : all.end.missing) {
    // A part of a node's records would look like a node that did nothing.
    std::erase_if(all.records, [&](const auto& of_node) { return all.names.at(of_node.first) == missing.node; });
    std::erase_if(all.names, [&](const auto& name) { return name.second == missing.node; });
  }
  return all;
}

}  // namespace banyan
