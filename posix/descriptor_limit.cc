#include "posix/descriptor_limit.h"

#include <sys/eventfd.h>
#include <sys/resource.h>

#include "absl/strings/str_cat.h"
#include "posix/file_descriptor.h"

namespace banyan {

int64_t RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit raised = {limit.rlim_max, limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return static_cast<int64_t>(limit.rlim_cur);
}

int64_t DescriptorLimit() {
  rlimit limit = {};
  (void)getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int64_t>(limit.rlim_cur);
}

bool HasDescriptorLeft() { return FileDescriptor(eventfd(0, EFD_CLOEXEC)).valid(); }

std::string DescriptorAdvice() {
  return absl::StrCat("this process may have ", DescriptorLimit(),
                      " descriptors (RLIMIT_NOFILE): raise that with ulimit -n, or in its unit with LimitNOFILE");
}

}  // namespace banyan
