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

// The ratio of each link under each rule of compression: which share of a tensor's elements a sparse codec sends to a
// neighbour in the next round. A controller per (rule, neighbour) learns from how the rounds went on that link.
// Thread-compatible; owned by RoundEngine.
class LinkRatios {
 public:
  // How a round went on the link to a neighbour; the ratio is filled in here.
  struct Observation {
    NodeId neighbour;
    RoundObservation round;
    double results_in_time = 1;  // the part of results in levels that left in time
  };

  // `config` must outlive this. REQUIRES: MakeRatioController accepts each of its rules.
  explicit LinkRatios(const CompressionConfig* config) : config_(config) {}

  // In (0, 1]. REQUIRES: `rule` is one of the configuration's.
  double RatioTo(NodeId neighbour, const CompressionRule& rule);
  // The least of those to these neighbours: one encoding goes to all of them. 1 for none.
  double LeastRatioTo(const std::vector<NodeId>& neighbours, const CompressionRule& rule);

  // A round is over on these links.
  void Observe(const std::vector<Observation>& links);

 private:
  RatioController& ControllerOf(NodeId neighbour, const CompressionRule& rule);

  const CompressionConfig* config_;
  std::map<std::pair<NodeId, size_t>, std::unique_ptr<RatioController>> controllers_;  // by neighbour and rule
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
  void Observe(const std::vector<LinkRatios::Observation>& links);

 private:
  const CompressionRule* RuleOf(const KeySlice& key);
  // What has come through of what was sent to a parent in the round.
  struct Taken {
    int64_t sent_bytes = 0;
    int64_t taken_bytes = 0;
  };

  // Whether it may be sent in part: queues may cut it, and what is left out comes back.
  static bool IsSentInPart(const CompressionRule& rule);
  size_t IndexOf(const CompressionRule& rule) const { return &rule - config_.rules.data(); }
  const std::optional<NetSenseConfig>& NetSenseOf(const CompressionRule& rule) const;
  Encoding Make(const CompressionRule& rule, EncodingChoice choice, const RoundScript::Place& place) const;
  // What suits contributions to the parent, by rule.
  std::vector<TrimMethod>& MethodsTo(NodeId parent);

  NodeId self_;
  CompressionConfig config_;
  LinkRatios ratios_;
  bool learns_shares_;
  RoundScript* script_;
  std::map<NodeId, SentShare> results_;                  // of results in levels, by child
  std::map<NodeId, SentShare> uplinks_;                  // of contributions in levels, by parent
  std::map<NodeId, std::vector<TrimMethod>> methods_;    // likewise
  std::map<NodeId, Taken> taken_;                        // since the last round, likewise
  std::vector<std::optional<NetSenseConfig>> netsense_;  // by rule
  std::map<KeyId, const CompressionRule*> rules_;        // null: as its type is
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_ENCODING_CHOOSER_H_
