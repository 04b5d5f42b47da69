// BANYAN_CHECK: ends the process when one of our own invariants is broken. Never for anything that a peer, a file or a
// user can cause: that returns an absl::Status.
#ifndef BANYAN_CORE_CHECK_H_
#define BANYAN_CORE_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace banyan::internal {

[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: invariant broken: %s\n", file, line, condition);
  std::abort();
}

}  // namespace banyan::internal

#define BANYAN_CHECK(condition)                        \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::banyan::internal::CheckFailed(#condition, __FILE__, __LINE__))

#endif  // BANYAN_CORE_CHECK_H_
