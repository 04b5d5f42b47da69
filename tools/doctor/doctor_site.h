// A site of an overlay as its doctor sees it: which others it is to reach, and what its machine needs. A value and pure
// functions; thread-compatible.
#ifndef BANYAN_TOOLS_DOCTOR_DOCTOR_SITE_H_
#define BANYAN_TOOLS_DOCTOR_DOCTOR_SITE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/doctor/host_checks.h"
#include "tools/doctor/path_checks.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// The name of the scheduler's site; of several schedulers the later ones are scheduler2, scheduler3, ...
inline constexpr char kSchedulerSite[] = "scheduler";

struct DoctorSite {
  struct Path {
    std::string name;  // of the other site
    std::string address;
    PathExpectation expected;
    bool is_to_scheduler = false;
  };

  std::string name;
  std::string address;  // where others reach it
  std::string listen;
  bool is_scheduler = false;
  std::vector<Path> paths;
  std::map<std::string, std::string> addresses;  // of all sites, by name
  HostNeeds needs;
};

// How large the job will be; 0 where nobody has said it.
struct JobSize {
  int64_t model_bytes = 0;
  int64_t tensors = 1;
};

// Makes the site called `name`: a node, which has links and reaches every scheduler, or a scheduler, which reaches
// every node. NOT_FOUND when the overlay has none of that name, with those that it has. REQUIRES: ValidateForJob takes
// it.
absl::StatusOr<DoctorSite> MakeDoctorSite(const OverlayConfig& overlay, const std::string& name, const JobSize& size);

// Judges the addresses of all sites as they are looked up on this machine: an own name that leads nowhere
// or to this machine alone, and an own address that no interface has.
CheckResults CheckAddresses(const DoctorSite& site);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_DOCTOR_SITE_H_
