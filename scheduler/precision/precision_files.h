// What a job with low-bit rounds is told before it begins. Plain value.
#ifndef BANYAN_SCHEDULER_PRECISION_PRECISION_FILES_H_
#define BANYAN_SCHEDULER_PRECISION_PRECISION_FILES_H_

#include "precision/profile/operating_profile.h"
#include "precision/profile/precision_binding.h"

namespace banyan {

struct PrecisionFiles {
  OperatingProfile profile;
  PrecisionBinding binding;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_PRECISION_PRECISION_FILES_H_
