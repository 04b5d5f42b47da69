// Parts of Abseil of which Debian's archives cannot go into a shared library, as they have variables for each thread.
#include <cstdlib>
#include <string>
#include <thread>

#include "absl/base/internal/sysinfo.h"
#include "absl/strings/cord.h"

namespace absl {
ABSL_NAMESPACE_BEGIN

// In a Cord a status holds payloads. No status here has one, so that nothing calls this.
void Cord::DestroyCordSlow() { std::abort(); }
void Cord::InlineRep::UnrefTree() { std::abort(); }
bool Cord::EqualsImpl(const Cord&, size_t) const { std::abort(); }
Cord::operator std::string() const { std::abort(); }

namespace cord_internal {
void CordzInfo::MaybeTrackCordImpl(InlineData&, const InlineData&, MethodIdentifier) { std::abort(); }
}  // namespace cord_internal

namespace base_internal {
int NumCPUs() { return static_cast<int>(std::thread::hardware_concurrency()); }
// As Abseil has it where it cannot read one.
double NominalCPUFrequency() { return 1; }
}  // namespace base_internal

ABSL_NAMESPACE_END
}  // namespace absl
