// Every message that crosses between two daemons. Values; thread-compatible.
#ifndef BANYAN_PROTO_MESSAGE_H_
#define BANYAN_PROTO_MESSAGE_H_

#include <variant>

#include "proto/access_list.h"
#include "proto/chunk_message.h"
#include "proto/peer_messages.h"
#include "proto/precision/precision_messages.h"
#include "proto/scheduler_messages.h"
#include "proto/state_messages.h"
#include "proto/status.h"
#include "proto/tracing/trace_messages.h"

namespace banyan {

using AnyMessage =
    std::variant<ChunkMessage, PeerHello, LinkAck, DeliveryAck, Busy, Grant, PeerHeartbeat, GoAway, Join, JoinAccepted,
                 JoinRefused, MembershipUpdate, Heartbeat, HeartbeatReply, RegisterKeys, KeysAssigned, KeyRefused,
                 PolicyRequest, PolicyAnswer, PolicyPublished, RoundsClosed, ClosedEverywhere, BarrierEntered,
                 BarrierReleased, PeerLost, WorkerLost, Leave, JobFailed, NodeReport, StatusRequest, StatusReply,
                 PoliciesRetired, Reconfigure, OperatorReply, RoundBroken, EpochBegin, EpochReport, EpochPlan, StopJob,
                 RemoveNode, StateWanted, StateSought, BoundaryHeld, NoState, StateHolders, FetchEnded, StateReleased,
                 StateManifestWanted, StateManifest, StateRequest, StateRefused, WaitQuestion, WaitAnswer, CutSought,
                 CutBound, AccessList, RoundsPushed, QuorumReached, HealthReport, VetoLowBit, TraceRounds, TraceOrder,
                 TraceReady, TracePiece, TraceEnd, CannotFollow>;

// A class of its own, so that copying and destroying fifty alternatives is compiled once and not in every file.
struct Message : AnyMessage {
  using AnyMessage::AnyMessage;
  Message();
  Message(const Message& other);
  Message(Message&& other) noexcept;
  Message& operator=(const Message& other);
  Message& operator=(Message&& other) noexcept;
  ~Message();
};

}  // namespace banyan

#endif  // BANYAN_PROTO_MESSAGE_H_
