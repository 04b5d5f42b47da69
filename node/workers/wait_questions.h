// Says for whom a worker's call waits: a worker of this node, other nodes, or the scheduler. Workers ask when a
// time-out is near; this asks by itself, for the log, when a wait has been long. Thread-compatible; owned by
// LocalWorkers.
//
// Invariants:
// - Every question is answered: at once, with the scheduler's answer, or by OnDeadline without it.
// - The scheduler is asked about a round once at a time, and of a node with nothing to ask it hears nothing.
#ifndef BANYAN_NODE_WORKERS_WAIT_QUESTIONS_H_
#define BANYAN_NODE_WORKERS_WAIT_QUESTIONS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/scheduler_client.h"
#include "node/step_context.h"
#include "node/workers/local_waits.h"
#include "proto/scheduler_messages.h"
#include "protocol/worker_call.h"

namespace banyan {

class WaitQuestions {
 public:
  // A wait this long is logged, and again each time that it has doubled.
  static constexpr absl::Duration kLong = absl::Seconds(10);

  // `node` is this node's name; `scheduler` outlives this.
  WaitQuestions(std::string node, SchedulerClient* scheduler) : node_(std::move(node)), scheduler_(scheduler) {}

  // Answers a worker, now or soon.
  void OnQuestion(StepContext& step, const WorkerDescribeWait& question, const LocalWaits& waits);
  // Answers it before this node has joined: all wait for the scheduler.
  void AnswerBeforeJoin(StepContext& step, const WorkerDescribeWait& question) const;
  // Takes the scheduler's answer, or what it says by itself of the whole job.
  void OnAnswer(StepContext& step, const WaitAnswer& answer);
  // Logs what has waited long, and answers what the scheduler has not. Looks twice a second at most.
  void OnDeadline(StepContext& step, const LocalWaits& waits);
  // Ends all questions with `status`, as the job has ended.
  void EndAll(StepContext& step, const absl::Status& status);

 private:
  using About = std::pair<KeyId, Round>;
  struct Asked {
    LocalWait wait;
    Timestamp at;
    std::vector<RequestId> requests;
    bool is_logged = false;
  };

  // Asks the scheduler about a wait, unless that was done and is not answered. Null if it cannot be asked.
  Asked* Ask(StepContext& step, const LocalWait& wait);
  void LogLongest(StepContext& step, const LocalWait& longest);
  // "round 5 of key 'w' waits 9.8s for ", and whom.
  std::string Describe(Timestamp now, const LocalWait& wait, const std::string& whom) const;
  std::string DescribeWorkers(const std::vector<WorkerId>& workers) const;
  std::string DescribeScheduler(Timestamp now) const;
  void Finish(StepContext& step, const Asked& asked, const std::string& whom);
  static void Answer(StepContext& step, RequestId request, absl::Status status);

  std::string node_;
  SchedulerClient* scheduler_;
  std::map<About, Asked> asked_;
  Timestamp next_look_;
  std::optional<About> longest_;  // what was logged last
  absl::Duration next_log_ = kLong;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_WAIT_QUESTIONS_H_
