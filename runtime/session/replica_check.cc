// Session::CompareReplicas: rounds of digests whose result is the greatest, so that all workers come to the same
// answer.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "core/data_type.h"
#include "core/digest.h"
#include "runtime/session/session.h"

namespace banyan {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
constexpr absl::Duration kEndTimeout = absl::Seconds(10);
constexpr size_t kSlots = 1024;  // of workers, by their ranks; those of two that share one are told as the first

// Not negative, so that it has an opposite.
int64_t DigestOf(const StatePart& part) {
  const absl::Span<const uint8_t> name(reinterpret_cast<const uint8_t*>(part.name.data()), part.name.size());
  return static_cast<int64_t>(DigestBytes(part.memory, DigestBytes(name, 0)) >> 1);
}

std::string PlaceOf(const JobNodes& members, uint32_t rank) {
  for (const JobNodes::Node& node : members.nodes) {
    if (rank < node.workers) return rank == 0 ? node.name : absl::StrCat(node.name, " (worker ", rank, ")");
    rank -= node.workers;
  }
  return absl::StrCat("a worker that has gone (rank ", rank, ")");
}

// Makes `values` the greatest that any worker has there; returns the round.
absl::StatusOr<uint64_t> TakeGreatest(Session& session, const std::string& key, std::vector<int64_t>& values,
                                      absl::Time deadline) {
  const TensorView view(values.data(), static_cast<int64_t>(values.size()), DataType::kInt64Max);
  std::vector<int64_t> room(values.size());
  const absl::Status known =
      session.Init(key, view, TensorView(room.data(), view.elements(), view.type())).Wait(deadline - absl::Now());
  if (!known.ok() && !absl::IsAlreadyExists(known)) return known;
  Ticket ticket = session.PushPull(key, view, view);
  const absl::Status done = ticket.Wait(deadline - absl::Now());
  if (!done.ok()) return done;
  return ticket.round();
}

}  // namespace

absl::Status Session::CompareReplicas(absl::string_view name, absl::Span<const StatePart> parts,
                                      absl::Duration timeout) {
  if (may_leave_out()) {
    return absl::FailedPreconditionError(
        absl::StrCat(name,
                     ": expected a job that counts all workers in each round, as one that is left out has other "
                     "parameters; leave aggregation.quorum and not_finite: skip away"));
  }
  if (parts.empty()) return absl::InvalidArgumentError(absl::StrCat(name, ": expected parts to compare, got none"));
  const absl::Time deadline = absl::Now() + timeout;
  std::vector<int64_t> digests;
  for (const StatePart& part : parts) digests.push_back(DigestOf(part));
  // Where the greatest is the least, all are equal.
  std::vector<int64_t> extremes = digests;
  for (const int64_t digest : digests) extremes.push_back(-digest);
  const absl::StatusOr<uint64_t> round = TakeGreatest(*this, absl::StrCat(name, "-check"), extremes, deadline);
  if (!round.ok()) return round.status();
  size_t first = 0;
  while (first < parts.size() && extremes[first] == -extremes[parts.size() + first]) ++first;
  if (first == parts.size()) return absl::OkStatus();
  const absl::StatusOr<JobNodes> members = Members(0, deadline - absl::Now());
  if (!members.ok()) return members.status();
  std::vector<int64_t> told(kSlots, kNone);
  told[members->rank % kSlots] = digests[first];
  const absl::StatusOr<uint64_t> heard = TakeGreatest(*this, absl::StrCat(name, "-parted"), told, deadline);
  if (!heard.ok()) return heard.status();
  // When another round is over all have heard: who gets the error may end its program.
  std::vector<int64_t> heard_by_all = told;
  const TensorView view(heard_by_all.data(), kSlots, DataType::kInt64Max);
  (void)PushPull(absl::StrCat(name, "-parted"), view, view).Wait(std::min(kEndTimeout, deadline - absl::Now()));
  const auto lowest = std::find_if(told.begin(), told.end(), [](int64_t digest) { return digest != kNone; });
  std::vector<std::string> differing;
  for (auto slot = lowest; slot != told.end(); ++slot) {
    if (*slot == kNone || *slot == *lowest) continue;
    differing.push_back(PlaceOf(*members, static_cast<uint32_t>(slot - told.begin())));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      name, ": replicas have parted by round ", *round, ": ", absl::StrJoin(differing, ", "), " differ from ",
      PlaceOf(*members, static_cast<uint32_t>(lowest - told.begin())), ", first in ", parts[first].name,
      ". Look at what one site alone does to parameters or gradients: a step, a clip, a load, a schedule"));
}

}  // namespace banyan
