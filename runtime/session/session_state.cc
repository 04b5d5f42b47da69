#include "runtime/session/session_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/digest.h"
#include "proto/session_codec.h"

namespace banyan {
namespace {

// Leaves room for the envelope, and for sizes beside the names.
constexpr size_t kMostNameBytesPerMessage = kMaxSessionMessageBytes / 2;
constexpr size_t kMostPartsPerMessage = 256;
// How much longer than a call's own time-out the node may take to end it.
constexpr absl::Duration kGrace = absl::Seconds(10);

absl::Status CheckStateParts(const std::vector<SessionState::Part>& parts) {
  if (parts.empty()) return absl::InvalidArgumentError("a training state without parts; expected at least one");
  int64_t room = StateLayout::kMostBytes;
  for (size_t i = 0; i < parts.size(); ++i) {
    const SessionState::Part& part = parts[i];
    if (absl::Status status = CheckTensorName(part.name); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("part '", part.name,
                                                     "' of the training state: ", "a name has 1 to ",
                                                     kMaxTensorNameBytes, " printable ASCII characters"));
    }
    if (i > 0 && parts[i - 1].name == part.name) {
      return absl::InvalidArgumentError(absl::StrCat("two parts of the training state are called '", part.name, "'"));
    }
    if (part.memory.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("part '", part.name, "' of the training state is empty"));
    }
    room -= static_cast<int64_t>(part.memory.size());
    if (room < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the training state has more than ", StateLayout::kMostBytes, " bytes"));
    }
  }
  return absl::OkStatus();
}

absl::Status NotShared() {
  return absl::FailedPreconditionError("the worker has not shared its training state; call ShareState first");
}

}  // namespace

// ---- calls of the program ----

absl::Status SessionState::Share(std::vector<Part> parts) {
  if (absl::Status here = process_.Check("session"); !here.ok()) return here;
  const bool has_parts = !parts.empty();
  if (has_parts) {
    if (absl::Status status = Register(std::move(parts)); !status.ok()) return status;
    if (absl::Status status = SendShape(); !status.ok()) return status;
  }
  const std::shared_ptr<Operation> operation =
      session_.start("sharing the training state", [](CallId id) { return ShareStateCall{id}; });
  absl::Status status = operation->Wait(absl::InfiniteDuration());
  if (status.ok()) has_said_ = true;
  if (status.ok() && has_parts) is_shared_ = true;
  return status;
}

absl::Status SessionState::Register(std::vector<Part> parts) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.name < b.name; });
  if (absl::Status status = CheckStateParts(parts); !status.ok()) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!parts_.empty()) return absl::FailedPreconditionError("ShareState was called before");
  parts_ = std::move(parts);
  int64_t offset = 0;
  for (const Part& part : parts_) {
    offsets_.push_back(offset);
    offset += static_cast<int64_t>(part.memory.size());
  }
  layout_ = StateLayout(offset);
  return absl::OkStatus();
}

absl::Status SessionState::SendShape() {
  std::vector<DescribeState> messages(1);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    size_t name_bytes = 0;
    for (const Part& part : parts_) {
      name_bytes += part.name.size();
      if (name_bytes > kMostNameBytesPerMessage || messages.back().parts.size() >= kMostPartsPerMessage) {
        messages.emplace_back();
        name_bytes = part.name.size();
      }
      messages.back().parts.push_back({part.name, static_cast<int64_t>(part.memory.size())});
    }
  }
  for (const DescribeState& message : messages) {
    if (absl::Status status = session_.send(message); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> SessionState::IsBoundaryHeld() const {
  if (absl::Status here = process_.Check("session"); !here.ok()) return here;
  if (!is_shared_) return NotShared();
  return is_held_.load();
}

absl::Status SessionState::PassBoundary(uint64_t step, absl::Duration timeout) {
  const absl::StatusOr<bool> is_held = IsBoundaryHeld();
  if (!is_held.ok() || !*is_held) return is_held.status();
  if (const std::string busy = session_.busy_key(); !busy.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("an operation of key ", busy, " is under way; a boundary comes when all operations are done"));
  }
  if (absl::Status status = Lend(Use::kReader); !status.ok()) return status;
  const std::shared_ptr<Operation> operation =
      session_.start(absl::StrCat("boundary after step ", step), [step](CallId id) {
        return BoundaryCall{id, step};
      });
  absl::Status status = operation->Wait(timeout);
  TakeBack();
  // The node has the others told that this worker goes on.
  if (absl::IsDeadlineExceeded(status) && !operation->done()) (void)session_.send(LeaveBoundary{});
  return status;
}

absl::StatusOr<uint64_t> SessionState::Fetch(absl::Duration timeout) {
  if (absl::Status here = process_.Check("session"); !here.ok()) return here;
  if (!is_shared_) return NotShared();
  if (absl::Status status = Lend(Use::kWriter); !status.ok()) return status;
  const std::shared_ptr<Operation> operation = session_.start("fetching the training state", [timeout](CallId id) {
    return FetchStateCall{id, std::max(timeout, absl::ZeroDuration())};
  });
  absl::Status status = operation->Wait(timeout + kGrace);
  TakeBack();
  if (!status.ok()) return status;
  return operation->step();
}

absl::Status SessionState::Lend(Use use) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (use_ != Use::kNobody) {
    return absl::FailedPreconditionError("another PassBoundary or FetchState of this session is under way");
  }
  use_ = use;
  return absl::OkStatus();
}

void SessionState::TakeBack() {
  std::lock_guard<std::mutex> lock(mutex_);
  use_ = Use::kNobody;
}

// ---- requests of the node ----

void SessionState::OnOpened(std::shared_ptr<TensorSegment> segment) {
  std::lock_guard<std::mutex> lock(mutex_);
  segment_ = std::move(segment);
}

void SessionState::ForEachPiece(ChunkIndex chunk,
                                const std::function<void(absl::Span<uint8_t> piece, int64_t at)>& move) const {
  const int64_t begin = layout_.OffsetOf(chunk);
  const int64_t end = begin + layout_.SizeOf(chunk);
  auto part = std::upper_bound(offsets_.begin(), offsets_.end(), begin) - offsets_.begin() - 1;
  for (int64_t at = begin; at < end; ++part) {
    const int64_t within = at - offsets_[part];
    const int64_t size_bytes = std::min(static_cast<int64_t>(parts_[part].memory.size()) - within, end - at);
    move(parts_[part].memory.subspan(within, size_bytes), at - begin);
    at += size_bytes;
  }
}

void SessionState::On(const StateRead& read) {
  StateFilled filled{read.slot, false};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const bool fits = segment_ && read.slot < segment_->shape().gradient_slots && layout_.Has(read.chunk);
    if (fits && use_ == Use::kReader) {
      const absl::Span<uint8_t> slot = segment_->gradient(read.slot).bytes();
      ForEachPiece(read.chunk, [&](absl::Span<uint8_t> piece, int64_t at) {
        std::memcpy(slot.data() + at, piece.data(), piece.size());
      });
      filled.is_filled = true;
    }
  }
  (void)session_.send(filled);
}

uint64_t SessionState::HashOf(ChunkIndex chunk, std::vector<uint8_t>& scratch) const {
  absl::Span<const uint8_t> whole;
  ForEachPiece(chunk, [&](absl::Span<uint8_t> piece, int64_t at) {
    if (static_cast<int64_t>(piece.size()) == layout_.SizeOf(chunk)) {
      whole = piece;
      return;
    }
    scratch.resize(layout_.SizeOf(chunk));
    std::memcpy(scratch.data() + at, piece.data(), piece.size());
    whole = scratch;
  });
  return DigestBytes(whole, 0);
}

void SessionState::On(const StateHashesRead& read) {
  StateFilled filled{read.slot, false};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (segment_ && read.slot < segment_->shape().gradient_slots && use_ == Use::kReader) {
      const absl::Span<uint8_t> slot = segment_->gradient(read.slot).bytes();
      std::vector<uint8_t> scratch;
      for (ChunkIndex chunk(0); layout_.Has(chunk); chunk = chunk.Next()) {
        const uint64_t hash = HashOf(chunk, scratch);
        std::memcpy(slot.data() + chunk.value() * sizeof(hash), &hash, sizeof(hash));
      }
      filled.is_filled = true;
    }
  }
  (void)session_.send(filled);
}

void SessionState::On(const StateWrite& write) {
  StateTaken taken{write.slot, false};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const bool fits = segment_ && write.slot < segment_->shape().result_slots && layout_.Has(write.chunk);
    if (fits && use_ == Use::kWriter) {
      const absl::Span<uint8_t> slot = segment_->result(write.slot).bytes();
      ForEachPiece(write.chunk, [&](absl::Span<uint8_t> piece, int64_t at) {
        std::memcpy(piece.data(), slot.data() + at, piece.size());
      });
      taken.is_taken = true;
    }
  }
  (void)session_.send(taken);
}

}  // namespace banyan
