// How wide elements are on their way now, whatever codecs and precision routes make of them: what nodes have sent of
// rounds lately, beside the floats that it stands for. Thread-compatible; owned by Replanner.
#ifndef BANYAN_SCHEDULER_POLICY_SENT_BITS_H_
#define BANYAN_SCHEDULER_POLICY_SENT_BITS_H_

#include <map>

#include "core/ids.h"
#include "proto/precision/precision_report.h"

namespace banyan {

class SentBits {
 public:
  // Of what a node has sent before, each report with news keeps this part.
  static constexpr double kKept = 0.8;

  // Takes what a node has sent since it began.
  void Accept(NodeId node, const PrecisionReport::Traffic& sent) {
    Node& known = nodes_[node];
    // Another start of the node counts from zero.
    if (sent.full_bytes < known.last.full_bytes) known = Node();
    const double full_bytes = static_cast<double>(sent.full_bytes - known.last.full_bytes);
    if (full_bytes <= 0) return;
    known.sent_bytes =
        kKept * known.sent_bytes + (static_cast<double>(sent.sent_bytes) - static_cast<double>(known.last.sent_bytes));
    known.full_bytes = kKept * known.full_bytes + full_bytes;
    known.last = sent;
  }
  // Returns the mean over what all nodes have sent; `otherwise` while that is nothing.
  double PerElement(double otherwise) const {
    double sent_bytes = 0;
    double full_bytes = 0;
    for (const auto& [id, node] : nodes_) {
      sent_bytes += node.sent_bytes;
      full_bytes += node.full_bytes;
    }
    return full_bytes > 0 ? kFloatBits * sent_bytes / full_bytes : otherwise;
  }

 private:
  static constexpr double kFloatBits = 32;  // which full_bytes count of an element

  struct Node {
    PrecisionReport::Traffic last;
    double sent_bytes = 0;
    double full_bytes = 0;
  };
  std::map<NodeId, Node> nodes_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_SENT_BITS_H_
