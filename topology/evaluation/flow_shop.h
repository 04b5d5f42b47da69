// A flow shop: jobs of several kinds pass stations, each of whose servers serves one job at a time. Scheduled event by
// event, as senders with windows do it. What may enter a station's window is served in the order in which it came. Of
// the jobs that wait for that the first enters first. Thread-compatible.
#ifndef BANYAN_TOPOLOGY_EVALUATION_FLOW_SHOP_H_
#define BANYAN_TOPOLOGY_EVALUATION_FLOW_SHOP_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace banyan {

class FlowShop {
 public:
  // One visit of a kind of job.
  struct Step {
    size_t station = 0;
    double travel_s = 0;       // from the end of its service to where the next steps begin
    std::vector<size_t> next;  // the steps that need it; each begins when all that it needs are done
    double part = 1;           // of the job's bits that it takes
  };
  struct Job {
    size_t kind = 0;
    double bits = 0;
  };

  // Returns the station's index, from 0 on. Each of its servers has the rate. A job leaves its window when the other
  // end's answer is back. REQUIRES: all are above 0; rate and window may be infinite.
  size_t AddStation(double rate_bps, double window_bits, int servers = 1);
  // Returns the kind's index, from 0 on. REQUIRES: stations exist, and no step needs itself.
  size_t AddKind(std::vector<Step> steps);

  // The times, in seconds, at which the last of all jobs and the last of each kind have done all of their steps.
  struct Ends {
    double last_s = 0;
    std::vector<double> of_kinds_s;
  };
  // All jobs are there at the start. REQUIRES: the kinds exist.
  Ends Schedule(const std::vector<Job>& jobs);
  // The time that the busiest station works for these jobs with all servers, in seconds: no schedule is shorter.
  double LongestWork(const std::vector<Job>& jobs) const;

 private:
  struct Kind {
    std::vector<Step> steps;
    std::vector<uint32_t> needs;  // how many steps each of them needs
  };
  // A step of a job, `job` first so that earlier jobs compare less.
  struct Visit {
    uint32_t job = 0;
    uint32_t step = 0;

    friend auto operator<=>(const Visit&, const Visit&) = default;
  };
  struct Station {
    double rate_bps = 0;
    double window_bits = 0;
    double used_bits = 0;  // of the window
    int servers = 1;
    int busy = 0;  // of them
    std::queue<Visit> entered;
    std::priority_queue<Visit, std::vector<Visit>, std::greater<>> waiting;
  };
  enum class Happening { kAnswered, kArrived, kServed };
  struct Event {
    double time_s = 0;
    Visit visit;
    Happening what = Happening::kServed;

    friend auto operator<=>(const Event&, const Event&) = default;
  };

  void BeginAll(const std::vector<Job>& jobs);
  void Handle(const Event& event, const std::vector<Job>& jobs);
  void BeginNext(const Visit& done, double now_s, const std::vector<Job>& jobs);
  // Lets in what the window allows, and serves the next.
  void Serve(size_t station, double now_s, const std::vector<Job>& jobs);
  double BitsOf(const Visit& visit, const std::vector<Job>& jobs) const {
    return jobs[visit.job].bits * StepOf(visit, jobs).part;
  }
  const Step& StepOf(const Visit& visit, const std::vector<Job>& jobs) const {
    return kinds_[jobs[visit.job].kind].steps[visit.step];
  }

  std::vector<Station> stations_;
  std::vector<Kind> kinds_;
  std::vector<uint32_t> missing_;      // how many steps each step of each job still waits for
  std::vector<size_t> first_missing_;  // by job: where its steps begin
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_FLOW_SHOP_H_
