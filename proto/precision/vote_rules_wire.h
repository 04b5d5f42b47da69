// Turns the rules of low-bit rounds, as the job's configuration carries them, to and from Protobuf. Part of
// proto/wire.h, which is what others use. Pure functions.
#ifndef BANYAN_PROTO_PRECISION_VOTE_RULES_WIRE_H_
#define BANYAN_PROTO_PRECISION_VOTE_RULES_WIRE_H_

#include "proto/field_reader.h"
#include "proto/policy.pb.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

void WriteVoteRules(const VoteRules& from, wire::VoteRules& to);

// Refuses a threshold or a margin that is no share.
VoteRules ReadVoteRules(const wire::VoteRules& from, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_PRECISION_VOTE_RULES_WIRE_H_
