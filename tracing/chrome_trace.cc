#include "tracing/chrome_trace.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/json_writer.h"
#include "tracing/critical_path.h"

namespace banyan {
namespace {

constexpr uint64_t kJobProcess = 0;  // no node has this number

struct Slice {
  std::string name;
  Timestamp begin;
  Timestamp end;
  std::map<std::string, std::string> facts = {};
};
using Slices = std::vector<Slice>;

// A track of one process.
struct Track {
  std::string name;
  Slices slices;
};

std::string NameOf(const ChunkJourney& journey) {
  return absl::StrCat(journey.is_result ? "result " : "sum ", journey.key.value(), ":", journey.chunk.value());
}

std::map<std::string, std::string> FactsOf(const JobTrace& trace, const ChunkJourney& journey, int64_t size_bytes) {
  return {{"round", absl::StrCat(journey.round.value())},
          {"key", absl::StrCat(journey.key.value())},
          {"chunk", absl::StrCat(journey.chunk.value())},
          {"half", journey.is_result ? "broadcast" : "push"},
          {"from", trace.NameOf(journey.source)},
          {"to", trace.NameOf(journey.destination)},
          {"bytes", absl::StrCat(size_bytes)}};
}

// Lets no slice begin before the end of the one before it. REQUIRES: in order of their ends.
void CutOverlaps(Slices& slices) {
  for (size_t i = 1; i < slices.size(); ++i) slices[i].begin = std::max(slices[i].begin, slices[i - 1].end);
}

// Distributes slices over as few tracks as they need, without overlap.
std::vector<Slices> Spread(Slices slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
  std::vector<Slices> lanes;
  for (Slice& slice : slices) {
    const auto free =
        std::find_if(lanes.begin(), lanes.end(), [&](const Slices& lane) { return lane.back().end <= slice.begin; });
    (free == lanes.end() ? lanes.emplace_back() : *free).push_back(std::move(slice));
  }
  return lanes;
}

// What the link from one node to another carries, and what waits for it.
void AddLink(const JobTrace& trace, const std::string& to, const std::vector<const Hop*>& hops,
             std::vector<Track>& tracks) {
  Track carries{absl::StrCat("to ", to), {}};
  Slices waits;
  for (const Hop* hop : hops) {
    carries.slices.push_back(
        {NameOf(hop->journey), hop->sent_at, hop->received_at, FactsOf(trace, hop->journey, hop->size_bytes)});
    if (hop->ready_at < hop->sent_at) waits.push_back({"", hop->ready_at, hop->sent_at});
  }
  CutOverlaps(carries.slices);
  // Chunks wait together: one slice for as long as any does.
  std::stable_sort(waits.begin(), waits.end(), [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
  Track waiting{absl::StrCat("waits for ", to), {}};
  std::vector<int64_t> chunks;
  for (const Slice& wait : waits) {
    if (!waiting.slices.empty() && wait.begin <= waiting.slices.back().end) {
      waiting.slices.back().end = std::max(waiting.slices.back().end, wait.end);
      ++chunks.back();
    } else {
      waiting.slices.push_back(wait);
      chunks.push_back(1);
    }
  }
  for (size_t i = 0; i < chunks.size(); ++i) {
    waiting.slices[i].name = absl::StrCat(chunks[i], chunks[i] == 1 ? " chunk waits" : " chunks wait");
  }
  tracks.push_back(std::move(carries));
  if (!waiting.slices.empty()) tracks.push_back(std::move(waiting));
}

// A node's sums: from when the last part of a chunk came until the sum was ready.
Slices SumsOf(const JobTrace& trace, NodeId node) {
  using ChunkKey = std::tuple<Round, KeyId, ChunkIndex>;
  std::map<ChunkKey, std::vector<Timestamp>> parts;
  std::map<ChunkKey, const Hop*> sums;  // the first hop of each that left
  std::map<std::pair<Round, KeyId>, Timestamp> own;
  for (const Mark& mark : trace.marks) {
    if (mark.node == node && mark.step != RoundRecords::Step::kCompleted) own[{mark.round, mark.key}] = mark.at;
  }
  for (const Hop& hop : trace.hops) {
    const ChunkJourney& journey = hop.journey;
    const ChunkKey chunk{journey.round, journey.key, journey.chunk};
    if (hop.to == node && journey.destination == node && !journey.is_result) parts[chunk].push_back(hop.received_at);
    if (hop.from != node || journey.source != node) continue;
    const Hop*& first = sums[chunk];
    if (first == nullptr || hop.ready_at < first->ready_at) first = &hop;
  }
  Slices slices;
  for (const auto& [chunk, hop] : sums) {
    const auto contributed = own.find({hop->journey.round, hop->journey.key});
    std::optional<Timestamp> begin;
    if (contributed != own.end() && contributed->second <= hop->ready_at) begin = contributed->second;
    for (const Timestamp at : parts[chunk]) {
      if (at <= hop->ready_at && (!begin.has_value() || at > *begin)) begin = at;
    }
    // Without a part here it only passes a result on.
    const bool is_sum = begin.has_value() && (!hop->journey.is_result || !parts[chunk].empty());
    if (is_sum) {
      slices.push_back({absl::StrCat("adds ", hop->journey.key.value(), ":", hop->journey.chunk.value()), *begin,
                        hop->ready_at, FactsOf(trace, hop->journey, hop->size_bytes)});
    }
  }
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) { return a.end < b.end; });
  CutOverlaps(slices);
  return slices;
}

Slices RoundsOf(const JobTrace& trace, NodeId node) {
  std::map<Round, std::pair<Timestamp, Timestamp>> times;
  for (const Mark& mark : trace.marks) {
    if (mark.node != node || mark.step == RoundRecords::Step::kPolicyCame) continue;
    times.try_emplace(mark.round, mark.at, mark.at).first->second.second = mark.at;
  }
  Slices slices;
  for (const auto& [round, ends] : times) {
    if (ends.first == ends.second) continue;  // the end alone, of the round before those that are traced
    slices.push_back({absl::StrCat("round ", round.value()), ends.first, ends.second});
  }
  return slices;
}

class ChromeWriter {
 public:
  explicit ChromeWriter(Timestamp zero) : zero_(zero) { json_.BeginObject().Name("traceEvents").BeginArray(); }

  void WriteProcess(uint64_t process, const std::string& name, const std::vector<Track>& tracks) {
    WriteName("process_name", process, 0, name);
    uint64_t thread = 0;
    for (const Track& track : tracks) {
      ++thread;
      WriteName("thread_name", process, thread, track.name);
      for (const Slice& slice : track.slices) WriteSlice(process, thread, track.name, slice);
    }
  }

  std::string Finish(const std::vector<std::string>& sentences, const JobTrace& trace) {
    json_.EndArray().Name("displayTimeUnit").String("ms").Name("otherData").BeginObject();
    json_.Name("clock_uncertainty_us").Number(absl::ToDoubleMicroseconds(trace.clock_uncertainty));
    json_.Name("records_left_out").Integer(trace.left_out).Name("rounds").BeginArray();
    for (const std::string& sentence : sentences) json_.String(sentence);
    json_.EndArray().EndObject().EndObject();
    return json_.text();
  }

 private:
  // Ends are rounded like beginnings, so that what did not overlap still does not.
  int64_t Microseconds(Timestamp time) const { return absl::ToInt64Microseconds(time - zero_); }

  void WriteName(const std::string& what, uint64_t process, uint64_t thread, const std::string& name) {
    json_.BeginObject().Name("name").String(what).Name("ph").String("M").Name("pid").Integer(process);
    json_.Name("tid").Integer(thread).Name("args").BeginObject().Name("name").String(name).EndObject().EndObject();
  }

  void WriteSlice(uint64_t process, uint64_t thread, const std::string& track, const Slice& slice) {
    const int64_t begin_us = Microseconds(slice.begin);
    const int64_t end_us = std::max(begin_us, Microseconds(slice.end));
    json_.BeginObject().Name("name").String(slice.name).Name("cat").String(track).Name("ph").String("X");
    json_.Name("pid").Integer(process).Name("tid").Integer(thread);
    json_.Name("ts").Integer(static_cast<uint64_t>(std::max<int64_t>(0, begin_us)));
    json_.Name("dur").Integer(static_cast<uint64_t>(end_us - std::max<int64_t>(0, begin_us)));
    json_.Name("args").BeginObject();
    for (const auto& [name, value] : slice.facts) json_.Name(name).String(value);
    json_.EndObject().EndObject();
  }

  Timestamp zero_;
  JsonWriter json_;
};

Timestamp BeginOf(const JobTrace& trace) {
  Timestamp begin = kNever;
  for (const Mark& mark : trace.marks) {
    // Policies come long before their rounds.
    if (mark.step != RoundRecords::Step::kPolicyCame) begin = std::min(begin, mark.at);
  }
  for (const Hop& hop : trace.hops) begin = std::min(begin, hop.ready_at);
  return begin;
}

std::vector<Track> TracksOfJob(const JobTrace& trace, const std::vector<CriticalPath>& paths, const LinkRates& rates,
                               std::vector<std::string>& sentences) {
  Slices rounds;
  Slices parts;
  for (const CriticalPath& path : paths) {
    sentences.push_back(SentenceOf(path, trace, rates));
    rounds.push_back({sentences.back(), path.begin, path.end});
    for (const PathPart& part : path.parts) parts.push_back({NameOf(part, trace, rates), part.begin, part.end});
  }
  std::vector<Track> tracks;
  for (Slices& lane : Spread(std::move(rounds))) tracks.push_back({"rounds", std::move(lane)});
  for (Slices& lane : Spread(std::move(parts))) tracks.push_back({"critical path", std::move(lane)});
  return tracks;
}

std::vector<Track> TracksOfNode(const JobTrace& trace, NodeId node) {
  std::vector<Track> tracks;
  for (Slices& lane : Spread(RoundsOf(trace, node))) tracks.push_back({"rounds", std::move(lane)});
  if (Slices sums = SumsOf(trace, node); !sums.empty()) tracks.push_back({"sums", std::move(sums)});
  std::map<NodeId, std::vector<const Hop*>> links;
  for (const Hop& hop : trace.hops) {
    if (hop.from == node) links[hop.to].push_back(&hop);
  }
  for (const auto& [to, hops] : links) AddLink(trace, trace.NameOf(to), hops, tracks);
  return tracks;
}

}  // namespace

std::string ChromeTrace(const JobTrace& trace, const std::vector<CriticalPath>& paths, const LinkRates& rates) {
  ChromeWriter writer(BeginOf(trace));
  std::vector<std::string> sentences;
  writer.WriteProcess(kJobProcess, "job", TracksOfJob(trace, paths, rates, sentences));
  for (const auto& [node, name] : trace.names) writer.WriteProcess(node.value(), name, TracksOfNode(trace, node));
  return writer.Finish(sentences, trace);
}

}  // namespace banyan
