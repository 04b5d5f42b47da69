#include "topology/evaluation/flow_shop.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace banyan {

size_t FlowShop::AddStation(double rate_bps, double window_bits, int servers) {
  BANYAN_CHECK(rate_bps > 0 && window_bits > 0 && servers > 0);
  stations_.emplace_back();
  stations_.back().rate_bps = rate_bps;
  stations_.back().window_bits = window_bits;
  stations_.back().servers = servers;
  return stations_.size() - 1;
}

size_t FlowShop::AddKind(std::vector<Step> steps) {
  Kind kind;
  kind.needs.assign(steps.size(), 0);
  for (const Step& step : steps) {
    for (const size_t next : step.next) ++kind.needs[next];
  }
  kind.steps = std::move(steps);
  kinds_.push_back(std::move(kind));
  return kinds_.size() - 1;
}

FlowShop::Ends FlowShop::Schedule(const std::vector<Job>& jobs) {
  BeginAll(jobs);
  Ends ends = {.last_s = 0, .of_kinds_s = std::vector<double>(kinds_.size(), 0)};
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    if (event.what == Happening::kArrived) ends.of_kinds_s[jobs[event.visit.job].kind] = ends.last_s = event.time_s;
    Handle(event, jobs);
  }
  return ends;
}

void FlowShop::BeginAll(const std::vector<Job>& jobs) {
  missing_.clear();
  first_missing_.clear();
  for (uint32_t job = 0; job < jobs.size(); ++job) {
    const Kind& kind = kinds_[jobs[job].kind];
    first_missing_.push_back(missing_.size());
    missing_.insert(missing_.end(), kind.needs.begin(), kind.needs.end());
    for (uint32_t step = 0; step < kind.steps.size(); ++step) {
      if (kind.needs[step] == 0) stations_[kind.steps[step].station].waiting.push({job, step});
    }
  }
  for (size_t station = 0; station < stations_.size(); ++station) Serve(station, 0, jobs);
}

void FlowShop::Handle(const Event& event, const std::vector<Job>& jobs) {
  const Step& step = StepOf(event.visit, jobs);
  Station& station = stations_[step.station];
  switch (event.what) {
    case Happening::kServed:
      --station.busy;
      break;
    case Happening::kArrived:
      BeginNext(event.visit, event.time_s, jobs);
      return;
    case Happening::kAnswered:
      station.used_bits -= BitsOf(event.visit, jobs);
      break;
  }
  Serve(step.station, event.time_s, jobs);
}

void FlowShop::BeginNext(const Visit& done, double now_s, const std::vector<Job>& jobs) {
  for (const size_t next : StepOf(done, jobs).next) {
    if (--missing_[first_missing_[done.job] + next] > 0) continue;
    const Visit visit = {done.job, static_cast<uint32_t>(next)};
    const size_t station = StepOf(visit, jobs).station;
    stations_[station].waiting.push(visit);
    Serve(station, now_s, jobs);
  }
}

void FlowShop::Serve(size_t station, double now_s, const std::vector<Job>& jobs) {
  Station& at = stations_[station];
  for (; at.used_bits < at.window_bits && !at.waiting.empty(); at.waiting.pop()) {
    at.used_bits += BitsOf(at.waiting.top(), jobs);
    at.entered.push(at.waiting.top());
  }
  for (; at.busy < at.servers && !at.entered.empty(); at.entered.pop()) {
    const Visit visit = at.entered.front();
    ++at.busy;
    const double served_s = now_s + BitsOf(visit, jobs) / at.rate_bps;
    const double travel_s = StepOf(visit, jobs).travel_s;
    events_.push({served_s, visit, Happening::kServed});
    events_.push({served_s + travel_s, visit, Happening::kArrived});
    events_.push({served_s + 2 * travel_s, visit, Happening::kAnswered});
  }
}

double FlowShop::LongestWork(const std::vector<Job>& jobs) const {
  std::vector<double> work_s(stations_.size(), 0);
  for (const Job& job : jobs) {
    for (const Step& step : kinds_[job.kind].steps) {
      const Station& station = stations_[step.station];
      work_s[step.station] += job.bits * step.part / station.rate_bps / station.servers;
    }
  }
  return work_s.empty() ? 0 : *std::max_element(work_s.begin(), work_s.end());
}

}  // namespace banyan
