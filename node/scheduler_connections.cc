#include "node/scheduler_connections.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "core/check.h"

namespace banyan {

SchedulerConnections::SchedulerConnections(std::vector<std::string> addresses)
    : addresses_(std::move(addresses)), is_up_(addresses_.size(), false), was_silent_(addresses_.size(), false) {
  BANYAN_CHECK(!addresses_.empty() && addresses_.size() <= kMostSchedulers);
}

void SchedulerConnections::Start(StepContext& step) const {
  for (size_t index = 0; index < addresses_.size(); ++index) Open(step, index);
}

void SchedulerConnections::Open(StepContext& step, size_t index) const {
  const ConnectionId connection(kSchedulerConnection.value() + index);
  step.actions.emplace_back(std::in_place_type<Connect>, Connect{connection, addresses_[index], Channel::kControl});
}

std::vector<std::string> SchedulerConnections::Learn(StepContext& step, const std::vector<std::string>& addresses) {
  std::vector<std::string> learned;
  for (const std::string& address : addresses) {
    const bool is_known = std::find(addresses_.begin(), addresses_.end(), address) != addresses_.end();
    if (is_known || addresses_.size() >= kMostSchedulers) continue;
    addresses_.push_back(address);
    is_up_.push_back(false);
    was_silent_.push_back(false);
    Open(step, addresses_.size() - 1);
    learned.push_back(address);
  }
  return learned;
}

void SchedulerConnections::OnUp(ConnectionId connection) {
  is_up_[IndexOf(connection)] = true;
  was_silent_[IndexOf(connection)] = false;
  in_use_ = IndexOf(connection);
}

bool SchedulerConnections::OnDown(ConnectionId connection) {
  const size_t index = IndexOf(connection);
  is_up_[index] = false;
  if (in_use_ != index) return false;
  UseNextAfter(index);
  return in_use_.has_value();
}

bool SchedulerConnections::OnSilence() {
  if (!in_use_.has_value()) return false;
  const size_t before = *in_use_;
  was_silent_[before] = true;
  UseNextAfter(before);
  return in_use_ != before;
}

void SchedulerConnections::UseNextAfter(size_t index) {
  in_use_.reset();
  for (size_t step = 1; step <= addresses_.size() && !in_use_.has_value(); ++step) {
    const size_t next = (index + step) % addresses_.size();
    if (is_up_[next]) in_use_ = next;
  }
}

std::optional<ConnectionId> SchedulerConnections::in_use() const {
  if (!in_use_.has_value()) return std::nullopt;
  return ConnectionId(kSchedulerConnection.value() + *in_use_);
}

std::string SchedulerConnections::address() const {
  return in_use_.has_value() ? addresses_[*in_use_] : absl::StrJoin(addresses_, ", ");
}

}  // namespace banyan
