// The functions of banyan.h on sessions and tickets.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/tensor_view.h"
#include "core/version.h"
#include "runtime/c_api/banyan.h"
#include "runtime/c_api/c_values.h"
#include "runtime/c_api/session_handle.h"
#include "runtime/session/session.h"

using banyan::ConstTensorView;
using banyan::DataType;
using banyan::DurationOf;
using banyan::GroupPart;
using banyan::JobNodes;
using banyan::PushOptions;
using banyan::ReadSized;
using banyan::Report;
using banyan::ReportMissing;
using banyan::Session;
using banyan::SessionHandle;
using banyan::SessionOptions;
using banyan::StatePart;
using banyan::TensorView;
using banyan::Ticket;
using banyan::TrainingHealthReport;

namespace {

ConstTensorView ViewOf(const float* values, size_t count, DataType type) {
  return {static_cast<const void*>(values), static_cast<int64_t>(count), type};
}

TensorView ViewOf(float* values, size_t count, DataType type) {
  return {static_cast<void*>(values), static_cast<int64_t>(count), type};
}

std::vector<ConstTensorView> ViewsOf(const float* const* values, const size_t* counts, size_t parts, DataType type) {
  std::vector<ConstTensorView> views;
  for (size_t i = 0; i < parts; ++i) views.push_back(ViewOf(values[i], counts[i], type));
  return views;
}

std::vector<TensorView> ViewsOf(float* const* values, const size_t* counts, size_t parts, DataType type) {
  std::vector<TensorView> views;
  for (size_t i = 0; i < parts; ++i) views.push_back(ViewOf(values[i], counts[i], type));
  return views;
}

// An empty tensor may have no address.
bool IsMissing(const float* values, size_t count) { return values == nullptr && count > 0; }

// Whether one of a group's tensors is missing.
bool IsAnyMissing(const float* const* values, const size_t* counts, size_t parts) {
  for (size_t i = 0; i < parts; ++i) {
    if (IsMissing(values[i], counts[i])) return true;
  }
  return false;
}

absl::StatusOr<std::vector<StatePart>> PartsOf(size_t parts, const char* const* names, void* const* memory,
                                               const size_t* bytes) {
  if (names == nullptr || memory == nullptr || bytes == nullptr) {
    return absl::InvalidArgumentError("expected names, memory and bytes of parts, got null");
  }
  std::vector<StatePart> named;
  for (size_t i = 0; i < parts; ++i) {
    if (names[i] == nullptr || memory[i] == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("expected a name and memory for each part, got null in part ", i));
    }
    named.push_back({.name = names[i], .memory = {static_cast<uint8_t*>(memory[i]), bytes[i]}});
  }
  return named;
}

// False for what is no number, too.
bool IsShare(double value) { return value >= 0 && value <= 1; }

}  // namespace

extern "C" {

uint32_t banyan_abi_version(void) { return BANYAN_ABI_VERSION; }
const char* banyan_version(void) { return banyan::kVersion; }
const char* banyan_last_error(void) { return banyan::LastError(); }

int banyan_session_open(const banyan_session_options* options, banyan_session** session) {
  const absl::StatusOr<banyan_session_options> read = ReadSized(options, "banyan_session_options");
  if (!read.ok()) return Report(read.status());
  if (read->node == nullptr || session == nullptr) return ReportMissing(__func__, "options->node and session");
  SessionOptions chosen = {.node = read->node, .worker = read->worker};
  if (read->open_seconds != 0) chosen.open_timeout = DurationOf(read->open_seconds);
  if (read->answer_seconds != 0) chosen.answer_timeout = DurationOf(read->answer_seconds);
  if (read->room_seconds != 0) chosen.room_timeout = DurationOf(read->room_seconds);
  absl::StatusOr<std::unique_ptr<Session>> opened = Session::Open(chosen);
  if (!opened.ok()) return Report(opened.status());
  *session = new banyan_session{SessionHandle(*std::move(opened))};
  return BANYAN_OK;
}

int banyan_session_close(banyan_session* session, double seconds) {
  if (session == nullptr) return ReportMissing(__func__, "a session");
  return Report(session->handle.Close(DurationOf(seconds)));
}

int banyan_session_abandon(banyan_session* session, double seconds) {
  if (session == nullptr) return ReportMissing(__func__, "a session");
  return Report(session->handle.Close(DurationOf(seconds), /*in_order=*/false));
}

void banyan_session_free(banyan_session* session) {
  // In a forked child it stays: its locks may be held by threads that the child does not have.
  if (session != nullptr && session->handle.IsHere()) delete session;
}

const char* banyan_session_node_name(const banyan_session* session) {
  return session == nullptr ? "" : session->handle.node_name().c_str();
}

const char* banyan_session_aggregation_op(const banyan_session* session) {
  return session == nullptr ? "" : session->handle.aggregation_op().c_str();
}
int banyan_session_may_leave_out(const banyan_session* session) {
  return session != nullptr && session->handle.may_leave_out() ? 1 : 0;
}

int banyan_session_members(banyan_session* session, uint64_t after, double seconds, banyan_members* members) {
  if (session == nullptr || members == nullptr) return ReportMissing(__func__, "session and members");
  const absl::StatusOr<banyan_members> read = ReadSized(members, "banyan_members");
  if (!read.ok()) return Report(read.status());
  thread_local JobNodes told;
  thread_local std::vector<const char*> names;
  thread_local std::vector<uint32_t> workers;
  return Report(session->handle.Use([&](Session& to) {
    absl::StatusOr<JobNodes> now = to.Members(after, DurationOf(seconds));
    if (!now.ok()) return now.status();
    told = *std::move(now);
    names.clear();
    workers.clear();
    for (const JobNodes::Node& node : told.nodes) {
      names.push_back(node.name.c_str());
      workers.push_back(node.workers);
    }
    banyan_members made = {.size = read->size,
                           .epoch = told.epoch,
                           .rank = told.rank,
                           .world_size = told.world_size,
                           .count = told.nodes.size(),
                           .names = names.data(),
                           .workers = workers.data()};
    std::memcpy(members, &made, std::min(members->size, sizeof made));
    return absl::OkStatus();
  }));
}

int banyan_init(banyan_session* session, const char* key, const float* values, float* agreed, size_t count,
                const banyan_call_options* options, banyan_ticket** ticket) {
  if (session == nullptr || key == nullptr || IsMissing(values, count))
    return ReportMissing(__func__, "session, key, values");
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType type) {
    return to.Init(key, ViewOf(values, count, type), ViewOf(agreed, agreed == nullptr ? 0 : count, type),
                   {.on_done = std::move(call.on_done)});
  });
}

int banyan_init_group(banyan_session* session, const char* group, size_t parts, const char* const* names,
                      const float* const* values, float* const* agreed, const size_t* counts,
                      const banyan_call_options* options, banyan_ticket** ticket) {
  if (session == nullptr || group == nullptr || names == nullptr || values == nullptr || counts == nullptr) {
    return ReportMissing(__func__, "session, group, names, values, counts");
  }
  if (std::find(names, names + parts, nullptr) != names + parts || IsAnyMissing(values, counts, parts)) {
    return ReportMissing(__func__, "a name and values for each part");
  }
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType type) {
    std::vector<GroupPart> named;
    for (size_t i = 0; i < parts; ++i) {
      named.push_back({.name = names[i], .values = ViewOf(values[i], counts[i], type)});
      if (agreed != nullptr && agreed[i] != nullptr) named.back().agreed = ViewOf(agreed[i], counts[i], type);
    }
    return to.InitGroup(group, named, {.on_done = std::move(call.on_done)});
  });
}

int banyan_push(banyan_session* session, const char* key, const float* gradient, size_t count,
                const banyan_call_options* options, banyan_ticket** ticket) {
  if (session == nullptr || key == nullptr || IsMissing(gradient, count)) {
    return ReportMissing(__func__, "session, key, gradient");
  }
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType type) {
    return to.Push(key, ViewOf(gradient, count, type), std::move(call));
  });
}

int banyan_pull(banyan_session* session, const char* key, float* result, size_t count,
                const banyan_call_options* options, banyan_ticket** ticket) {
  if (session == nullptr || key == nullptr || IsMissing(result, count))
    return ReportMissing(__func__, "session, key, result");
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType type) {
    return to.Pull(key, ViewOf(result, count, type), {.on_done = std::move(call.on_done)});
  });
}

int banyan_push_pull(banyan_session* session, const char* key, const float* gradient, float* result, size_t count,
                     const banyan_call_options* options, banyan_ticket** ticket) {
  if (session == nullptr || key == nullptr || IsMissing(gradient, count) || IsMissing(result, count)) {
    return ReportMissing(__func__, "session, key, gradient, result");
  }
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType type) {
    return to.PushPull(key, ViewOf(gradient, count, type), ViewOf(result, count, type), std::move(call));
  });
}

int banyan_push_group(banyan_session* session, const char* group, size_t parts, const float* const* gradients,
                      const size_t* counts, const banyan_call_options* options, banyan_ticket** ticket) {
  if (session == nullptr || group == nullptr || gradients == nullptr || counts == nullptr) {
    return ReportMissing(__func__, "session, group, gradients, counts");
  }
  if (IsAnyMissing(gradients, counts, parts)) return ReportMissing(__func__, "an address for each part");
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType type) {
    return to.PushGroup(group, ViewsOf(gradients, counts, parts, type), std::move(call));
  });
}

int banyan_pull_group(banyan_session* session, const char* group, size_t parts, float* const* results,
                      const size_t* counts, const banyan_call_options* options, banyan_ticket** ticket) {
  if (session == nullptr || group == nullptr || results == nullptr || counts == nullptr) {
    return ReportMissing(__func__, "session, group, results, counts");
  }
  if (IsAnyMissing(results, counts, parts)) return ReportMissing(__func__, "an address for each part");
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType type) {
    return to.PullGroup(group, ViewsOf(results, counts, parts, type), {.on_done = std::move(call.on_done)});
  });
}

int banyan_push_pull_group(banyan_session* session, const char* group, size_t parts, const float* const* gradients,
                           float* const* results, const size_t* counts, const banyan_call_options* options,
                           banyan_ticket** ticket) {
  if (session == nullptr || group == nullptr || gradients == nullptr || results == nullptr || counts == nullptr) {
    return ReportMissing(__func__, "session, group, gradients, results, counts");
  }
  if (IsAnyMissing(gradients, counts, parts) || IsAnyMissing(results, counts, parts)) {
    return ReportMissing(__func__, "an address for each part");
  }
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType type) {
    return to.PushPullGroup(group, ViewsOf(gradients, counts, parts, type), ViewsOf(results, counts, parts, type),
                            std::move(call));
  });
}

int banyan_flush(banyan_session* session, const char* key, const float* gradient, float* result, size_t count,
                 const banyan_call_options* options, banyan_ticket** ticket) {
  if (session == nullptr || key == nullptr || IsMissing(gradient, count) || IsMissing(result, count)) {
    return ReportMissing(__func__, "session, key, gradient, result");
  }
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType type) {
    return to.Flush(key, ViewOf(gradient, count, type), ViewOf(result, count, type), std::move(call));
  });
}

int banyan_broadcast(banyan_session* session, const char* key, const float* values, float* result, size_t count,
                     const banyan_call_options* options, banyan_ticket** ticket) {
  if (session == nullptr || key == nullptr || IsMissing(values, count) || IsMissing(result, count)) {
    return ReportMissing(__func__, "session, key, values, result");
  }
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType type) {
    return to.Broadcast(key, ViewOf(values, count, type), ViewOf(result, count, type), std::move(call));
  });
}

int banyan_register_weights(banyan_session* session, const char* key, const float* weights, size_t count,
                            const banyan_call_options* options, banyan_ticket** ticket) {
  if (session == nullptr || key == nullptr || IsMissing(weights, count)) {
    return ReportMissing(__func__, "session, key, weights");
  }
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType type) {
    return to.RegisterWeights(key, ViewOf(weights, count, type), {.on_done = std::move(call.on_done)});
  });
}

int banyan_barrier(banyan_session* session, const banyan_call_options* options, banyan_ticket** ticket) {
  if (session == nullptr) return ReportMissing(__func__, "a session");
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType) {
    return to.Barrier({.on_done = std::move(call.on_done)});
  });
}

int banyan_report_loss(banyan_session* session, uint64_t step, double loss, const banyan_call_options* options,
                       banyan_ticket** ticket) {
  if (session == nullptr) return ReportMissing(__func__, "a session");
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType) {
    return to.ReportLoss(step, loss, {.on_done = std::move(call.on_done)});
  });
}

int banyan_report_health(banyan_session* session, const banyan_health* health, const banyan_call_options* options,
                         banyan_ticket** ticket) {
  if (session == nullptr || health == nullptr) return ReportMissing(__func__, "session, health");
  const absl::StatusOr<banyan_health> read = ReadSized(health, "banyan_health");
  if (!read.ok()) return Report(read.status());
  if (!IsShare(read->progress) || !IsShare(read->learning_rate_fraction)) {
    return Report(absl::InvalidArgumentError(
        absl::StrCat("banyan_health: expected progress and learning_rate_fraction in [0, 1], got ", read->progress,
                     " and ", read->learning_rate_fraction)));
  }
  TrainingHealthReport report = {.step = read->step, .loss = read->loss, .progress = read->progress};
  if (read->learning_rate_fraction != 0) report.learning_rate_fraction = read->learning_rate_fraction;
  if (read->has_metric != 0) report.metric = read->metric;
  return session->handle.Start(options, ticket, [&](Session& to, PushOptions call, DataType) {
    return to.ReportHealth(report, {.on_done = std::move(call.on_done)});
  });
}

int banyan_ticket_wait(const banyan_ticket* ticket, double seconds) {
  if (ticket == nullptr) return ReportMissing(__func__, "a ticket");
  return Report(ticket->record->ticket.Wait(DurationOf(seconds)));
}

int banyan_ticket_poll(const banyan_ticket* ticket, double seconds) {
  if (ticket == nullptr || ticket->record->ticket.done()) return 1;
  return ticket->record->Poll(DurationOf(seconds)) ? 1 : 0;
}

uint64_t banyan_ticket_round(const banyan_ticket* ticket) {
  return ticket == nullptr ? 0 : ticket->record->ticket.round();
}

void banyan_ticket_release(banyan_ticket* ticket) { delete ticket; }

int banyan_session_fd(const banyan_session* session) {
  const banyan::CompletionQueue* const queue = session == nullptr ? nullptr : session->handle.queue();
  return queue == nullptr ? -1 : queue->descriptor();
}

int banyan_session_next(banyan_session* session, double seconds, uint64_t* tags, int* codes, size_t capacity,
                        size_t* count) {
  if (session == nullptr || tags == nullptr || count == nullptr || capacity == 0) {
    return ReportMissing(__func__, "session, tags, count, and room for one");
  }
  banyan::CompletionQueue* const queue = session->handle.queue();
  if (queue == nullptr) return Report(session->handle.Use([](Session&) { return absl::OkStatus(); }));
  const auto ends = queue->Take(capacity, DurationOf(seconds));
  *count = ends.ok() ? ends->size() : 0;
  for (size_t i = 0; i < *count; ++i) {
    tags[i] = (*ends)[i].tag;
    if (codes != nullptr) codes[i] = (*ends)[i].code;
  }
  return Report(ends.status());
}

int banyan_share_state(banyan_session* session, size_t parts, const char* const* names, void* const* memory,
                       const size_t* bytes) {
  if (session == nullptr) return ReportMissing(__func__, "session");
  absl::StatusOr<std::vector<StatePart>> named = PartsOf(parts, names, memory, bytes);
  if (!named.ok()) return Report(named.status());
  return Report(session->handle.Use([&](Session& to) { return to.ShareState(*std::move(named)); }));
}

int banyan_compare_replicas(banyan_session* session, const char* name, size_t parts, const char* const* names,
                            void* const* memory, const size_t* bytes, double seconds) {
  if (session == nullptr || name == nullptr) return ReportMissing(__func__, "session, name");
  const absl::StatusOr<std::vector<StatePart>> named = PartsOf(parts, names, memory, bytes);
  if (!named.ok()) return Report(named.status());
  return Report(
      session->handle.Use([&](Session& to) { return to.CompareReplicas(name, *named, DurationOf(seconds)); }));
}

int banyan_pass_boundary(banyan_session* session, uint64_t step, double seconds) {
  if (session == nullptr) return ReportMissing(__func__, "a session");
  return Report(session->handle.Use([&](Session& to) { return to.PassBoundary(step, DurationOf(seconds)); }));
}

int banyan_boundary_is_held(banyan_session* session, int* is_held) {
  if (session == nullptr || is_held == nullptr) return ReportMissing(__func__, "session and is_held");
  return Report(session->handle.Use([&](Session& to) {
    const absl::StatusOr<bool> held = to.IsBoundaryHeld();
    if (held.ok()) *is_held = *held ? 1 : 0;
    return held.status();
  }));
}

int banyan_fetch_state(banyan_session* session, double seconds, uint64_t* step) {
  if (session == nullptr || step == nullptr) return ReportMissing(__func__, "session and step");
  return Report(session->handle.Use([&](Session& to) {
    const absl::StatusOr<uint64_t> fetched = to.FetchState(DurationOf(seconds));
    if (fetched.ok()) *step = *fetched;
    return fetched.status();
  }));
}

}  // extern "C"
