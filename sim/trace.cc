#include "sim/trace.h"

#include "absl/strings/str_format.h"
#include "core/digest.h"
#include "sim/message_facts.h"

namespace banyan {

void Trace::Record(Timestamp now, NodeId process, const Event& event) {
  hash_ = Digest({hash_, static_cast<uint64_t>(now.nanoseconds()), process.value(), EventDigest(event)});
  ++events_;
  if (sink_) Note(now, process, DescribeEvent(event));
}

void Trace::Note(Timestamp now, NodeId process, const std::string& text) {
  if (sink_) sink_(absl::StrFormat("%12.6f s  %4d  %s", now.nanoseconds() * 1e-9, process.value(), text));
}

}  // namespace banyan
