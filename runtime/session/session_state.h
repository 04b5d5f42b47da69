// A worker's training state, as its session knows it: the memory of its parts, and when the node may touch it. Makes
// the session's calls about it, and answers what the node asks of it.
//
// Thread-safe. Owned by the SessionCore. The node's requests come on the port's thread, which does the copying.
//
// Invariants:
// - The parts' memory is read only while the program waits in PassBoundary, and written only while it waits in Fetch.
//   When these return, nobody touches it any more.
// - A boundary that nobody has to wait at costs the look at one flag and at the number of the process.
#ifndef BANYAN_RUNTIME_SESSION_SESSION_STATE_H_
#define BANYAN_RUNTIME_SESSION_SESSION_STATE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/ids.h"
#include "posix/home_process.h"
#include "proto/session_messages.h"
#include "proto/state_layout.h"
#include "runtime/session/operation.h"
#include "runtime/workers/tensor_segment.h"

namespace banyan {

class SessionState {
 public:
  struct Part {
    std::string name;
    absl::Span<uint8_t> memory;
  };
  // What the session lends for this.
  struct Session {
    // Starts a call: sends the message that is made for its id. The operation is described as `what`.
    std::function<std::shared_ptr<Operation>(absl::string_view what, std::function<WorkerMessage(CallId)> make)> start;
    std::function<absl::Status(const WorkerMessage&)> send;
    // Names the key of an operation under way; empty when there is none.
    std::function<std::string()> busy_key;
  };

  explicit SessionState(Session session) : session_(std::move(session)) {}

  // Session::ShareState, IsBoundaryHeld, PassBoundary and FetchState.
  absl::Status Share(std::vector<Part> parts);
  bool has_said() const { return has_said_; }
  absl::StatusOr<bool> IsBoundaryHeld() const;
  absl::Status PassBoundary(uint64_t step, absl::Duration timeout);
  absl::StatusOr<uint64_t> Fetch(absl::Duration timeout);

  // Takes the memory that the node has made for the state.
  void OnOpened(std::shared_ptr<TensorSegment> segment);
  void On(const HoldAtBoundary& hold) { is_held_ = hold.is_held; }
  void On(const StateRead& read);
  void On(const StateHashesRead& read);
  void On(const StateWrite& write);

 private:
  // Who may touch the parts' memory beside the program.
  enum class Use { kNobody, kReader, kWriter };

  absl::Status Register(std::vector<Part> parts);
  absl::Status SendShape();
  // Lets the node touch the memory; FAILED_PRECONDITION when another call of the program does already.
  absl::Status Lend(Use use);
  void TakeBack();
  // Calls `move` with each piece of a chunk in the parts, and where it is in the chunk. The mutex is held.
  void ForEachPiece(ChunkIndex chunk, const std::function<void(absl::Span<uint8_t> piece, int64_t at)>& move) const;
  uint64_t HashOf(ChunkIndex chunk, std::vector<uint8_t>& scratch) const;  // the mutex is held

  const HomeProcess process_;
  const Session session_;
  std::atomic<bool> is_held_ = false;
  std::atomic<bool> is_shared_ = false;
  std::atomic<bool> has_said_ = false;  // what it shares, or that it shares nothing

  std::mutex mutex_;         // guards all below; held while chunks are copied
  std::vector<Part> parts_;  // sorted by name
  std::vector<int64_t> offsets_;
  StateLayout layout_;
  std::shared_ptr<TensorSegment> segment_;  // shared with the node within one process
  Use use_ = Use::kNobody;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_SESSION_STATE_H_
