// Messages about training states to and from Protobuf. Part of proto/wire.h, which is what others use. Pure functions.
#ifndef BANYAN_PROTO_STATE_WIRE_H_
#define BANYAN_PROTO_STATE_WIRE_H_

#include "proto/envelope.pb.h"
#include "proto/field_reader.h"
#include "proto/state.pb.h"
#include "proto/state_messages.h"

namespace banyan {

void Write(const StateWanted& from, wire::Envelope& to);
void Write(const StateSought& from, wire::Envelope& to);
void Write(const BoundaryHeld& from, wire::Envelope& to);
void Write(const NoState& from, wire::Envelope& to);
void Write(const StateHolders& from, wire::Envelope& to);
void Write(const FetchEnded& from, wire::Envelope& to);
void Write(const StateReleased& from, wire::Envelope& to);
void Write(const StateManifestWanted& from, wire::Envelope& to);
void Write(const StateManifest& from, wire::Envelope& to);
void Write(const StateRequest& from, wire::Envelope& to);
void Write(const StateRefused& from, wire::Envelope& to);

StateWanted Read(const wire::StateWanted& from, FieldReader fields);
StateSought Read(const wire::StateSought& from, FieldReader fields);
BoundaryHeld Read(const wire::BoundaryHeld& from, FieldReader fields);
NoState Read(const wire::NoState& from, FieldReader fields);
StateHolders Read(const wire::StateHolders& from, FieldReader fields);
FetchEnded Read(const wire::FetchEnded& from, FieldReader fields);
StateReleased Read(const wire::StateReleased& from, FieldReader fields);
StateManifestWanted Read(const wire::StateManifestWanted& from, FieldReader fields);
// Its parts are sorted, and it has as many hashes as a state of their size has chunks.
StateManifest Read(const wire::StateManifest& from, FieldReader fields);
// Its runs rise and do not overlap.
StateRequest Read(const wire::StateRequest& from, FieldReader fields);
StateRefused Read(const wire::StateRefused& from, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_STATE_WIRE_H_
