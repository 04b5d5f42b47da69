#include "sim/reducer/reducer_sweep.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

std::vector<ReducerJob> JobsOf(const ReducerJob& job, const ReducerGrid& grid) {
  std::vector<ReducerJob> jobs;
  ReducerJob next = job;
  for (const int nodes : grid.nodes) {
    for (const int workers : grid.workers) {
      for (const int threads : grid.threads) {
        for (const double node_bps : grid.node_bps) {
          for (const double vote_bytes_per_second : grid.vote_bytes_per_second) {
            for (const LowBitFamily family : grid.families) {
              next.nodes = nodes;
              next.workers = workers;
              next.threads = threads;
              next.node_bps = node_bps;
              next.vote_bytes_per_second = vote_bytes_per_second;
              next.family = family;
              jobs.push_back(next);
            }
          }
        }
      }
    }
  }
  return jobs;
}

bool HaveSameFloats(const ReducerJob& a, const ReducerJob& b) {
  return a.nodes == b.nodes && a.workers == b.workers && a.threads == b.threads && a.node_bps == b.node_bps &&
         a.delay == b.delay && a.buckets == b.buckets;
}

absl::StatusOr<ReducerPoint> WithVotes(ReducerPoint point) {
  const absl::StatusOr<ReducerTimes> guarded = ReplayReducer(point.job, ReducerRoute::kGuarded);
  if (!guarded.ok()) return guarded.status();
  const absl::StatusOr<ReducerTimes> forced = ReplayReducer(point.job, ReducerRoute::kForced);
  if (!forced.ok()) return forced.status();
  point.guarded = *guarded;
  point.forced = *forced;
  return point;
}

}  // namespace

size_t ReducerGrid::size() const {
  return nodes.size() * workers.size() * threads.size() * node_bps.size() * vote_bytes_per_second.size() *
         families.size();
}

absl::StatusOr<ReducerPoint> ReplayPoint(const ReducerJob& job) {
  const absl::StatusOr<ReducerTimes> floats = ReplayReducer(job, ReducerRoute::kFloats);
  if (!floats.ok()) return floats.status();
  ReducerPoint point;
  point.job = job;
  point.floats = *floats;
  return WithVotes(std::move(point));
}

absl::StatusOr<std::vector<ReducerPoint>> SweepReducer(const ReducerJob& job, const ReducerGrid& grid,
                                                       const std::function<void(size_t done)>& progress) {
  std::vector<ReducerPoint> points;
  for (const ReducerJob& next : JobsOf(job, grid)) {
    absl::StatusOr<ReducerPoint> point;
    if (!points.empty() && HaveSameFloats(points.back().job, next)) {
      ReducerPoint again = points.back();
      again.job = next;
      point = WithVotes(std::move(again));
    } else {
      point = ReplayPoint(next);
    }
    if (!point.ok()) {
      return absl::Status(point.status().code(),
                          absl::StrCat(next.nodes, " nodes of ", next.workers, " workers at ", next.node_bps / 1e9,
                                       " Gbit/s: ", point.status().message()));
    }
    points.push_back(*std::move(point));
    progress(points.size());
  }
  return points;
}

}  // namespace banyan
