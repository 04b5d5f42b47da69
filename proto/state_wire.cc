#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/message_wire.h"
#include "proto/state_layout.h"

namespace banyan {
namespace {

template <typename Proto>
void WritePushed(const std::vector<KeysPushed>& from, Proto& to) {
  for (const KeysPushed& keys : from) {
    wire::KeysPushed& written = *to.add_pushed();
    written.set_first_key(keys.first_key.value());
    written.set_last_key(keys.last_key.value());
    written.set_round(keys.round.value());
  }
}

template <typename Proto>
std::vector<KeysPushed> ReadPushed(const Proto& from, FieldReader& fields) {
  std::vector<KeysPushed> pushed;
  const int count = fields.Count("pushed", from.pushed_size());
  pushed.reserve(count);
  for (int i = 0; i < count; ++i) {
    const wire::KeysPushed& run = from.pushed(i);
    const KeyId before = pushed.empty() ? KeyId() : pushed.back().last_key;
    const KeyRun keys = fields.Within("pushed", i).Keys(run.first_key(), run.last_key(), before);
    pushed.push_back({keys.first, keys.last, Round(run.round())});
  }
  return pushed;
}

// From the joiner to a holder, which may be the joiner.
std::vector<NodeId> ReadHolderPath(const wire::StateHolders::Path& from, FieldReader fields) {
  std::vector<NodeId> path;
  const int count = fields.Count("nodes", from.nodes_size(), 1, fields.limits().max_path_nodes);
  for (int i = 0; i < count; ++i) path.push_back(fields.NonZero<NodeId>("nodes", from.nodes(i)));
  std::vector<NodeId> sorted = path;
  std::sort(sorted.begin(), sorted.end());
  const bool is_simple = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  fields.Expect(is_simple, "nodes", "each node once", "a node twice");
  return path;
}

StateShape ReadShape(const wire::StateManifest& from, FieldReader& fields) {
  StateShape shape;
  int64_t room = StateLayout::kMostBytes;
  const int count = fields.Count("parts", from.parts_size());
  shape.parts.reserve(count);
  for (int i = 0; i < count; ++i) {
    FieldReader within = fields.Within("parts", i);
    std::string name = within.Name("name", from.parts(i).name());
    const int64_t size_bytes = within.Between("size_bytes", from.parts(i).size_bytes(), int64_t{1}, room);
    const bool is_sorted = shape.parts.empty() || shape.parts.back().name < name;
    within.Expect(is_sorted, "name", "names in rising order", "another one");
    room -= std::min(size_bytes, room);
    shape.parts.push_back({std::move(name), size_bytes});
  }
  return shape;
}

// The total of a shape that was refused means nothing.
int HashesOf(const StateShape& shape) {
  const int64_t total = std::clamp<int64_t>(shape.total_bytes(), 0, StateLayout::kMostBytes);
  return static_cast<int>(StateLayout(total).chunks());
}

}  // namespace

void Write(const StateWanted& from, wire::Envelope& to) {
  to.mutable_state_wanted()->set_fetch(from.fetch);
  to.mutable_state_wanted()->set_of_replica(from.of_replica);
}

StateWanted Read(const wire::StateWanted& from, FieldReader) { return StateWanted{from.fetch(), from.of_replica()}; }

void Write(const StateSought& from, wire::Envelope& to) {
  wire::StateSought& sought = *to.mutable_state_sought();
  sought.set_term(from.term.value());
  sought.set_transfer(from.transfer.value());
  sought.set_reason(SendableReason(from.reason));
}

StateSought Read(const wire::StateSought& from, FieldReader fields) {
  return StateSought{fields.NonZero<Term>("term", from.term()), fields.NonZero<TransferId>("transfer", from.transfer()),
                     fields.Reason("reason", from.reason())};
}

void Write(const BoundaryHeld& from, wire::Envelope& to) {
  wire::BoundaryHeld& held = *to.mutable_boundary_held();
  held.set_transfer(from.transfer.value());
  held.set_step(from.step);
  WritePushed(from.pushed, held);
}

BoundaryHeld Read(const wire::BoundaryHeld& from, FieldReader fields) {
  BoundaryHeld held;
  held.transfer = fields.NonZero<TransferId>("transfer", from.transfer());
  held.step = from.step();
  held.pushed = ReadPushed(from, fields);
  return held;
}

void Write(const NoState& from, wire::Envelope& to) {
  wire::NoState& none = *to.mutable_no_state();
  none.set_transfer(from.transfer.value());
  none.set_reason(SendableReason(from.reason));
  none.set_had_state(from.had_state);
}

NoState Read(const wire::NoState& from, FieldReader fields) {
  return NoState{fields.NonZero<TransferId>("transfer", from.transfer()), fields.Reason("reason", from.reason()),
                 from.had_state()};
}

void Write(const StateHolders& from, wire::Envelope& to) {
  wire::StateHolders& holders = *to.mutable_state_holders();
  holders.set_term(from.term.value());
  holders.set_transfer(from.transfer.value());
  holders.set_fetch(from.fetch);
  holders.set_step(from.step);
  WritePushed(from.pushed, holders);
  for (const std::vector<NodeId>& path : from.paths) {
    wire::StateHolders::Path& written = *holders.add_paths();
    for (NodeId node : path) written.add_nodes(node.value());
  }
}

StateHolders Read(const wire::StateHolders& from, FieldReader fields) {
  StateHolders holders;
  holders.term = fields.NonZero<Term>("term", from.term());
  holders.transfer = fields.NonZero<TransferId>("transfer", from.transfer());
  holders.fetch = from.fetch();
  holders.step = from.step();
  holders.pushed = ReadPushed(from, fields);
  const int count = fields.Count("paths", from.paths_size());
  for (int i = 0; i < count; ++i) holders.paths.push_back(ReadHolderPath(from.paths(i), fields.Within("paths", i)));
  return holders;
}

void Write(const FetchEnded& from, wire::Envelope& to) {
  wire::FetchEnded& ended = *to.mutable_fetch_ended();
  ended.set_transfer(from.transfer.value());
  ended.set_fetch(from.fetch);
  ended.set_has_state(from.has_state);
  ended.set_reason(SendableReason(from.reason));
}

FetchEnded Read(const wire::FetchEnded& from, FieldReader fields) {
  return FetchEnded{TransferId(from.transfer()), from.fetch(), from.has_state(),
                    fields.Reason("reason", from.reason())};
}

void Write(const StateReleased& from, wire::Envelope& to) {
  wire::StateReleased& released = *to.mutable_state_released();
  released.set_term(from.term.value());
  released.set_transfer(from.transfer.value());
  released.set_fetch(from.fetch);
  released.set_code(static_cast<uint32_t>(from.code));
  released.set_reason(SendableReason(from.reason));
}

StateReleased Read(const wire::StateReleased& from, FieldReader fields) {
  StateReleased released;
  released.term = fields.NonZero<Term>("term", from.term());
  released.transfer = TransferId(from.transfer());
  released.fetch = from.fetch();
  const auto last = static_cast<uint32_t>(absl::StatusCode::kUnauthenticated);
  released.code = static_cast<absl::StatusCode>(fields.Between("code", from.code(), 0u, last));
  released.reason = fields.Reason("reason", from.reason());
  return released;
}

void Write(const StateManifestWanted& from, wire::Envelope& to) {
  wire::StateManifestWanted& wanted = *to.mutable_state_manifest_wanted();
  WriteSourceRoute(from.route, *wanted.mutable_route());
  wanted.set_transfer(from.transfer.value());
  WritePushed(from.replica, wanted);
}

StateManifestWanted Read(const wire::StateManifestWanted& from, FieldReader fields) {
  return StateManifestWanted{ReadSourceRoute(from.route(), fields.Within("route")),
                             fields.NonZero<TransferId>("transfer", from.transfer()), ReadPushed(from, fields)};
}

void Write(const StateManifest& from, wire::Envelope& to) {
  wire::StateManifest& manifest = *to.mutable_state_manifest();
  WriteSourceRoute(from.route, *manifest.mutable_route());
  manifest.set_transfer(from.transfer.value());
  for (const StateShape::Part& part : from.shape.parts) {
    wire::StateManifest::Part& written = *manifest.add_parts();
    written.set_name(part.name);
    written.set_size_bytes(part.size_bytes);
  }
  manifest.mutable_hashes()->Add(from.hashes.begin(), from.hashes.end());
}

StateManifest Read(const wire::StateManifest& from, FieldReader fields) {
  StateManifest manifest;
  manifest.route = ReadSourceRoute(from.route(), fields.Within("route"));
  manifest.transfer = fields.NonZero<TransferId>("transfer", from.transfer());
  manifest.shape = ReadShape(from, fields);
  const int chunks = HashesOf(manifest.shape);
  const int count = fields.Count("hashes", from.hashes_size(), chunks, chunks);
  manifest.hashes.assign(from.hashes().begin(), from.hashes().begin() + count);
  return manifest;
}

void Write(const StateRequest& from, wire::Envelope& to) {
  wire::StateRequest& request = *to.mutable_state_request();
  WriteSourceRoute(from.route, *request.mutable_route());
  request.set_transfer(from.transfer.value());
  request.set_attempt(from.attempt.value());
  for (const StateRequest::Run& run : from.chunks) {
    wire::StateRequest::Run& written = *request.add_chunks();
    written.set_first(run.first.value());
    written.set_last(run.last.value());
  }
  WritePushed(from.replica, request);
}

StateRequest Read(const wire::StateRequest& from, FieldReader fields) {
  StateRequest request;
  request.route = ReadSourceRoute(from.route(), fields.Within("route"));
  request.transfer = fields.NonZero<TransferId>("transfer", from.transfer());
  request.attempt = Attempt(from.attempt());
  const int count = fields.Count("chunks", from.chunks_size());
  uint32_t low = 0;
  for (int i = 0; i < count; ++i) {
    FieldReader within = fields.Within("chunks", i);
    const uint32_t first = within.Between("first", from.chunks(i).first(), low, StateLayout::kMostChunks - 1);
    const uint32_t last = within.Between("last", from.chunks(i).last(), first, StateLayout::kMostChunks - 1);
    request.chunks.push_back({ChunkIndex(first), ChunkIndex(last)});
    low = std::min(last + 1, StateLayout::kMostChunks - 1);
  }
  request.replica = ReadPushed(from, fields);
  return request;
}

void Write(const StateRefused& from, wire::Envelope& to) {
  wire::StateRefused& refused = *to.mutable_state_refused();
  WriteSourceRoute(from.route, *refused.mutable_route());
  refused.set_transfer(from.transfer.value());
  refused.set_reason(SendableReason(from.reason));
}

StateRefused Read(const wire::StateRefused& from, FieldReader fields) {
  return StateRefused{ReadSourceRoute(from.route(), fields.Within("route")),
                      fields.NonZero<TransferId>("transfer", from.transfer()), fields.Reason("reason", from.reason())};
}

}  // namespace banyan
