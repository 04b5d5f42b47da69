// A scheduler's status as `banyan status` and the demo use it: what the JSON text says, as values. Pure.
#ifndef BANYAN_TOOLS_REPORTS_STATUS_VIEW_H_
#define BANYAN_TOOLS_REPORTS_STATUS_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// What it says of low-bit rounds.
struct PrecisionView {
  // Rounds that have closed, of one key or of all that have candidates.
  struct Rounds {
    std::string key;
    int64_t low_bit = 0;
    int64_t fallback = 0;
    int64_t plain = 0;
    int64_t mixed = 0;
  };
  std::string profile;
  std::string state;
  std::string veto;
  int64_t vetoes = 0;
  std::vector<std::string> ordered;  // scopes that an operator has vetoed
  int64_t violations = 0;
  Rounds candidates;
  double low_bit_share = 0;
  double veto_share = 0;
  double bits_per_element = 0;
  double traffic_ratio = 1;  // modelled, of all keys
  double sent_bytes = 0;     // of all gradients and results
  double full_bytes = 0;     // that FP32 would have taken
  std::vector<Rounds> keys;  // with rounds that were not plain
};

struct StatusView {
  // What a node's workers have pushed into a key that is NaN or infinite.
  struct NotFinite {
    std::string key;
    int64_t values = 0;
    int64_t last_round = 0;
  };
  struct Node {
    std::string name;
    std::string state;
    std::string address;
    std::optional<double> heard_s;
    std::string version;       // of Banyan; empty when it has not said it
    bool is_insecure = false;  // other machines reach it, and it has no keys
    int64_t workers = 0;
    std::optional<int64_t> round;
    std::optional<double> loss;
    double sync_s = 0;
    int64_t memory_bytes = 0;
    int64_t rejected_messages = 0;
    std::vector<NotFinite> not_finite;
  };
  struct Link {
    std::string from;
    std::string to;
    double mbps = 0;
    double delay_ms = 0;
    std::optional<double> age_s;  // empty when nobody has measured it
    std::string source;
    bool is_old = false;  // measured too long ago to rely on
    std::optional<double> clock_offset_ms;
    double busy_share = 0;  // of the last round
    uint64_t sent_bytes = 0;
    uint64_t resent_bytes = 0;
    uint64_t auxiliary_bytes = 0;
    uint64_t renewals = 0;  // connections that were made anew because nothing passed
    bool is_blocked = false;
    uint64_t cut_chunks = 0;  // that left the queue without their last frames
    uint64_t cut_bytes = 0;
    uint64_t overtakings = 0;  // of packets
  };
  // A cap of a host, inferred from what its links carry together.
  struct Inferred {
    std::string node;
    std::string what;  // "sends" or "receives"
    double mbps = 0;   // at most
  };
  // A link that others go by way of, as their delays say.
  struct Way {
    std::string from;
    std::string to;
    double mbps = 0;  // of all of them
    std::vector<std::pair<std::string, std::string>> links;
  };
  struct Tree {
    std::string root;
    double share = 0;
  };

  // The one that was busy for the largest part of the last round.
  struct SlowestLink {
    std::string from;
    std::string to;
    double mbps = 0;
    double busy_share = 0;
  };
  // The oldest round that somebody has pushed, and for whom it waits.
  struct OpenRound {
    std::string key;
    int64_t round = 0;
    std::string waits_for;
    double since_s = 0;
  };
  struct Key {
    std::string name;
    int64_t closed_rounds = 0;
  };

  std::string job;
  std::string state;
  std::string error;    // empty when there is none
  std::string version;  // of the scheduler
  int64_t term = 0;
  int64_t rejected_messages = 0;  // by the scheduler
  int64_t epoch = 0;
  int64_t policy = 0;
  std::string policy_reason;  // why there is this version
  int64_t live_policies = 0;  // versions that still govern rounds
  int64_t policies_taken_back = 0;
  double auxiliary_share = 0;  // of all bytes sent, those on auxiliary paths
  std::optional<SlowestLink> slowest_link;
  std::string planner;  // empty before the first plan, and so are the rates
  double rate_mbps = 0;
  double auxiliary_rate_mbps = 0;  // with ideal use of auxiliary paths
  double bound_mbps = 0;
  std::optional<double>
      bound_ratio;  // the part of the bound that the rate with auxiliary paths is; empty for a single node
  std::optional<double> predicted_round_s;  // empty while the model's size is unknown
  std::string change;                       // for what the change of membership under way waits; empty when none is
  std::string epoch_reason;                 // why the last change was
  int64_t changes = 0;                      // of membership, since the start of the scheduler
  double changes_s = 0;                     // that they took together
  double longest_change_s = 0;
  std::optional<OpenRound> open_round;
  std::string disorder;                // how nodes differ in what they push; empty: they do not
  std::string storage;                 // for how long the state has not been written; empty when it is
  std::vector<std::string> links_out;  // that are planned without for now, as "a - b: why"
  std::vector<std::string> waiting_for;
  bool is_insecure = false;  // other machines reach the scheduler, which has no keys
  std::vector<Node> nodes;
  std::vector<Link> links;
  int64_t links_left_out = 0;  // of which the scheduler says nothing, since there are so many
  std::vector<Inferred> inferred;
  std::vector<Way> ways;
  std::vector<Tree> trees;
  std::vector<Key> keys;
  std::optional<PrecisionView> precision;  // empty: the job has no profile
};

// INVALID_ARGUMENT when `json` is not the answer of a scheduler. Members that it does not know are passed over.
absl::StatusOr<StatusView> ParseStatus(absl::string_view json);

// The answer as tables to read, several lines. Of many links it shows the slowest, unless all are asked for: those that
// were busy for the longest part of the last round.
std::string FormatStatus(const StatusView& status, bool shows_all_links = false);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_STATUS_VIEW_H_
