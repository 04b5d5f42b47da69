// One job's configuration, as `overlay.yaml` says it: plain values with units in their names and the defaults of the
// file format. Made by ParseOverlay (topology/overlay/overlay_yaml.h), read-only afterwards.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_CONFIG_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_CONFIG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "proto/job_config.h"
#include "proto/policy_slice.h"
#include "proto/precision/vote_rules.h"
#include "proto/trimming_config.h"
#include "topology/network_view.h"
#include "topology/overlay/text/yaml_text.h"

namespace banyan {

// Limits of the format.
inline constexpr int64_t kMaxOverlayBytes = 8 * 1000 * 1000;
inline constexpr int kMaxOverlayNodes = 4096;
// A larger overlay must list its links.
inline constexpr int kMaxFullMeshNodes = 1024;

// The rate that is believed of a link when the file does not say it.
inline constexpr double kDefaultLinkBps = 100e6;

struct SchedulerConfig {
  std::string address;                      // tcp://host:port, the first of `addresses`; empty when the file says none
  std::vector<std::string> addresses;       // of all schedulers, of which one leads
  std::string http;                         // host:port of the status page; empty for none
  std::vector<std::string> etcd;            // http://host:port or https://host:port; empty: the state is in a directory
  std::string public_key;                   // of all schedulers of the job, Z85; empty for none
  absl::Duration lease = absl::Seconds(3);  // a leader that etcd has not heard for so long leads no more
  FilePlace place;                          // of the section, for messages
};

struct NodeConfig {
  std::string name;
  std::string address;  // where others reach it, tcp://host:port; empty when the file does not say it
  std::string listen;   // what it binds to; empty means `address`
  int workers = 1;
  std::optional<double> up_cap_bps;
  std::optional<double> down_cap_bps;
  std::string public_key;  // Z85, 40 characters; empty for none
  std::optional<EarthPosition> position;
  FilePlace place;          // for messages
  double price_per_gb = 0;  // of 10^9 bytes that it sends, in any currency
};

// Who may operate or watch the job, by key.
struct PersonConfig {
  std::string name;
  std::string public_key;  // Z85, 40 characters
  FilePlace place;         // for messages
  friend bool operator==(const PersonConfig& a, const PersonConfig& b) {
    return a.name == b.name && a.public_key == b.public_key;
  }
};

// Both directions of a link.
struct LinkConfig {
  std::string a;
  std::string b;
  double a_to_b_bps = kDefaultLinkBps;
  double b_to_a_bps = kDefaultLinkBps;
  absl::Duration delay;      // one way
  double loss_fraction = 0;  // in [0, 1)
  FilePlace place;           // for messages
  bool has_rates = true;     // else the two above are guesses
  // Of 10^9 bytes, in any currency.
  double a_to_b_price_per_gb = 0;
  double b_to_a_price_per_gb = 0;
};

// What links share besides their ends: together they carry no more. Each link is one direction, from and to.
struct SharedConfig {
  double capacity_bps = 0;
  std::vector<std::pair<std::string, std::string>> links;
  FilePlace place;  // for messages
};

struct CustomTreeConfig {
  std::string root;
  std::optional<double> share;                   // all trees say it or none does (then: by quality)
  std::map<std::string, std::string> reduce;     // node -> parent
  std::map<std::string, std::string> broadcast;  // node -> parent; empty means the reduce half
};

// The rule by which a policy divides chunks among its trees: in proportion to their quality, or as the links allow the
// highest rate.
enum class ShareRule { kQuality, kBalanced };

struct TopologyConfig {
  std::string planner = "packed";
  std::optional<int> roots;         // empty means all
  std::optional<std::string> root;  // for planners with one root; empty means the best
  int arity = 2;                    // `k`: children of each inner node of bkt
  ShareRule shares = ShareRule::kQuality;
  std::optional<double> budget_per_round;  // what a round may cost; empty: whatever it does
  std::vector<CustomTreeConfig> trees;
  absl::Duration update_interval = absl::Seconds(5);
  // A link whose rate changes by more than this fraction of the smaller value is planned for at once; 0 turns that off.
  // A smaller change waits for update_interval, and is planned for too. This is not the UPDATE_RATE of the NETSTORM
  // paper, below which nothing is planned.
  double update_rate = 0;
};

struct AwarenessConfig {
  bool enabled = true;
  int64_t probe_chunk_bytes = 40000;
  int probe_chunks = 4;
  RateEstimator estimator = RateEstimator::kDelivery;  // what measured rates rest on
};

struct MultipathConfig {
  bool enabled = true;
  int primary_busy_bound = 2;      // chunks beyond the bandwidth-delay product
  int auxiliary_queue_length = 5;  // chunks
};

struct ChunksConfig {
  int64_t max_elements = 65536;
  // `packed` takes smaller chunks than max_elements where a round is sooner done with them, but none below this.
  int64_t min_elements = 4096;
};

struct TransportConfig {
  std::optional<int> connections;  // data connections per link; empty means auto
  // With `auto` a link uses no more connections than have so many bytes each of its bandwidth-delay product. Where
  // losses do not hold a connection back, each has a multiple of that (node/peers/link_windows.h). 0: a link uses all.
  int64_t bytes_per_connection = 65536;
  std::optional<int64_t> window_bytes;  // bytes in flight per link; empty means auto: from its bandwidth-delay product
  int64_t early_bytes = 64 * 1000 * 1000;  // data of rounds that are not open yet, per node
  int64_t relay_bytes = 64 * 1000 * 1000;  // chunks passing through, per node
};

struct MembershipConfig {
  std::optional<int> start_with;  // nodes that must have joined before round 1; empty means all
  absl::Duration heartbeat = absl::Seconds(1);
  absl::Duration lost_after = absl::Seconds(5);
  // Without a word of the scheduler for so long a node ends the job by itself.
  absl::Duration scheduler_lost_after = absl::Hours(1);
  // The job goes on without a worker for which the others have waited so long; empty: it waits for ever.
  std::optional<absl::Duration> worker_lost_after;
  int least = 1;  // members: with fewer training waits
};

struct PolicyConfig {
  // For so long rounds go on without a scheduler: its answers cover about as many. 0: each round is asked for.
  absl::Duration lease = absl::Minutes(2);
  int rounds_in_flight = 1;  // open rounds per key
};

// The files of low-bit rounds; empty where the job has none.
struct PrecisionConfig {
  std::string profile;  // of the workload
  std::string binding;  // of the model
  FilePlace place;      // of the section, for messages
};

struct OverlayConfig {
  std::string file_name;  // for messages
  std::string job = "banyan";
  SchedulerConfig scheduler;
  std::vector<NodeConfig> nodes;  // in file order; NodeIds 1..n follow it
  std::vector<PersonConfig> operators;
  std::vector<PersonConfig> observers;
  // Empty when `links` is absent; then every pair has a link with the default belief.
  std::optional<std::vector<LinkConfig>> links;
  std::vector<SharedConfig> shared;
  TopologyConfig topology;
  AwarenessConfig awareness;
  MultipathConfig multipath;
  ChunksConfig chunks;
  AggregationConfig aggregation;
  CompressionConfig compression;
  TrimmingConfig trimming;
  PrecisionConfig precision;
  // What the profile says of votes, for whoever has read it; the overlay itself says nothing of it.
  std::optional<VoteRules> low_bit;
  TransportConfig transport;
  MembershipConfig membership;
  PolicyConfig policy;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_CONFIG_H_
