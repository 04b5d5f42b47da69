// Waits for room in a key: for a free slot, or the end of a round where as many as may are open. Functions for
// SessionCore.
#ifndef BANYAN_RUNTIME_SESSION_ROOM_H_
#define BANYAN_RUNTIME_SESSION_ROOM_H_

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/session/session_key.h"
#include "runtime/session/session_keys.h"

namespace banyan {

// How long the calls of a session wait.
struct SessionPatience {
  absl::Duration answer = absl::Seconds(30);       // for what depends on the node alone
  absl::Duration room = absl::InfiniteDuration();  // for room to start a call, which depends on other workers
};

// What a call needs in its key.
struct RoomNeeds {
  bool gradient = false;
  bool result = false;
  absl::Duration timeout = absl::InfiniteDuration();
};

// Takes the slots of a call; nothing while it must wait.
using TakeSlots = absl::FunctionRef<std::optional<SessionKey::Slots>(SessionKey&)>;
// Asks for whom the key waits. `done` takes a DEADLINE_EXCEEDED that says so, on any thread.
using AskWhom = absl::FunctionRef<void(std::function<void(const absl::Status&)> done)>;

// Waits until `take` gives slots of the key of this name, which exists. `lock` holds the mutex of `keys`, but while
// this waits or asks. Returns `failure` once it is no longer OK, and the key's own; DEADLINE_EXCEEDED after
// `needs.timeout`, with what `ask` has brought; FAILED_PRECONDITION where nothing that the node does makes room.
absl::StatusOr<SessionKey::Slots> ReserveRoom(std::unique_lock<std::mutex>& lock, SessionKeys& keys,
                                              const std::string& name, const RoomNeeds& needs,
                                              const absl::Status& failure, TakeSlots take, AskWhom ask);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_ROOM_H_
