#include "scheduler/policy/reconfigurator.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_limits.h"
#include "topology/planned_tensor.h"

namespace banyan {

void Reconfigurator::Request(ConnectionId connection, const Reconfigure& message) {
  if (absl::Status status = CheckTime(); !status.ok()) return RefuseNow(connection, status);
  connection_ = connection;
  is_reading_ = true;
  last_reading_ = last_reading_.Next();
  OverlayText text = {message.overlay_yaml, PrintableText(message.file_name, kMaxFileNameBytes)};
  const auto element_bytes = static_cast<int64_t>(WidestElementBits(keys_->Tensors()) / 8);
  context_->outbox.StartComputation(last_reading_,
                                    std::make_unique<OverlayReading>(*running_, std::move(text), element_bytes));
}

bool Reconfigurator::OnRead(OverlayReading& reading) {
  BANYAN_CHECK(is_reading_);
  is_reading_ = false;
  absl::StatusOr<Reconfiguration> wanted = reading.TakeResult();
  absl::Status status = wanted.ok() ? CheckTime() : wanted.status();
  // Keys may have come meanwhile.
  if (status.ok()) status = keys_->CheckChunks(wanted->overlay.chunks.max_elements);
  if (!status.ok()) {
    RefuseNow(connection_, status);
    return false;
  }
  pending_ = *std::move(wanted);
  is_planning_ = false;
  return true;
}

void Reconfigurator::RefuseNow(ConnectionId connection, const absl::Status& why) {
  context_->LogInfo(absl::StrCat("a reconfiguration was refused: ", why.message()));
  context_->outbox.Send(connection, OperatorReply{false, std::string(why.message())});
}

absl::Status Reconfigurator::CheckTime() const {
  if (!job_->IsRunning()) {
    return absl::FailedPreconditionError(
        job_->IsStarting()
            ? "the job has not started yet: it waits for as many nodes as membership.start_with says; change the "
              "overlay's file and start the scheduler again with it, or wait for the start"
            : "there is no running job; start a new one with the file");
  }
  if (is_pending() || is_reading_) {
    return absl::UnavailableError("another reconfiguration is being planned; try again when it is done");
  }
  if (policies_->size() >= kMostLivePolicies) {
    return absl::UnavailableError(absl::StrCat(
        policies_->size(), " policies govern open rounds; try again when the nodes have closed some of their rounds"));
  }
  return absl::OkStatus();
}

const Reconfiguration& Reconfigurator::BeginPlanning() {
  BANYAN_CHECK(is_pending());
  is_planning_ = true;
  return *pending_;
}

Reconfiguration Reconfigurator::Take() {
  BANYAN_CHECK(is_pending());
  is_planning_ = false;
  return *std::exchange(pending_, std::nullopt);
}

void Reconfigurator::Accept(std::string text) {
  context_->outbox.Send(connection_, OperatorReply{true, std::move(text)});
}

void Reconfigurator::Refuse(const std::string& why) {
  if (!is_pending() && !is_reading_) return;
  context_->LogInfo(absl::StrCat("a reconfiguration was refused: ", why));
  context_->outbox.SendUrgent(connection_, OperatorReply{false, why});
  pending_.reset();
  is_planning_ = false;
  is_reading_ = false;
}

}  // namespace banyan
