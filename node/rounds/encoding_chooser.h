// Chooses how each chunk that this node sends is encoded, from the job's compression rules and from what links can
// carry. An uplink's chunk is encoded by the ratio of that link. A result is encoded by the ratio of the slowest link
// of its whole tree on the way down: the same bytes go to all. The root knows it from the contributions, which carry it
// up. Thread-compatible; owned by RoundEngine.
#ifndef BANYAN_NODE_ROUNDS_ENCODING_CHOOSER_H_
#define BANYAN_NODE_ROUNDS_ENCODING_CHOOSER_H_

#include <map>
#include <optional>
#include <vector>

#include "compression/encoding.h"
#include "core/ids.h"
#include "node/rounds/link_ratios.h"
#include "proto/chunk_message.h"
#include "proto/compression/compression_config.h"
#include "proto/compression/ratio_config.h"
#include "proto/policy_slice.h"

namespace banyan {

class EncodingChooser {
 public:
  // REQUIRES: MakeRatioController accepts each rule.
  EncodingChooser(NodeId self, CompressionConfig config);
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
  // The share of a result's elements that the slowest link to these children can carry. 1 where codecs have no ratio.
  double ResultRatio(const KeySlice& key, const std::vector<NodeId>& children);

  // A round is over on these links.
  void Observe(const std::vector<LinkRatios::Observation>& links) { ratios_.Observe(links); }

 private:
  const CompressionRule* RuleOf(const KeySlice& key);
  const std::optional<NetSenseConfig>& NetSenseOf(const CompressionRule& rule) const;
  Encoding Make(const CompressionRule& rule, double ratio, const KeySlice& key, Round round, ChunkIndex chunk,
                Half half) const;

  NodeId self_;
  CompressionConfig config_;
  LinkRatios ratios_;
  std::vector<std::optional<NetSenseConfig>> netsense_;  // by rule
  std::map<KeyId, const CompressionRule*> rules_;        // null: fp32
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_ENCODING_CHOOSER_H_
