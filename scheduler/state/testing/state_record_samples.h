// Records of every kind for tests. Pure functions.
#ifndef BANYAN_SCHEDULER_STATE_TESTING_STATE_RECORD_SAMPLES_H_
#define BANYAN_SCHEDULER_STATE_TESTING_STATE_RECORD_SAMPLES_H_

#include <vector>

#include "scheduler/state/state_record.h"

namespace banyan {

// Every alternative of StateRecord at least once.
std::vector<StateRecord> StateRecordSamples();

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATE_TESTING_STATE_RECORD_SAMPLES_H_
