#include "bench/reducer_replay.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/check.h"
#include "sim/reducer/reducer_replay.h"

namespace banyan {
namespace {

using Cell = ResultTable::Cell;

constexpr double kGiga = 1e9;
constexpr double kMega = 1e6;
constexpr int64_t kFloatBytes = 4;
constexpr double kMostGuarded = 1.02;
constexpr double kUncontendedBps = 10e9;
constexpr size_t kContendedModels = 2;                // the first ones
constexpr int64_t kSweptElements = int64_t{1} << 18;  // as the first bucket of a model

// What is replayed.
struct Grids {
  std::vector<BucketSchedule> models;
  ReducerGrid capacity;              // panel A
  std::vector<double> contention;    // panel B: links have their rate divided by these
  std::vector<double> endpoints;     // panel B: bytes per second
  std::vector<ReducerJob> networks;  // Table 8
  std::vector<int> corner_nodes;     // panel C
};

ReducerJob Network(int nodes, double node_bps, absl::Duration delay) {
  ReducerJob job;
  job.nodes = nodes;
  job.node_bps = node_bps;
  job.delay = delay;
  return job;
}

Grids MakeGrids(bool quick) {
  Grids grids;
  grids.models = ModelSchedules();
  grids.networks = {Network(2, 10e9, absl::Microseconds(100)), Network(4, 10e9, absl::Microseconds(100)),
                    Network(4, 1e9, absl::Milliseconds(5)), Network(4, 0.1e9, absl::Milliseconds(5))};
  grids.capacity.nodes = {2, 4, 8};
  grids.capacity.workers = {1, 4, 8};
  grids.capacity.threads = {1, 4};
  grids.capacity.node_bps = {0.1e9, 1e9, 10e9, 100e9};
  grids.capacity.vote_bytes_per_second = {30e9, 10e9, 3e9, 1e9, 0.3e9, 0.1e9};
  grids.capacity.families = {LowBitFamily::kBinary, LowBitFamily::kTernary};
  grids.contention = {1, 1.25, 2, 4};
  grids.endpoints = {10e9, 0.3e9};
  grids.corner_nodes = {2, 4};
  if (!quick) return grids;
  grids.models.resize(1);
  grids.models.front().buckets = {262'144, 1'000'000};
  grids.networks.resize(1);
  grids.capacity.nodes = {2};
  grids.capacity.workers = {4};
  grids.capacity.threads = {1};
  grids.capacity.node_bps = {0.1e9, 100e9};
  grids.capacity.vote_bytes_per_second = {10e9, 0.1e9};
  grids.contention = {1, 4};
  grids.corner_nodes = {2};
  return grids;
}

const char* FamilyText(LowBitFamily family) { return family == LowBitFamily::kTernary ? "G-Ternary" : "G-Binary"; }

Cell Milliseconds(absl::Duration time) { return Cell::Number(absl::ToDoubleMilliseconds(time), 2); }
Cell Megabytes(int64_t bytes) { return Cell::Number(static_cast<double>(bytes) / kMega, 1); }

// What the paper's Table 8 has for models like this on so many nodes: float32's replayed time over low-bit's.
std::string PaperRatio(const std::string& model, int nodes) {
  if (model.starts_with("ResNet")) return nodes == 2 ? "5.19" : "8.87, 16.85";
  if (model == "DistilBERT") return nodes == 2 ? "17.05" : "24.85, 47.22";
  return "";
}

// Makes the studies one after the other, and notes for the last table what they have in common. Thread-compatible.
class Replays {
 public:
  explicit Replays(const ReducerReplayOptions& options) : options_(options), grids_(MakeGrids(options.quick)) {
    for (const ReducerStudy study : options.studies) all_ += JobsOf(study).size();
  }

  absl::StatusOr<ReducerReplayReport> Run() {
    for (const ReducerStudy study : options_.studies) {
      const absl::StatusOr<std::vector<ReducerPoint>> points = ReplayJobs(JobsOf(study), [this](size_t) {
        ++done_;
        if (options_.progress) options_.progress(static_cast<double>(done_) / static_cast<double>(all_));
      });
      if (!points.ok()) return points.status();
      for (const ReducerPoint& point : *points) {
        guarded_.Take(point.guarded_part());
        forced_.Take(point.forced_part());
        results_ += point.guarded.results + point.forced.results;
      }
      AddTables(study, *points);
    }
    AddSummary();
    return std::move(report_);
  }

 private:
  struct Range {
    double least = 1e300;
    double most = 0;
    void Take(double value) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
    std::string Text(int digits) const { return absl::StrFormat("%.*f to %.*f", digits, least, digits, most); }
  };

  std::vector<ReducerJob> JobsOf(ReducerStudy study) const;
  const BucketSchedule& ModelOf(const ReducerJob& job) const;
  void AddTables(ReducerStudy study, const std::vector<ReducerPoint>& points);
  void AddModels(const std::vector<ReducerPoint>& points);
  void AddCapacity(const std::vector<ReducerPoint>& points);
  void AddContention(const std::vector<ReducerPoint>& points);
  void AddCorners(const std::vector<ReducerPoint>& points);
  // A row for each value that a point has, with parts of points where counts are faster.
  void AddShares(const std::string& name, const std::string& what, const std::vector<ReducerPoint>& points,
                 double (*value_of)(const ReducerJob&));
  void AddSummary();

  const ReducerReplayOptions& options_;
  const Grids grids_;
  ReducerReplayReport report_;
  size_t all_ = 0;
  size_t done_ = 0;
  Range floats_over_counts_;
  Range gather_over_counts_;
  Range guarded_;
  Range forced_;
  Range contended_;
  int64_t results_ = 0;
  size_t wins_ = 0;
  size_t swept_ = 0;
};

std::vector<ReducerJob> Replays::JobsOf(ReducerStudy study) const {
  std::vector<ReducerJob> jobs;
  ReducerJob job;
  switch (study) {
    case ReducerStudy::kModels:
      for (const ReducerJob& network : grids_.networks) {
        for (const BucketSchedule& model : grids_.models) jobs.emplace_back(network).buckets = model.buckets;
      }
      return jobs;
    case ReducerStudy::kCapacity:
      job.buckets = {kSweptElements};
      return grids_.capacity.JobsOf(job);
    case ReducerStudy::kContention:
      for (size_t model = 0; model < std::min(grids_.models.size(), kContendedModels); ++model) {
        for (const double endpoint : grids_.endpoints) {
          for (const double factor : grids_.contention) {
            job = Network(4, kUncontendedBps / factor, absl::Microseconds(100));
            job.vote_bytes_per_second = endpoint;
            job.buckets = grids_.models[model].buckets;
            jobs.push_back(job);
          }
        }
      }
      return jobs;
    case ReducerStudy::kCorner:
      // Fast links, slow processors, many workers.
      for (const int nodes : grids_.corner_nodes) {
        for (const LowBitFamily family : grids_.capacity.families) {
          job = Network(nodes, grids_.capacity.node_bps.back(), absl::Microseconds(100));
          job.workers = grids_.capacity.workers.back();
          job.vote_bytes_per_second = grids_.capacity.vote_bytes_per_second.back();
          job.family = family;
          job.buckets = grids_.models.front().buckets;
          jobs.push_back(job);
        }
      }
      return jobs;
  }
  return jobs;
}

// REQUIRES: its buckets are those of a model.
const BucketSchedule& Replays::ModelOf(const ReducerJob& job) const {
  const auto found = std::find_if(grids_.models.begin(), grids_.models.end(),
                                  [&job](const BucketSchedule& model) { return model.buckets == job.buckets; });
  BANYAN_CHECK(found != grids_.models.end());
  return *found;
}

void Replays::AddTables(ReducerStudy study, const std::vector<ReducerPoint>& points) {
  switch (study) {
    case ReducerStudy::kModels:
      return AddModels(points);
    case ReducerStudy::kCapacity:
      return AddCapacity(points);
    case ReducerStudy::kContention:
      return AddContention(points);
    case ReducerStudy::kCorner:
      return AddCorners(points);
  }
}

void Replays::AddModels(const std::vector<ReducerPoint>& points) {
  ResultTable table;
  table.name = "models";
  table.title =
      "Table 8: a round of a model's buckets, 4 workers a node, endpoints of 10 GB/s, G-Binary, milliseconds:";
  table.columns = {{"model"},   {"MB"},          {"buckets"},       {"nodes"},
                   {"Gbit/s"},  {"FP32"},        {"all-gather"},    {"counts"},
                   {"guarded"}, {"FP32/counts"}, {"gather/counts"}, {"paper's FP32/low"},
                   {"FP32 MB"}, {"gather MB"},   {"counts MB"}};
  for (const ReducerPoint& point : points) {
    const ReducerJob& job = point.job;
    const BucketSchedule& model = ModelOf(job);
    const GatherTimes gather = GatherPackedSigns(job);
    const double floats = 1 / point.forced_part();
    const double gathered = absl::FDivDuration(gather.round, point.forced.round);
    floats_over_counts_.Take(floats);
    gather_over_counts_.Take(gathered);
    table.rows.push_back({Cell::Text(model.model), Megabytes(kFloatBytes * model.elements()),
                          Cell::Number(static_cast<double>(job.buckets.size()), 0), Cell::Number(job.nodes, 0),
                          Cell::Number(job.node_bps / kGiga), Milliseconds(point.floats.round),
                          Milliseconds(gather.round), Milliseconds(point.forced.round),
                          Milliseconds(point.guarded.round), Cell::Number(floats, 2), Cell::Number(gathered, 2),
                          Cell::Text(PaperRatio(model.model, job.nodes)), Megabytes(point.floats.sent_bytes),
                          Megabytes(gather.sent_bytes), Megabytes(point.forced.sent_bytes)});
  }
  report_.tables.push_back(std::move(table));
}

void Replays::AddShares(const std::string& name, const std::string& what, const std::vector<ReducerPoint>& points,
                        double (*value_of)(const ReducerJob&)) {
  struct Row {
    std::map<LowBitFamily, size_t> wins;
    std::map<LowBitFamily, size_t> points;
    size_t admitted = 0;
    Range guarded;
    Range forced;
  };
  std::map<double, Row> rows;
  for (const ReducerPoint& point : points) {
    Row& row = rows[value_of(point.job)];
    ++row.points[point.job.family];
    row.wins[point.job.family] += point.forced_part() < 1 ? 1 : 0;
    row.admitted += point.guarded.low_bit_part > 0 ? 1 : 0;
    row.guarded.Take(point.guarded_part());
    row.forced.Take(point.forced_part());
  }
  ResultTable table;
  table.name = name;
  table.title =
      absl::StrCat("Figure 4 A, by ", what, ": percent of configurations where counts beat FP32; times over FP32's:");
  table.columns = {{what},           {"points"},        {"G-Binary wins"}, {"G-Ternary wins"}, {"guard admits"},
                   {"best guarded"}, {"worst guarded"}, {"best forced"},   {"worst forced"}};
  for (auto& [value, row] : rows) {
    const auto percent = [](size_t part, size_t all) {
      return Cell::Number(100.0 * static_cast<double>(part) / static_cast<double>(all), 0);
    };
    const size_t all = row.points[LowBitFamily::kBinary] + row.points[LowBitFamily::kTernary];
    table.rows.push_back({Cell::Number(value), Cell::Number(static_cast<double>(all), 0),
                          percent(row.wins[LowBitFamily::kBinary], row.points[LowBitFamily::kBinary]),
                          percent(row.wins[LowBitFamily::kTernary], row.points[LowBitFamily::kTernary]),
                          percent(row.admitted, all), Cell::Number(row.guarded.least, 3),
                          Cell::Number(row.guarded.most, 3), Cell::Number(row.forced.least, 3),
                          Cell::Number(row.forced.most, 2)});
  }
  report_.tables.push_back(std::move(table));
}

void Replays::AddCapacity(const std::vector<ReducerPoint>& points) {
  swept_ = points.size();
  for (const ReducerPoint& point : points) wins_ += point.forced_part() < 1 ? 1 : 0;
  AddShares("by_endpoint", "GB/s of an endpoint", points,
            [](const ReducerJob& point) { return point.vote_bytes_per_second / kGiga; });
  AddShares("by_bandwidth", "Gbit/s of a node", points, [](const ReducerJob& point) { return point.node_bps / kGiga; });
  AddShares("by_workers", "workers a node", points,
            [](const ReducerJob& point) { return static_cast<double>(point.workers); });
  AddShares("by_threads", "threads a node", points,
            [](const ReducerJob& point) { return static_cast<double>(point.threads); });
  AddShares("by_nodes", "nodes", points, [](const ReducerJob& point) { return static_cast<double>(point.nodes); });
}

void Replays::AddContention(const std::vector<ReducerPoint>& points) {
  ResultTable table;
  table.name = "contention";
  table.title =
      "Figure 4 B: links slowed by others' traffic, 4 nodes of 4 workers, 10 Gbit/s without it, milliseconds:";
  table.columns = {{"model"},   {"slowed by"}, {"GB/s of an endpoint"}, {"FP32"},
                   {"guarded"}, {"forced"},    {"FP32/forced"}};
  for (const ReducerPoint& point : points) {
    const double endpoint = point.job.vote_bytes_per_second;
    if (endpoint == grids_.endpoints.front()) contended_.Take(1 / point.forced_part());
    table.rows.push_back({Cell::Text(ModelOf(point.job).model), Cell::Number(kUncontendedBps / point.job.node_bps, 2),
                          Cell::Number(endpoint / kGiga, 1), Milliseconds(point.floats.round),
                          Milliseconds(point.guarded.round), Milliseconds(point.forced.round),
                          Cell::Number(1 / point.forced_part(), 2)});
  }
  report_.tables.push_back(std::move(table));
}

void Replays::AddCorners(const std::vector<ReducerPoint>& points) {
  ResultTable table;
  table.name = "corner";
  table.title = "Figure 4 C: the endpoint-bound corner, buckets of the first model above, milliseconds:";
  table.columns = {{"format"}, {"nodes"},   {"workers"}, {"Gbit/s"},       {"GB/s of an endpoint"},
                   {"FP32"},   {"guarded"}, {"forced"},  {"guarded/FP32"}, {"forced/FP32"}};
  for (const ReducerPoint& point : points) {
    const ReducerJob& job = point.job;
    table.rows.push_back({Cell::Text(FamilyText(job.family)), Cell::Number(job.nodes, 0), Cell::Number(job.workers, 0),
                          Cell::Number(job.node_bps / kGiga), Cell::Number(job.vote_bytes_per_second / kGiga, 1),
                          Milliseconds(point.floats.round), Milliseconds(point.guarded.round),
                          Milliseconds(point.forced.round), Cell::Number(point.guarded_part(), 3),
                          Cell::Number(point.forced_part(), 2)});
  }
  report_.tables.push_back(std::move(table));
}

void Replays::AddSummary() {
  ResultTable table;
  table.name = "evidence";
  table.title = "Table 9:";
  table.columns = {{"question"}, {"here"}};
  const auto add = [&table](const std::string& question, const std::string& answer) {
    table.rows.push_back({Cell::Text(question), Cell::Text(answer)});
  };
  const auto has = [this](ReducerStudy study) {
    return std::find(options_.studies.begin(), options_.studies.end(), study) != options_.studies.end();
  };
  if (has(ReducerStudy::kModels)) {
    add("is there an opportunity",
        absl::StrCat("FP32 takes ", floats_over_counts_.Text(2), " times as long as counts"));
    add("do reducer semantics matter",
        absl::StrCat("all-gather takes ", gather_over_counts_.Text(2), " times as long"));
  }
  if (has(ReducerStudy::kCapacity)) {
    add("when do endpoints dominate", absl::StrCat("counts win ", wins_, " of ", swept_, " configurations"));
  }
  add("does the guard change routes",
      absl::StrFormat("at worst guarded rounds take %.3f, forced ones %.2f times FP32's", guarded_.most, forced_.most));
  if (has(ReducerStudy::kContention)) {
    add("does contention matter", absl::StrCat("FP32 takes ", contended_.Text(2), " times as long as counts under it"));
  }
  add("is the path executable", absl::StrCat(results_, " results compared with one count in one place, 0 differ"));
  add("times of components", "banyan bench reducer");
  report_.tables.push_back(std::move(table));
  report_.worst_guarded = guarded_.most;
}

}  // namespace

absl::StatusOr<ReducerReplayReport> ReplayReducers(const ReducerReplayOptions& options) {
  return Replays(options).Run();
}

int PrintReducerReplay(const ReducerReplayReport& report, bool json, std::ostream& out) {
  if (json) {
    JsonWriter writer;
    writer.BeginObject();
    for (const ResultTable& table : report.tables) {
      writer.Name(table.name);
      table.WriteTo(writer);
    }
    out << writer.EndObject().text() << "\n";
  } else {
    for (const ResultTable& table : report.tables) out << table.AsText() << "\n";
  }
  return report.worst_guarded <= kMostGuarded ? 0 : 1;
}

}  // namespace banyan
