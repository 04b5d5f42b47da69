// Chooses how each chunk that this node sends is encoded, from the job's compression rules and from what links can
// carry. An uplink's chunk is encoded by the ratio of that link. A result is encoded by the ratio of the slowest link
// of its whole tree on the way down: the same bytes go to all. The root knows it from the contributions, which carry it
// up. The same way tells it how much of a result in levels they carry in time. Frames say their codec, so that each
// node chooses for itself between that of a rule and its light one. Without a rule halves travel as halves, and exact
// types do whatever the rules are. Thread-compatible; owned by RoundEngine.
#ifndef BANYAN_NODE_ROUNDS_ENCODING_CHOOSER_H_
#define BANYAN_NODE_ROUNDS_ENCODING_CHOOSER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compression/control/ratio_controller.h"
#include "compression/encoding.h"
#include "core/ids.h"
#include "node/rounds/round_script.h"
#include "node/trim/sent_share.h"
#include "node/trim/trim_method.h"
#include "proto/chunk_message.h"
#include "proto/compression/compression_config.h"
#include "proto/compression/ratio_config.h"
#include "proto/policy_slice.h"

namespace banyan {

// How much of what this node has to send fits into one link in a round, as the rounds before have shown: the share of a
// tensor's elements that a sparse codec sends, by rule of compression; the shares of a contribution and of a result in
// levels that are sent at all; and whether the light one of two encodings in levels will do. Thread-compatible; owned
// by EncodingChooser, which has one for each node that it sends to.
//
// Invariants:
// - It learns once a round, from what all keys had of the link.
class LinkRoom {
 public:
  // How a round went on the link to a neighbour; the ratio is filled in here.
  struct Observation {
    NodeId neighbour;
    RoundObservation round;
    double results_in_time = 1;  // the part of results in levels that left in time
  };

  // `config` must outlive this. REQUIRES: MakeRatioController accepts each of its rules.
  explicit LinkRoom(const CompressionConfig* config);

  // Of the rule with this index: in (0, 1].
  double RatioUnder(size_t rule);
  bool IsLightUnder(size_t rule) const { return methods_[rule].is_light(); }
  double uplink_share() const { return uplink_.share(); }
  double result_share() const { return results_.share(); }

  // Of what was sent of a chunk in levels so much has come through.
  void CountUplink(int64_t sent_bytes, int64_t taken_bytes);
  void Observe(const Observation& link);
  // A round is over. `learns_share` where what is cut of contributions says what the link can carry.
  void EndRound(bool learns_share);

 private:
  const CompressionConfig* config_;
  std::vector<std::unique_ptr<RatioController>> controllers_;  // by rule; null before its first use
  std::vector<TrimMethod> methods_;                            // of contributions, by rule
  SentShare uplink_ = SentShare::OfContributions();
  SentShare results_ = SentShare::OfResults();
  bool has_uplink_ = false;  // contributions in levels have gone there
  // Of these, since the last round.
  int64_t sent_bytes_ = 0;
  int64_t taken_bytes_ = 0;
};

class EncodingChooser {
 public:
  // `learns_shares` where what is cut of contributions says what links can carry. `script` outlives this; null: nobody
  // asks. REQUIRES: MakeRatioController accepts each rule.
  EncodingChooser(NodeId self, CompressionConfig config, bool learns_shares = true, RoundScript* script = nullptr);
  EncodingChooser(const EncodingChooser&) = delete;
  EncodingChooser& operator=(const EncodingChooser&) = delete;

  // Whether any tensor may leave a residual.
  bool KeepsResiduals() const;
  // Whether this one does. False for one that is not compressed.
  bool KeepsResidual(const KeySlice& key);
  bool Compresses(const KeySlice& key) { return RuleOf(key) != nullptr; }
  // Whether its weights say which of its gradients are sent.
  bool Prunes(const KeySlice& key);

  // Of a contribution, for the parent.
  Encoding ForUplink(const KeySlice& key, Round round, ChunkIndex chunk, NodeId parent);
  // Of the result at its root. REQUIRES: `ratio` in (0, 1], the least of the tree's.
  Encoding ForResult(const KeySlice& key, Round round, ChunkIndex chunk, double ratio);
  // The share of a result's elements, or of the bytes of one in levels, that the slowest link to these children can
  // carry. 1 where codecs have neither, and where what is left out would be lost.
  double ResultRatio(const KeySlice& key, const std::vector<NodeId>& children);

  // Of what was sent of a chunk in levels to the parent, so much has come through.
  void ObserveUplink(NodeId parent, int64_t sent_bytes, int64_t taken_bytes);
  // A round is over on these links.
  void Observe(const std::vector<LinkRoom::Observation>& links);

 private:
  const CompressionRule* RuleOf(const KeySlice& key);
  // Whether it may be sent in part: queues may cut it, and what is left out comes back.
  static bool IsSentInPart(const CompressionRule& rule);
  size_t IndexOf(const CompressionRule& rule) const { return &rule - config_.rules.data(); }
  const std::optional<NetSenseConfig>& NetSenseOf(const CompressionRule& rule) const;
  Encoding Make(const CompressionRule& rule, EncodingChoice choice, const RoundScript::Place& place) const;
  LinkRoom& RoomTo(NodeId node) { return rooms_.try_emplace(node, &config_).first->second; }

  NodeId self_;
  CompressionConfig config_;
  bool learns_shares_;
  RoundScript* script_;
  std::map<NodeId, LinkRoom> rooms_;
  std::vector<std::optional<NetSenseConfig>> netsense_;  // by rule
  std::map<KeyId, const CompressionRule*> rules_;        // null: as its type is
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_ENCODING_CHOOSER_H_
