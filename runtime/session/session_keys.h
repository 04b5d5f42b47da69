// The keys of one session, and what guards them. Shared by the session and the leases on its slots, which may outlive
// it.
#ifndef BANYAN_RUNTIME_SESSION_SESSION_KEYS_H_
#define BANYAN_RUNTIME_SESSION_SESSION_KEYS_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "posix/home_process.h"
#include "runtime/session/session_key.h"

namespace banyan {

struct SessionKeys {
  const HomeProcess process;
  std::mutex mutex;
  std::condition_variable changed;          // a slot, a round or a key's state; the session's failure, too
  std::map<std::string, SessionKey> named;  // guarded by mutex; no key ever goes

  // Adds a key, in the place of one whose Init has failed. ALREADY_EXISTS when there is another one of the same shape,
  // INVALID_ARGUMENT for another shape. The mutex is held.
  absl::Status Add(const std::string& name, int64_t elements, DataType type = DataType::kFloat32);
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_SESSION_SESSION_KEYS_H_
