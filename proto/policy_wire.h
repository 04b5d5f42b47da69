// The job's configuration, keys and policies, as the scheduler's messages carry them, to and from Protobuf. Part of
// proto/wire.h, which is what others use. Pure functions.
#ifndef BANYAN_PROTO_POLICY_WIRE_H_
#define BANYAN_PROTO_POLICY_WIRE_H_

#include "proto/field_reader.h"
#include "proto/job_config.h"
#include "proto/policy.pb.h"
#include "proto/policy_slice.h"

namespace banyan {

void WriteJobConfig(const JobConfig& from, wire::JobConfig& to);
JobConfig ReadJobConfig(const wire::JobConfig& from, FieldReader fields);

void WriteKeySlice(const KeySlice& from, wire::KeySlice& to);
KeySlice ReadKeySlice(const wire::KeySlice& from, FieldReader fields);

void WritePolicySlice(const PolicySlice& from, wire::PolicySlice& to);
PolicySlice ReadPolicySlice(const wire::PolicySlice& from, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_POLICY_WIRE_H_
