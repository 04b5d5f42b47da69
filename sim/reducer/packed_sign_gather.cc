#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "core/random.h"
#include "sim/network/simulated_link.h"
#include "sim/reducer/reducer_replay.h"
#include "topology/evaluation/round_time.h"

namespace banyan {
namespace {

constexpr int64_t kValueBytes = 4;
constexpr int64_t kScaleBytes = 4;  // of each worker's part of a message
constexpr int64_t kMessageElements = 65536;

class Gather {
 public:
  explicit Gather(const ReducerJob& job);

  GatherTimes Run();

 private:
  struct Arrival {
    int64_t at_ns;
    size_t to;
  };

  int64_t VoteNs(int64_t bytes) const { return NsFor(bytes, job_.vote_bytes_per_second); }
  int64_t SumNs(int64_t bytes) const { return NsFor(bytes, kSumBytesPerSecond); }
  static int64_t NsFor(int64_t bytes, double bytes_per_second) {
    return static_cast<int64_t>(static_cast<double>(bytes) * 1e9 / bytes_per_second);
  }
  // Returns the bytes of what the workers of one node say of so many elements.
  int64_t MessageBytes(int64_t elements) const;
  // Every node sends every other what its workers say; returns by nodes when all of it is there.
  std::vector<int64_t> Exchange(int64_t now_ns, int64_t elements);
  // Each worker of the node counts the votes of all once they are there, and writes the result.
  void Count(size_t node, int64_t arrived_ns, int64_t elements);

  const ReducerJob& job_;
  const size_t nodes_;
  Random random_{1};  // without jitter and losses nothing is drawn from it
  std::map<std::pair<size_t, size_t>, SimulatedLink> links_;
  std::vector<Serializer> up_;
  std::vector<Serializer> down_;
  std::vector<int64_t> counted_ns_;  // by nodes; their workers do the same
};

Gather::Gather(const ReducerJob& job)
    : job_(job),
      nodes_(static_cast<size_t>(job.nodes)),
      up_(nodes_, Serializer(job.node_bps)),
      down_(nodes_, Serializer(job.node_bps)),
      counted_ns_(nodes_, 0) {
  LinkOptions link;
  link.rate_bps = job.node_bps;
  link.delay = job.delay;
  for (size_t from = 0; from < nodes_; ++from) {
    for (size_t to = 0; to < nodes_; ++to) {
      if (from != to) links_.emplace(std::pair(from, to), SimulatedLink(link));
    }
  }
}

int64_t Gather::MessageBytes(int64_t elements) const {
  const int64_t planes = job_.family == LowBitFamily::kTernary ? 2 : 1;
  return job_.workers * (planes * ((elements + 7) / 8) + kScaleBytes);
}

std::vector<int64_t> Gather::Exchange(int64_t now_ns, int64_t elements) {
  const int64_t bytes = MessageBytes(elements);
  std::vector<Arrival> arrivals;
  // Nobody is everybody's first.
  for (size_t step = 1; step < nodes_; ++step) {
    for (size_t from = 0; from < nodes_; ++from) {
      const size_t to = (from + step) % nodes_;
      arrivals.push_back({links_.at({from, to}).SendData(now_ns, bytes, &up_[from], &random_), to});
    }
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Arrival& a, const Arrival& b) { return a.at_ns < b.at_ns; });
  std::vector<int64_t> all_there_ns(nodes_, now_ns);
  for (const Arrival& arrival : arrivals) {
    // As the simulated network has it: what comes takes the host's wire while it comes.
    const int64_t began_ns = arrival.at_ns - down_[arrival.to].DurationNs(bytes);
    all_there_ns[arrival.to] =
        std::max({all_there_ns[arrival.to], arrival.at_ns, down_[arrival.to].Reserve(began_ns, bytes)});
  }
  return all_there_ns;
}

void Gather::Count(size_t node, int64_t arrived_ns, int64_t elements) {
  // As nodes of Banyan: votes are read and counts written (node/votes/vote_computations.h), then floats.
  const int64_t count_ns = VoteNs(2 * static_cast<int64_t>(nodes_) * MessageBytes(elements));
  counted_ns_[node] = std::max(counted_ns_[node], arrived_ns) + count_ns + SumNs(kValueBytes * elements);
}

GatherTimes Gather::Run() {
  int64_t cast_ns = 0;
  for (const int64_t bucket : job_.buckets) {
    // Read for the scale and for the votes. Counting waits for it, too, since one processor does both.
    const int64_t own_cast_ns = VoteNs(2 * kValueBytes * bucket);
    cast_ns += own_cast_ns;
    for (int64_t& counted_ns : counted_ns_) counted_ns += own_cast_ns;
    for (int64_t first = 0; first < bucket; first += kMessageElements) {
      const int64_t elements = std::min(kMessageElements, bucket - first);
      const std::vector<int64_t> all_there_ns = Exchange(cast_ns, elements);
      for (size_t node = 0; node < nodes_; ++node) Count(node, all_there_ns[node], elements);
    }
  }
  GatherTimes times;
  times.round = absl::Nanoseconds(*std::max_element(counted_ns_.begin(), counted_ns_.end()));
  for (const auto& [ends, link] : links_) times.sent_bytes += link.data_bytes();
  return times;
}

}  // namespace

GatherTimes GatherPackedSigns(const ReducerJob& job) { return Gather(job).Run(); }

}  // namespace banyan
