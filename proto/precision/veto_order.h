// An operator's veto of low-bit rounds. Plain value.
#ifndef BANYAN_PROTO_PRECISION_VETO_ORDER_H_
#define BANYAN_PROTO_PRECISION_VETO_ORDER_H_

#include <string>
#include <vector>

namespace banyan {

// From `banyan veto`, on a connection that does not join: rounds of these scopes fall back to full precision until the
// veto is lifted.
struct VetoLowBit {
  static constexpr int kMostScopes = 64;

  std::vector<std::string> scopes;  // empty: all
  bool is_lifted = false;

  friend bool operator==(const VetoLowBit&, const VetoLowBit&) = default;
};

}  // namespace banyan

#endif  // BANYAN_PROTO_PRECISION_VETO_ORDER_H_
