// How two schedulers of a simulated job share it. Value.
#ifndef BANYAN_SIM_LEADERSHIP_STANDBY_OPTIONS_H_
#define BANYAN_SIM_LEADERSHIP_STANDBY_OPTIONS_H_

#include "absl/time/time.h"

namespace banyan {

struct StandbyOptions {
  absl::Duration lease = absl::Seconds(2);
  // What real ones do. Tests of the checkers break these rules.
  bool heeds_lease = true;  // a leader stops when its lease may have ended
  bool is_fenced = true;    // the storage refuses writes of a lease that has ended
};

}  // namespace banyan

#endif  // BANYAN_SIM_LEADERSHIP_STANDBY_OPTIONS_H_
