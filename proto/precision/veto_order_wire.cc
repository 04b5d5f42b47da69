#include "proto/precision/veto_order_wire.h"

namespace banyan {

void Write(const VetoLowBit& from, wire::Envelope& to) {
  wire::VetoLowBit& veto = *to.mutable_veto_low_bit();
  for (const std::string& scope : from.scopes) veto.add_scopes(scope);
  veto.set_is_lifted(from.is_lifted);
}

VetoLowBit Read(const wire::VetoLowBit& from, FieldReader fields) {
  VetoLowBit veto;
  const int scopes = fields.Count("scopes", from.scopes_size(), 0, VetoLowBit::kMostScopes);
  for (int i = 0; i < scopes; ++i) veto.scopes.push_back(fields.Name("scopes", from.scopes(i)));
  veto.is_lifted = from.is_lifted();
  return veto;
}

}  // namespace banyan
