// How many descriptors this process may have. Thread-safe.
#ifndef BANYAN_POSIX_DESCRIPTOR_LIMIT_H_
#define BANYAN_POSIX_DESCRIPTOR_LIMIT_H_

#include <cstdint>

namespace banyan {

// Raises the soft limit to the hard one: the soft one is for programs that use select(). Returns the limit now.
int64_t RaiseDescriptorLimit();

}  // namespace banyan

#endif  // BANYAN_POSIX_DESCRIPTOR_LIMIT_H_
