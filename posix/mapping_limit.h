// How many mappings the kernel lets a process have (vm.max_map_count). Thread-safe.
#ifndef BANYAN_POSIX_MAPPING_LIMIT_H_
#define BANYAN_POSIX_MAPPING_LIMIT_H_

#include <cstdint>

namespace banyan {

// Returns the limit; 0 when the system does not say.
int64_t MappingLimit();

}  // namespace banyan

#endif  // BANYAN_POSIX_MAPPING_LIMIT_H_
