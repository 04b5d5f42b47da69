// How many descriptors this process may have. Thread-safe.
#ifndef BANYAN_POSIX_DESCRIPTOR_LIMIT_H_
#define BANYAN_POSIX_DESCRIPTOR_LIMIT_H_

#include <cstdint>
#include <string>

namespace banyan {

// Raises the soft limit to the hard one: the soft one is for programs that use select(). Returns the limit now.
int64_t RaiseDescriptorLimit();

// Returns the limit now.
int64_t DescriptorLimit();

// Returns whether this process could have another descriptor now.
bool HasDescriptorLeft();

// Returns "this process may have N descriptors ..." and what to do about it, for errors of want of one.
std::string DescriptorAdvice();

}  // namespace banyan

#endif  // BANYAN_POSIX_DESCRIPTOR_LIMIT_H_
