#include "scheduler/testing/mesh_job.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/testing/wire_samples.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {

std::string MeshYaml(int count, const std::string& more) {
  std::string yaml = "job: test\nscheduler: {address: 'tcp://127.0.0.1:7700'}\nnodes:\n";
  for (int node = 1; node <= count; ++node) {
    absl::StrAppend(&yaml, "  - {name: n", node, ", address: 'tcp://10.0.0.", node, ":7701'}\n");
  }
  // A policy then governs the very next round that is asked for.
  const bool has_policy = more.find("policy:") != std::string::npos;
  return absl::StrCat(yaml, more, has_policy ? "" : "policy: {lease_seconds: 0}\n");
}

OverlayConfig MeshOverlay(int count, const std::string& more) {
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(MeshYaml(count, more), "test.yaml");
  EXPECT_TRUE(overlay.ok()) << overlay.status();
  return *std::move(overlay);
}

ConnectionId MeshConnection(int node) { return ConnectionId(kInboundConnection.value() + static_cast<uint64_t>(node)); }

Join MeshJoin(int node, uint64_t incarnation) {
  Join join;
  join.name = absl::StrCat("n", node);
  join.address = absl::StrCat("tcp://10.0.0.", node, ":7701");
  join.incarnation = Incarnation(incarnation);
  return join;
}

MeshJob::MeshJob(int count, const std::string& more)
    : overlay(MeshOverlay(count, more)), job(overlay.job), members(&overlay, &job, StartId(1), &context) {
  job.Restore(Term(1), Epoch());
}

void MeshJob::JoinAll() {
  for (int node = 1; node <= static_cast<int>(overlay.nodes.size()); ++node) {
    members.Join(MeshConnection(node), MeshJoin(node));
  }
}

void MeshJob::Start() {
  JoinAll();
  job.BeginPlanning();
  job.Run();
  members.Start();
  Forget();
}

void MeshJob::Forget() {
  Read();
  sent_.clear();
}

const std::vector<StateRecord>& MeshJob::Records() {
  Read();
  return records_;
}

bool MeshJob::HasLog(const std::string& part) {
  Read();
  return std::any_of(logs_.begin(), logs_.end(),
                     [&part](const std::string& line) { return line.find(part) != std::string::npos; });
}

bool MeshJob::Closed(int node) {
  Read();
  return closed_.count(MeshConnection(node)) > 0;
}

std::optional<StartComputation> MeshJob::TakeComputation() {
  Read();
  return std::exchange(computation_, std::nullopt);
}

void MeshJob::Read() {
  while (true) {
    Actions actions = context.outbox.Take();
    for (Action& action : actions) Take(action);
    if (pending_.empty() || !persists) return;
    for (const RecordId record : std::exchange(pending_, {})) context.outbox.Persisted(record);
  }
}

void MeshJob::Take(Action& action) {
  if (auto* send = std::get_if<Send>(&action); send != nullptr) {
    ExpectReadable(send->message);
    sent_[send->connection].push_back(std::move(send->message));
  } else if (auto* record = std::get_if<PersistRecord>(&action); record != nullptr) {
    absl::StatusOr<StateRecord> decoded = DecodeStateRecord(record->bytes);
    EXPECT_TRUE(decoded.ok()) << decoded.status();
    records_.push_back(*std::move(decoded));
    pending_.push_back(record->record);
  } else if (auto* line = std::get_if<LogLine>(&action); line != nullptr) {
    logs_.push_back(std::move(line->text));
  } else if (const auto* closed = std::get_if<Disconnect>(&action); closed != nullptr) {
    closed_.insert(closed->connection);
  } else if (auto* started = std::get_if<StartComputation>(&action); started != nullptr) {
    computation_ = std::move(*started);
  }
}

}  // namespace banyan
