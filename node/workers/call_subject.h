// Says what a worker's call is about, for the error that it gets when the job has ended. Free functions;
// thread-compatible.
#ifndef BANYAN_NODE_WORKERS_CALL_SUBJECT_H_
#define BANYAN_NODE_WORKERS_CALL_SUBJECT_H_

#include <string>

#include "core/ids.h"
#include "node/workers/local_keys.h"
#include "node/workers/worker_roster.h"
#include "protocol/worker_call.h"

namespace banyan {

struct CallSubject {
  std::string text;
  KeyId key;  // 0: none
  Round round;
};

// "key 'w' round 5".
std::string RoundText(const std::string& key, Round round);

// Names the round that the call is for, or would have opened.
CallSubject SubjectOf(const WorkerCall& call, const LocalKeys& keys, const WorkerRoster& workers);

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_CALL_SUBJECT_H_
