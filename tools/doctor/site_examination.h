// Takes the place of a site's daemon for a while: looks at its paths, answers the doctors of other sites, and tells
// what it has found to the schedulers' doctors. Functions; thread-safe.
#ifndef BANYAN_TOOLS_DOCTOR_SITE_EXAMINATION_H_
#define BANYAN_TOOLS_DOCTOR_SITE_EXAMINATION_H_

#include <cstdint>
#include <map>
#include <ostream>
#include <string>

#include "absl/time/time.h"
#include "tools/doctor/check_result.h"
#include "tools/doctor/doctor_site.h"

namespace banyan {

struct ExaminationOptions {
  absl::Duration wait;       // for the doctors of other sites
  absl::Duration rate_time;  // as PathProbe has them
  int64_t rate_bytes = 0;
  absl::Duration idle_time;
  bool collects = false;  // waits for what the nodes' doctors report; REQUIRES: the site is a scheduler
};

// Examines `site`, of whose machine `results` are known, and adds to them. Says on `err` what it waits for. Returns
// what others have reported, by site. Takes twice the wait, the times of each path and some minutes at most.
std::map<std::string, CheckResults> ExamineSite(const DoctorSite& site, const ExaminationOptions& options,
                                                CheckResults& results, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_SITE_EXAMINATION_H_
