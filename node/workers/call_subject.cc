#include "node/workers/call_subject.h"

#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

template <typename Call>
CallSubject SubjectOfOne(const Call& call, const LocalKeys& keys, const WorkerRoster& workers) {
  if constexpr (std::is_same_v<Call, WorkerInit>) return {absl::StrCat("init of key '", call.name, "'"), {}, {}};
  if constexpr (std::is_same_v<Call, WorkerBarrier>) return {"barrier", {}, {}};
  if constexpr (requires { call.key; }) {
    const LocalKey* local = keys.Find(call.key);
    if (local == nullptr || !workers.Contains(call.worker)) {
      return {absl::StrCat("key ", call.key.value()), call.key, {}};
    }
    const Round last = local->last_push[call.worker.value()];
    if constexpr (std::is_same_v<Call, WorkerRegisterWeights>) {
      return {absl::StrCat("weights of key '", local->name, "'"), call.key, {}};
    }
    const Round round = std::is_same_v<Call, WorkerPull> ? last : last.Next();
    return {RoundText(local->name, round), call.key, round};
  }
  return {absl::StrCat("worker ", call.worker.value()), {}, {}};
}

}  // namespace

std::string RoundText(const std::string& key, Round round) {
  return absl::StrCat("key '", key, "' round ", round.value());
}

CallSubject SubjectOf(const WorkerCall& call, const LocalKeys& keys, const WorkerRoster& workers) {
  return std::visit([&](const auto& concrete) { return SubjectOfOne(concrete, keys, workers); }, call);
}

}  // namespace banyan
