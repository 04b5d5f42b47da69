// Reads the section of an overlay that says where the schedulers of the job are. Pure function.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_SCHEDULER_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_SCHEDULER_H_

#include "topology/overlay/overlay_config.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {

SchedulerConfig ReadScheduler(const YamlValue& value, YamlProblems& problems);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_SCHEDULER_H_
