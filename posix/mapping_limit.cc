#include "posix/mapping_limit.h"

#include <fstream>

namespace banyan {

int64_t MappingLimit() {
  int64_t most = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  return most;
}

}  // namespace banyan
