#include "runtime/testing/testing_node.h"

#include <iterator>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "compression/element_types.h"
#include "core/check.h"
#include "proto/job_config.h"

namespace banyan {

Actions TestingNode::Step(Timestamp, Event event) {
  actions_.clear();
  if (std::holds_alternative<StopRequested>(event)) {
    actions_.emplace_back(std::in_place_type<Stop>, Stop{absl::OkStatus()});
  } else if (auto* called = std::get_if<WorkerCalled>(&event)) {
    std::visit(
        [this](auto& call) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(call)>, WorkerDetach>) {
            if (!failed_.ok()) return Complete(call.request, failed_);
          }
          On(call);
        },
        called->call);
  }
  return std::move(actions_);
}

void TestingNode::On(WorkerAttach& call) {
  if (call.worker.value() >= options_.workers)
    return Complete(call.request, absl::InvalidArgumentError("no such worker"));
  if (!attached_.insert(call.worker).second) {
    return Complete(call.request, absl::AlreadyExistsError("the worker is attached already"));
  }
  actions_.emplace_back(CompleteRequest{call.request, absl::OkStatus(), KeyId(), Round(options_.rounds_in_flight), 0,
                                        JobTraits{AggregationOp::kSum, options_.may_leave_out}});
  std::vector<JobMember> members;
  for (int i = options_.nodes_before; i > 0; --i) members.push_back({absl::StrCat("n-", i), 2});
  members.push_back({"n1", options_.workers});
  actions_.emplace_back(std::in_place_type<NotifyMembers>, NotifyMembers{Epoch(attached_.size()), std::move(members)});
}

void TestingNode::On(WorkerDetach& call) {
  attached_.erase(call.worker);
  if (options_.on_detach) options_.on_detach(call.clean);
  if (!call.clean) Fail();
}

void TestingNode::On(WorkerInit& call) {
  if (!call.refused.ok()) return Complete(call.request, call.refused);
  if (call.values.empty()) return Complete(call.request, absl::InvalidArgumentError("no values"));
  const auto [name, added] = names_.try_emplace(call.name, KeyId(names_.size() + 1));
  Key& key = keys_[name->second];
  key.id = name->second;
  if (added) key.result = WidenedCopy(call.values);
  if (key.result.elements() != call.values.elements() || key.result.type() != SumTypeOf(call.values.type())) {
    return Complete(call.request, absl::InvalidArgumentError("the job's key has another shape"));
  }
  Take(key, call.worker, {call.request, call.values}, true);
}

void TestingNode::On(WorkerPush& call) {
  Key& key = keys_.at(call.key);
  Part part{call.request, std::move(call.gradient), call.wants_result};
  if (!call.wants_result)
    Complete(call.request, absl::OkStatus(), call.key, Round(key.complete ? key.round + 1 : key.round));
  Take(key, call.worker, std::move(part), false);
}

void TestingNode::On(WorkerBroadcast& call) {
  Take(keys_.at(call.key), call.worker, {call.request, std::move(call.values)}, true);
}

void TestingNode::On(WorkerPull& call) {
  Key& key = keys_.at(call.key);
  if (key.complete) return Deliver(call.request, key);
  key.pulls[call.worker] = call.request;
}

void TestingNode::On(WorkerBarrier& call) {
  barrier_.push_back(call.request);
  if (barrier_.size() < options_.workers) return;
  for (RequestId request : std::exchange(barrier_, {})) Complete(request, absl::OkStatus());
}

void TestingNode::On(WorkerReportLoss& call) { Complete(call.request, absl::OkStatus()); }

void TestingNode::On(WorkerDescribeWait& call) {
  Complete(call.request, absl::DeadlineExceededError(absl::StrCat("key ", call.name, " waits for n9")));
}

void TestingNode::On(WorkerRegisterWeights& call) {
  if (options_.on_weights) options_.on_weights(call.weights.floats());
  Complete(call.request, absl::OkStatus(), call.key);
}

void TestingNode::Take(Key& key, WorkerId worker, Part part, bool broadcast) {
  if (key.complete) {
    ++key.round;
    key.complete = false;
  }
  key.broadcast = broadcast;
  BANYAN_CHECK(key.parts.emplace(worker, std::move(part)).second);
  if (options_.fail_at && *options_.fail_at == key.round) return Fail();
  const bool held = options_.hold_from && key.round >= *options_.hold_from;
  if (key.parts.size() == options_.workers && !held) Finish(key);
}

void TestingNode::Finish(Key& key) {
  key.complete = true;
  key.result = WidenedCopy(key.parts.begin()->second.values);
  for (auto part = std::next(key.parts.begin()); part != key.parts.end() && !key.broadcast; ++part) {
    AddInto(PlainChunk(part->second.values, 1), key.result);
  }
  for (const auto& [worker, part] : std::exchange(key.parts, {})) {
    if (part.wants_result) Deliver(part.request, key);
    const bool is_awaited = part.wants_result || key.pulls.count(worker) > 0;
    if (!is_awaited) {
      actions_.emplace_back(std::in_place_type<NotifyRoundComplete>,
                            NotifyRoundComplete{worker, key.id, Round(key.round)});
    }
    if (options_.keeps_gradients) key.kept[worker] = {part.values};
  }
  for (const auto& [worker, request] : std::exchange(key.pulls, {})) Deliver(request, key);
}

void TestingNode::Deliver(RequestId request, const Key& key) {
  // In two pieces, as chunks come.
  const int64_t half = key.result.elements() / 2;
  actions_.emplace_back(std::in_place_type<WriteResult>,
                        WriteResult{request, half, key.result.Slice(half, key.result.elements() - half)});
  actions_.emplace_back(std::in_place_type<WriteResult>, WriteResult{request, 0, key.result.Slice(0, half)});
  Complete(request, absl::OkStatus(), key.id, Round(key.round));
}

void TestingNode::Complete(RequestId request, absl::Status status, KeyId key, Round round) {
  actions_.emplace_back(std::in_place_type<CompleteRequest>, CompleteRequest{request, std::move(status), key, round});
}

void TestingNode::Fail() {
  failed_ = absl::UnavailableError("the job failed: node n3 was lost");
  actions_.emplace_back(std::in_place_type<NotifyJobEnded>, NotifyJobEnded{failed_});
  for (auto& [id, key] : keys_) {
    for (const auto& [worker, part] : std::exchange(key.parts, {})) {
      if (part.wants_result) Complete(part.request, failed_, id, Round(key.round));
    }
    for (const auto& [worker, request] : std::exchange(key.pulls, {})) Complete(request, failed_, id, Round(key.round));
  }
  for (RequestId request : std::exchange(barrier_, {})) Complete(request, failed_);
}

}  // namespace banyan
