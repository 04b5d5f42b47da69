#include "runtime/session/session_groups.h"

#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/session_codec.h"
#include "proto/session_messages.h"
#include "runtime/session/session_group.h"

namespace banyan {
namespace {

using Part = SessionGroups::Part;

// Memory that an operation must not end before; empty when there is none.
TensorView FirstOf(absl::Span<const TensorView> views) {
  for (const TensorView& view : views) {
    if (!view.empty()) return view;
  }
  return {};
}

absl::Status CheckType(const Part& part, const Part& first) {
  const DataType type = first.values.type();
  const bool is_other = part.values.type() != type;
  if (!is_other && (part.agreed.empty() || part.agreed.type() == type)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the tensors of a group are of one type: ", first.name, " is of ",
                                                 NameOf(type), ", ", part.name, " of ",
                                                 NameOf(is_other ? part.values.type() : part.agreed.type())));
}

absl::Status CheckParts(absl::Span<const Part> parts) {
  if (parts.empty() || parts.size() > TensorLayout::kMostParts) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a group of 1 to ", TensorLayout::kMostParts, " tensors, got ", parts.size()));
  }
  int64_t elements = 0;
  size_t name_bytes = 0;
  for (const Part& part : parts) {
    if (absl::Status status = CheckTensorName(part.name); !status.ok()) return status;
    if (!part.agreed.empty() && part.agreed.elements() != part.values.elements()) {
      return absl::InvalidArgumentError(absl::StrCat("expected room for ", part.values.elements(), " agreed values of ",
                                                     part.name, ", got ", part.agreed.elements()));
    }
    if (absl::Status status = CheckType(part, parts.front()); !status.ok()) return status;
    elements += part.values.elements();
    name_bytes += part.name.size();
  }
  if (elements == 0) return absl::InvalidArgumentError("all tensors are empty; expected at least one value");
  if (name_bytes <= TensorLayout::kMostNameBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the names have ", name_bytes, " bytes; expected at most ", TensorLayout::kMostNameBytes));
}

TensorLayout LayoutOf(absl::Span<const Part> parts) {
  TensorLayout layout;
  layout.type = parts.front().values.type();
  layout.parts.reserve(parts.size());
  for (const Part& part : parts) layout.parts.push_back({part.name, part.values.elements()});
  return layout;
}

void CopyValues(absl::Span<const Part> parts, TensorView to) {
  uint8_t* next = to.bytes().data();
  for (const Part& part : parts) {
    if (!part.values.empty()) std::memcpy(next, part.values.data(), part.values.size_bytes());
    next += part.values.size_bytes();
  }
}

}  // namespace

// ---- names ----

SessionGroups::Place SessionGroups::Find(absl::string_view name) const {
  if (!has_groups_.load(std::memory_order_acquire)) return Place();
  std::lock_guard<std::mutex> lock(mutex_);
  const auto place = places_.find(name);
  return place == places_.end() ? Place() : place->second;
}

SessionGroup* SessionGroups::FindGroup(absl::string_view name) const {
  const Place place = Find(name);
  return place.is_whole ? place.group : nullptr;
}

absl::Status SessionGroups::CheckNames(const std::string& name, const TensorLayout& layout) const {
  if (absl::Status status = CheckTensorName(name); !status.ok()) return status;
  if (const auto known = places_.find(name); known != places_.end() && known->second.is_whole) {
    const TensorLayout& before = known->second.group->layout();
    if (before == layout) return absl::OkStatus();  // the key says whether another Init may follow
    const auto [had, has] = DescribeDifference({before.Elements(), before}, {layout.Elements(), layout});
    return absl::InvalidArgumentError(absl::StrCat("InitGroup came before, with ", had, ", and now has ", has));
  }
  if (session_.is_key(name) || places_.contains(name)) {
    return absl::InvalidArgumentError("the name is that of a tensor already");
  }
  std::set<absl::string_view> names;
  names.insert(name);
  for (const TensorLayout::Part& part : layout.parts) {
    if (!names.insert(part.name).second) {
      return absl::InvalidArgumentError(absl::StrCat("two of the group's names are '", part.name, "'"));
    }
    if (!session_.is_key(part.name) && !places_.contains(part.name)) continue;
    return absl::InvalidArgumentError(absl::StrCat("'", part.name, "' is initialised already, outside of this group"));
  }
  return absl::OkStatus();
}

absl::StatusOr<SessionGroup*> SessionGroups::Add(const std::string& name, TensorLayout layout) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (absl::Status status = CheckNames(name, layout); !status.ok()) return status;
  if (const auto known = places_.find(name); known != places_.end()) return known->second.group;
  groups_.push_back(std::make_unique<SessionGroup>(name, std::move(layout), &session_.of_one));
  has_groups_.store(true, std::memory_order_release);
  SessionGroup* const group = groups_.back().get();
  places_.emplace(name, Place{group, 0, /*is_whole=*/true});
  for (uint32_t part = 0; part < group->layout().parts.size(); ++part) {
    places_.emplace(group->layout().parts[part].name, Place{group, part});
  }
  return group;
}

void SessionGroups::FreeNames(const SessionGroup* group) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(places_, [group](const auto& place) { return place.second.group == group; });
}

// ---- starting ----

SessionGroups::OperationPtr SessionGroups::PartOperation(absl::string_view part, absl::string_view group,
                                                         TensorView result, Operation::Callback on_done) const {
  return make_->Make(absl::StrCat("key ", part, " of group ", group), result, std::move(on_done), std::string(group));
}

SessionGroups::OperationPtr SessionGroups::Init(absl::string_view name, absl::Span<const Part> parts,
                                                Operation::Callback on_done) {
  const std::string group_name(name);
  std::vector<TensorView> agreed;
  for (const Part& part : parts) agreed.push_back(part.agreed);
  OperationPtr operation = make_->Make(absl::StrCat("group ", name), FirstOf(agreed), std::move(on_done), group_name);
  operation->SetRound(0);
  absl::Status status = make_->process().Check("session");
  if (status.ok()) status = CheckParts(parts);
  absl::StatusOr<SessionGroup*> group = nullptr;
  if (status.ok()) group = Add(group_name, LayoutOf(parts));
  status.Update(group.status());
  if (status.ok()) {
    status = session_.open(group_name, (*group)->layout());
    if (absl::IsAlreadyExists(status)) {
      status = absl::AlreadyExistsError("InitGroup came before");
    } else if (!status.ok()) {
      FreeNames(*group);
    }
  }
  if (!status.ok()) {
    operation->Finish(status);
    return operation;
  }
  GroupWork work;
  work.operations.push_back(operation);
  for (size_t i = 0; i < agreed.size(); ++i) {
    if (!agreed[i].empty()) work.targets.push_back({(*group)->offsets()[i], agreed[i]});
  }
  OperationPtr whole =
      MakeWholeOperation([this, of = *group, work = std::move(work)](Operation& done, const absl::Status& outcome) {
        if (!outcome.ok()) FreeNames(of);
        work.Finish(done, outcome);
        done.Abandon();
      });
  session_.init(std::move(whole), group_name, [parts](TensorView to) { CopyValues(parts, to); });
  return operation;
}

SessionGroups::OperationPtr SessionGroups::Start(TensorCallKind kind, absl::string_view name, ConstTensorView gradient,
                                                 TensorView result, int32_t priority, Operation::Callback& on_done) {
  if (const absl::Status here = make_->process().Check("session"); !here.ok()) {
    OperationPtr refused = make_->MakeForKey(name, {}, std::move(on_done));
    refused->Finish(here);
    return refused;
  }
  const Place place = Find(name);
  if (place.group == nullptr) return nullptr;
  if (place.is_whole) {
    const absl::Status status = place.group->BeginWhole(kind);
    if (status.ok()) return nullptr;
    OperationPtr refused = make_->Make(absl::StrCat("group ", name), {}, std::move(on_done));
    refused->Finish(status);
    return refused;
  }
  OperationPtr operation = PartOperation(name, place.group->name(), result, std::move(on_done));
  if (kind == TensorCallKind::kRegisterWeights) {
    operation->Finish(absl::FailedPreconditionError(
        absl::StrCat("weights are registered for a whole group: call RegisterWeights of ", place.group->name())));
    return operation;
  }
  SessionGroup::Call call{.kind = kind, .first = place.part, .priority = priority};
  if (HasGradient(kind)) call.gradients = {&gradient, 1};
  if (HasResult(kind)) call.results = {&result, 1};
  place.group->Start(operation, call);
  return operation;
}

SessionGroups::OperationPtr SessionGroups::StartAll(TensorCallKind kind, absl::string_view group,
                                                    absl::Span<const ConstTensorView> gradients,
                                                    absl::Span<const TensorView> results, int32_t priority,
                                                    Operation::Callback on_done) {
  OperationPtr operation =
      make_->Make(absl::StrCat("group ", group), FirstOf(results), std::move(on_done), std::string(group));
  const absl::Status here = make_->process().Check("session");
  SessionGroup* const known = here.ok() ? FindGroup(group) : nullptr;
  if (known == nullptr) {
    operation->Finish(here.ok() ? absl::FailedPreconditionError("no InitGroup of this group came before") : here);
    return operation;
  }
  const size_t count = known->layout().parts.size();
  const bool fits = (!HasGradient(kind) || gradients.size() == count) && (!HasResult(kind) || results.size() == count);
  if (!fits) {
    operation->Finish(
        absl::InvalidArgumentError(absl::StrCat("expected ", count, " tensors, as InitGroup had, got ",
                                                gradients.size(), " gradients and ", results.size(), " results")));
    return operation;
  }
  known->Start(operation, {kind, 0, count, gradients, results, priority});
  return operation;
}

absl::Status SessionGroups::CheckShared(TensorCallKind kind, absl::string_view name) {
  const Place place = Find(name);
  if (place.group == nullptr) return absl::OkStatus();
  if (!place.is_whole) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, " has no memory of its own: it is shared as a part of group ", place.group->name(),
                     ", all of whose tensors follow one another"));
  }
  return place.group->BeginWhole(kind);
}

// ---- the session's state ----

std::string SessionGroups::Filling() const {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const std::unique_ptr<SessionGroup>& group : groups_) {
    if (group->IsFilling()) return group->name();
  }
  return "";
}

std::string SessionGroups::DescribeMissing(const std::string& key, uint64_t round) const {
  const SessionGroup* const group = FindGroup(key);
  return group == nullptr ? "" : group->DescribeMissing(round);
}

void SessionGroups::End(const absl::Status& status) {
  std::vector<SessionGroup*> groups;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const std::unique_ptr<SessionGroup>& group : groups_) groups.push_back(group.get());
  }
  for (SessionGroup* group : groups) group->End(status);
}

}  // namespace banyan
