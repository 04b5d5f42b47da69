// The groups of a session, and which tensor is in which. Thread-safe; owned by SessionCore.
//
// Invariants:
// - A name is that of a key, of a group or of a tensor in one group, and stays so.
#ifndef BANYAN_RUNTIME_SESSION_SESSION_GROUPS_H_
#define BANYAN_RUNTIME_SESSION_SESSION_GROUPS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/tensor_layout.h"
#include "core/tensor_view.h"
#include "proto/session_messages.h"
#include "runtime/session/operation.h"
#include "runtime/session/session_group.h"

namespace banyan {

class SessionGroups {
 public:
  using OperationPtr = std::shared_ptr<Operation>;  // shared with the caller's ticket
  struct Part {
    std::string name;
    ConstTensorView values;
    TensorView agreed;
  };
  // What the session lends for this.
  struct Session {
    // Makes the group known as a key, and opens its memory. ALREADY_EXISTS when it is one.
    std::function<absl::Status(const std::string& group, const TensorLayout& layout)> open;
    // Starts its Init with the values that `fill` writes, and leaves the result with `whole`.
    std::function<void(OperationPtr whole, const std::string& group, std::function<void(TensorView)> fill)> init;
    std::function<bool(const std::string& name)> is_key;
    SessionGroup::Session of_one;
  };

  // `make` outlives this.
  SessionGroups(const OperationMaker* make, Session session) : make_(make), session_(std::move(session)) {}

  OperationPtr Init(absl::string_view name, absl::Span<const Part> parts, Operation::Callback on_done);
  // Starts a call on `name`, or returns null when that is no tensor in a group: a group itself is a key as any other,
  // if it can be used as one now.
  OperationPtr Start(TensorCallKind kind, absl::string_view name, ConstTensorView gradient, TensorView result,
                     int32_t priority, Operation::Callback& on_done);
  // Starts a call on all tensors of a group, in their order.
  OperationPtr StartAll(TensorCallKind kind, absl::string_view group, absl::Span<const ConstTensorView> gradients,
                        absl::Span<const TensorView> results, int32_t priority, Operation::Callback on_done);
  // Says whether the memory of `name` can be shared with the program now. FAILED_PRECONDITION when it is that of a
  // tensor in a group, or of a group that is being pushed and `kind` begins a round.
  absl::Status CheckShared(TensorCallKind kind, absl::string_view name);
  bool IsPart(absl::string_view name) const {
    const Place place = Find(name);
    return place.group != nullptr && !place.is_whole;
  }

  // Names a group of which some tensors have been pushed; empty when there is none.
  std::string Filling() const;
  // Says for which tensors of its own the worker waits in a round of a key; empty when it waits for none.
  std::string DescribeMissing(const std::string& key, uint64_t round) const;
  // Ends rounds that are not full, and every later call, with `status`.
  void End(const absl::Status& status);

 private:
  struct Place {
    SessionGroup* group = nullptr;  // null: in none
    uint32_t part = 0;
    bool is_whole = false;  // the group itself
  };

  Place Find(absl::string_view name) const;
  SessionGroup* FindGroup(absl::string_view name) const;  // null: no group
  // Adds a group, or says why its names cannot be.
  absl::StatusOr<SessionGroup*> Add(const std::string& name, TensorLayout layout);
  absl::Status CheckNames(const std::string& name, const TensorLayout& layout) const;  // the mutex is held
  // Frees the names of a group whose Init has failed.
  void FreeNames(const SessionGroup* group);
  OperationPtr PartOperation(absl::string_view part, absl::string_view group, TensorView result,
                             Operation::Callback on_done) const;

  const OperationMaker* const make_;
  const Session session_;
  std::atomic<bool> has_groups_ = false;  // calls of a session without any pass no mutex
  mutable std::mutex mutex_;
  // Guarded by mutex_, as all below. No group ever goes.
  std::vector<std::unique_ptr<SessionGroup>> groups_;
  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_SESSION_GROUPS_H_
