// The messages between daemons, and what they are made of, to and from Protobuf; each group has a file of its own. Part
// of proto/wire.h, which is what others use. Pure functions.
#ifndef BANYAN_PROTO_MESSAGE_WIRE_H_
#define BANYAN_PROTO_MESSAGE_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/buffer.h"
#include "core/ids.h"
#include "proto/access_list.h"
#include "proto/chunk.pb.h"
#include "proto/chunk_message.h"
#include "proto/envelope.pb.h"
#include "proto/field_reader.h"
#include "proto/job_config.h"
#include "proto/peer.pb.h"
#include "proto/peer_messages.h"
#include "proto/policy.pb.h"
#include "proto/policy_slice.h"
#include "proto/precision/precision_messages.h"
#include "proto/precision/precision_report.h"
#include "proto/precision/vote_rules.h"
#include "proto/scheduler.pb.h"
#include "proto/scheduler_messages.h"
#include "proto/state.pb.h"
#include "proto/state_messages.h"
#include "proto/tracing/trace_messages.h"

namespace banyan {

// ---- chunks, and the ids and routes that other messages share with them ----

void WriteChunkId(const ChunkId& from, wire::ChunkId& to);
ChunkId ReadChunkId(const wire::ChunkId& from, FieldReader fields);

void WriteSourceRoute(const SourceRoute& from, wire::SourceRoute& to);
// At least two nodes, none twice, and a hop that has a next node.
SourceRoute ReadSourceRoute(const wire::SourceRoute& from, FieldReader fields);

// The nodes of a path with both ends: at least two, none twice.
std::vector<NodeId> ReadPath(const google::protobuf::RepeatedField<uint32_t>& from, FieldReader fields);

void Write(const ChunkMessage& from, wire::Envelope& to);
// `payload` must be what the header says, frame by frame.
ChunkMessage ReadChunk(const wire::ChunkMessage& from, const Payload& payload, FieldReader fields);

// ---- control messages between nodes ----

void Write(const PeerHello& from, wire::Envelope& to);
void Write(const GoAway& from, wire::Envelope& to);
void Write(const LinkAck& from, wire::Envelope& to);
void Write(const DeliveryAck& from, wire::Envelope& to);
void Write(const Busy& from, wire::Envelope& to);
void Write(const Grant& from, wire::Envelope& to);
void Write(const PeerHeartbeat& from, wire::Envelope& to);

PeerHello Read(const wire::PeerHello& from, FieldReader fields);
GoAway Read(const wire::GoAway& from, FieldReader fields);
LinkAck Read(const wire::LinkAck& from, FieldReader fields);
DeliveryAck Read(const wire::DeliveryAck& from, FieldReader fields);
Busy Read(const wire::Busy& from, FieldReader fields);
Grant Read(const wire::Grant& from, FieldReader fields);
PeerHeartbeat Read(const wire::PeerHeartbeat& from, FieldReader fields);

// ---- training states ----

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

// ---- the job's configuration, keys and policies, as the scheduler's messages carry them ----

void WriteJobConfig(const JobConfig& from, wire::JobConfig& to);
JobConfig ReadJobConfig(const wire::JobConfig& from, FieldReader fields);

void WriteKeySlice(const KeySlice& from, wire::KeySlice& to);
KeySlice ReadKeySlice(const wire::KeySlice& from, FieldReader fields);

void WritePolicySlice(const PolicySlice& from, wire::PolicySlice& to);
PolicySlice ReadPolicySlice(const wire::PolicySlice& from, FieldReader fields);

// ---- how far keys are, in runs ----

using ProgressRunList = google::protobuf::RepeatedPtrField<wire::KeyProgressRun>;

inline void WriteProgressRuns(const std::vector<KeyProgressRun>& from, ProgressRunList& to) {
  to.Reserve(static_cast<int>(from.size()));
  for (const KeyProgressRun& run : from) {
    wire::KeyProgressRun& written = *to.Add();
    written.set_key(run.key.value());
    written.set_round(run.round.value());
    written.set_more_keys(run.more_keys);
  }
}

inline std::vector<KeyProgressRun> ReadProgressRuns(const ProgressRunList& from, FieldReader& fields) {
  std::vector<KeyProgressRun> runs;
  const int count = fields.Count("runs", from.size());
  runs.reserve(count);
  size_t keys = 0;
  for (int i = 0; i < count; ++i) {
    const wire::KeyProgressRun& run = from.Get(i);
    FieldReader within = fields.Within("runs", i);
    const KeyId key = within.NonZero<KeyId>("key", run.key());
    const uint32_t more_keys = within.MoreKeys(key, run.more_keys(), keys);
    runs.push_back({key, Round(run.round()), more_keys});
  }
  return runs;
}

// ---- the scheduler's messages to nodes and to `banyan status` ----

void Write(const JoinAccepted& from, wire::Envelope& to);
void Write(const JoinRefused& from, wire::Envelope& to);
void Write(const MembershipUpdate& from, wire::Envelope& to);
void Write(const AccessList& from, wire::Envelope& to);
void Write(const HeartbeatReply& from, wire::Envelope& to);
void Write(const KeysAssigned& from, wire::Envelope& to);
void Write(const KeyRefused& from, wire::Envelope& to);
void Write(const PolicyAnswer& from, wire::Envelope& to);
void Write(const CutSought& from, wire::Envelope& to);
void Write(const PolicyPublished& from, wire::Envelope& to);
void Write(const ClosedEverywhere& from, wire::Envelope& to);
void Write(const QuorumReached& from, wire::Envelope& to);
void Write(const BarrierReleased& from, wire::Envelope& to);
void Write(const JobFailed& from, wire::Envelope& to);
void Write(const StatusReply& from, wire::Envelope& to);
void Write(const PoliciesRetired& from, wire::Envelope& to);
void Write(const EpochBegin& from, wire::Envelope& to);
void Write(const EpochPlan& from, wire::Envelope& to);
void Write(const OperatorReply& from, wire::Envelope& to);
void Write(const WaitAnswer& from, wire::Envelope& to);

JoinAccepted Read(const wire::JoinAccepted& from, FieldReader fields);
JoinRefused Read(const wire::JoinRefused& from, FieldReader fields);
MembershipUpdate Read(const wire::MembershipUpdate& from, FieldReader fields);
AccessList Read(const wire::AccessList& from, FieldReader fields);
HeartbeatReply Read(const wire::HeartbeatReply& from, FieldReader fields);
KeysAssigned Read(const wire::KeysAssigned& from, FieldReader fields);
KeyRefused Read(const wire::KeyRefused& from, FieldReader fields);
PolicyAnswer Read(const wire::PolicyAnswer& from, FieldReader fields);
CutSought Read(const wire::CutSought& from, FieldReader fields);
PolicyPublished Read(const wire::PolicyPublished& from, FieldReader fields);
ClosedEverywhere Read(const wire::ClosedEverywhere& from, FieldReader fields);
QuorumReached Read(const wire::QuorumReached& from, FieldReader fields);
BarrierReleased Read(const wire::BarrierReleased& from, FieldReader fields);
JobFailed Read(const wire::JobFailed& from, FieldReader fields);
StatusReply Read(const wire::StatusReply& from, FieldReader fields);
PoliciesRetired Read(const wire::PoliciesRetired& from, FieldReader fields);
EpochBegin Read(const wire::EpochBegin& from, FieldReader fields);
EpochPlan Read(const wire::EpochPlan& from, FieldReader fields);
OperatorReply Read(const wire::OperatorReply& from, FieldReader fields);
WaitAnswer Read(const wire::WaitAnswer& from, FieldReader fields);

// ---- messages of nodes and of `banyan status` to the scheduler ----

void Write(const Join& from, wire::Envelope& to);
void Write(const Heartbeat& from, wire::Envelope& to);
void Write(const RegisterKeys& from, wire::Envelope& to);
void Write(const PolicyRequest& from, wire::Envelope& to);
void Write(const CutBound& from, wire::Envelope& to);
void Write(const RoundsClosed& from, wire::Envelope& to);
void Write(const RoundsPushed& from, wire::Envelope& to);
void Write(const BarrierEntered& from, wire::Envelope& to);
void Write(const PeerLost& from, wire::Envelope& to);
void Write(const WorkerLost& from, wire::Envelope& to);
void Write(const CannotFollow& from, wire::Envelope& to);
void Write(const RoundBroken& from, wire::Envelope& to);
void Write(const EpochReport& from, wire::Envelope& to);
void Write(const StopJob& from, wire::Envelope& to);
void Write(const RemoveNode& from, wire::Envelope& to);
void Write(const WaitQuestion& from, wire::Envelope& to);
void Write(const Leave& from, wire::Envelope& to);
void Write(const NodeReport& from, wire::Envelope& to);
void Write(const StatusRequest& from, wire::Envelope& to);
void Write(const Reconfigure& from, wire::Envelope& to);

// Its texts are for the scheduler to judge: it answers with a reason.
Join Read(const wire::Join& from, FieldReader fields);
Heartbeat Read(const wire::Heartbeat& from, FieldReader fields);
RegisterKeys Read(const wire::RegisterKeys& from, FieldReader fields);
PolicyRequest Read(const wire::PolicyRequest& from, FieldReader fields);
CutBound Read(const wire::CutBound& from, FieldReader fields);
RoundsClosed Read(const wire::RoundsClosed& from, FieldReader fields);
RoundsPushed Read(const wire::RoundsPushed& from, FieldReader fields);
BarrierEntered Read(const wire::BarrierEntered& from, FieldReader fields);
PeerLost Read(const wire::PeerLost& from, FieldReader fields);
WorkerLost Read(const wire::WorkerLost& from, FieldReader fields);
CannotFollow Read(const wire::CannotFollow& from, FieldReader fields);
RoundBroken Read(const wire::RoundBroken& from, FieldReader fields);
EpochReport Read(const wire::EpochReport& from, FieldReader fields);
StopJob Read(const wire::StopJob& from, FieldReader fields);
RemoveNode Read(const wire::RemoveNode& from, FieldReader fields);
WaitQuestion Read(const wire::WaitQuestion& from, FieldReader fields);
Leave Read(const wire::Leave& from, FieldReader fields);
NodeReport Read(const wire::NodeReport& from, FieldReader fields);
StatusRequest Read(const wire::StatusRequest& from, FieldReader fields);
Reconfigure Read(const wire::Reconfigure& from, FieldReader fields);

// ---- low-bit rounds and the health of a training ----

void WritePrecisionReport(const PrecisionReport& from, wire::PrecisionReport& to);
PrecisionReport ReadPrecisionReport(const wire::PrecisionReport& from, FieldReader fields);

// A training that diverges reports no number at all: it travels as a very large one, for who reads it wants numbers.
double FiniteLoss(double loss);

void Write(const HealthReport& from, wire::Envelope& to);
HealthReport Read(const wire::HealthReport& from, FieldReader fields);

void Write(const VetoLowBit& from, wire::Envelope& to);
VetoLowBit Read(const wire::VetoLowBit& from, FieldReader fields);

void WriteVoteRules(const VoteRules& from, wire::VoteRules& to);

// Refuses a threshold or a margin that is no share.
VoteRules ReadVoteRules(const wire::VoteRules& from, FieldReader fields);

// ---- traced rounds ----

void Write(const TraceRounds& from, wire::Envelope& to);
TraceRounds Read(const wire::TraceRounds& from, FieldReader fields);
void Write(const TraceOrder& from, wire::Envelope& to);
TraceOrder Read(const wire::TraceOrder& from, FieldReader fields);
void Write(const TraceReady& from, wire::Envelope& to);
TraceReady Read(const wire::TraceReady& from, FieldReader fields);
void Write(const TracePiece& from, wire::Envelope& to);
TracePiece Read(const wire::TracePiece& from, FieldReader fields);
void Write(const TraceEnd& from, wire::Envelope& to);
TraceEnd Read(const wire::TraceEnd& from, FieldReader fields);

}  // namespace banyan

#endif  // BANYAN_PROTO_MESSAGE_WIRE_H_
