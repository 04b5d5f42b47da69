// One node process of `banyan bench loopback`, which starts it: runs push-pulls and Gloo's ring in turns and prints its
// times.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "bench/gloo_all_reduce.h"
#include "bench/loopback_pairs.h"
#include "runtime/local_node.h"
#include "runtime/session/session.h"

namespace banyan {
namespace {

constexpr char kUsage[] =
    "usage: loopback_peer NAME SCHEDULER DIRECTORY RANK WORLD FLOATS KEYS PAIRS group|apart KEYFILE";

struct PeerOptions {
  std::string name;       // of the node
  std::string scheduler;  // tcp://host:port
  std::string directory;  // through which Gloo's processes find each other
  int rank = 0;
  int world = 0;
  int64_t floats = 0;
  int64_t keys = 0;
  int64_t pairs = 0;
  bool group = false;    // the keys are one
  std::string key_file;  // empty: the node has none
};

std::optional<PeerOptions> ParseArguments(const std::vector<std::string>& arguments) {
  PeerOptions options;
  if (arguments.size() != 10 || !absl::SimpleAtoi(arguments[3], &options.rank) ||
      !absl::SimpleAtoi(arguments[4], &options.world) || !absl::SimpleAtoi(arguments[5], &options.floats) ||
      !absl::SimpleAtoi(arguments[6], &options.keys) || !absl::SimpleAtoi(arguments[7], &options.pairs)) {
    return std::nullopt;
  }
  options.name = arguments[0];
  options.scheduler = arguments[1];
  options.directory = arguments[2];
  options.group = arguments[8] == "group";
  options.key_file = arguments[9];
  const bool valid = 0 <= options.rank && options.rank < options.world && 0 < options.keys &&
                     options.keys <= options.floats && options.pairs > 0;
  return valid ? std::make_optional(options) : std::nullopt;
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The two ways to sum the processes' values, each where it copies least: Gloo sums in place, Banyan in the memory that
// a worker shares with its node. Only a group's tensors are copied there and back.
class Contest {
 public:
  Contest(Session& session, GlooAllReduce& ring, const PeerOptions& peer)
      : session_(session),
        ring_(ring),
        values_(static_cast<size_t>(peer.floats)),
        is_group_(peer.group),
        own_(static_cast<float>(peer.rank + 1)),
        sum_(static_cast<float>(peer.world * (peer.world + 1) / 2)) {
    for (int64_t key = 0; key < peer.keys; ++key) {
      const int64_t first = peer.floats * key / peer.keys;
      const int64_t end = peer.floats * (key + 1) / peer.keys;
      tensors_.push_back({absl::StrCat("values", key), absl::MakeSpan(values_).subspan(first, end - first)});
      gradients_.push_back(tensors_.back().values);
      results_.push_back(tensors_.back().values);
    }
  }

  absl::Status Prepare() {
    if (is_group_) {
      std::vector<GroupPart> parts;
      for (const Tensor& tensor : tensors_) parts.push_back({tensor.key, tensor.values});
      return session_.InitGroup("group", parts).Wait();
    }
    return ForEachTensor([this](const Tensor& tensor) { return session_.Init(tensor.key, tensor.values); });
  }
  absl::StatusOr<double> PushPull() {
    if (!is_group_) return PushPullShared();
    return TimeInPlace([this] { return session_.PushPullGroup("group", gradients_, results_).Wait(); });
  }
  absl::StatusOr<double> AllReduce() {
    return TimeInPlace([this] { return ring_.Sum(absl::MakeSpan(values_)); });
  }

 private:
  struct Tensor {
    std::string key;
    absl::Span<float> values;  // within values_
  };

  // Starts an operation of each tensor, then waits for them all.
  template <typename Operation>
  absl::Status ForEachTensor(const Operation& start) {
    std::vector<Ticket> tickets;
    tickets.reserve(tensors_.size());
    for (const Tensor& tensor : tensors_) tickets.push_back(start(tensor));
    return WaitFor(tickets);
  }

  static absl::Status WaitFor(std::vector<Ticket>& tickets) {
    for (Ticket& ticket : tickets) {
      if (absl::Status status = ticket.Wait(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<double> PushPullShared() {
    std::vector<SharedGradient> gradients;
    for (const Tensor& tensor : tensors_) {
      absl::StatusOr<SharedGradient> gradient = session_.ShareGradient(tensor.key);
      if (!gradient.ok()) return gradient.status();
      std::fill(gradient->values().begin(), gradient->values().end(), own_);
      gradients.push_back(*std::move(gradient));
    }
    std::vector<Ticket> tickets;
    const absl::StatusOr<double> seconds = Time([&] {
      for (size_t i = 0; i < tensors_.size(); ++i) {
        tickets.push_back(session_.PushPull(tensors_[i].key, std::move(gradients[i])));
      }
      return WaitFor(tickets);
    });
    for (const Ticket& ticket : tickets) {
      if (!seconds.ok()) break;
      if (absl::Status status = CheckSums(ticket.shared_result()); !status.ok()) return status;
    }
    return seconds;
  }

  template <typename Sum>
  absl::StatusOr<double> TimeInPlace(const Sum& sum) {
    std::fill(values_.begin(), values_.end(), own_);
    const absl::StatusOr<double> seconds = Time(sum);
    if (!seconds.ok()) return seconds;
    if (absl::Status status = CheckSums(values_); !status.ok()) return status;
    return seconds;
  }

  template <typename Sum>
  absl::StatusOr<double> Time(const Sum& sum) {
    if (absl::Status status = ring_.Barrier(); !status.ok()) return status;
    const auto start = std::chrono::steady_clock::now();
    if (absl::Status status = sum(); !status.ok()) return status;
    const double seconds = SecondsSince(start);
    // Those that are done look at their sums only when all are: they share the machine's processors.
    if (absl::Status status = ring_.Barrier(); !status.ok()) return status;
    return seconds;
  }

  // The sums are small whole numbers, hence exact in any order.
  absl::Status CheckSums(absl::Span<const float> values) const {
    for (const float value : values) {
      if (value != sum_) return absl::DataLossError(absl::StrCat("expected sums of ", sum_, ", got ", value));
    }
    return absl::OkStatus();
  }

  Session& session_;
  GlooAllReduce& ring_;
  std::vector<float> values_;
  std::vector<Tensor> tensors_;
  std::vector<ConstTensorView> gradients_;  // of the tensors
  std::vector<TensorView> results_;
  const bool is_group_;
  const float own_;
  const float sum_;
};

absl::StatusOr<LoopbackPairs> Measure(Contest& contest, int64_t pairs) {
  LoopbackPairs times;
  // The first pair grows buffers and windows and is not counted.
  for (int64_t pair = 0; pair <= pairs; ++pair) {
    const absl::StatusOr<double> banyan = contest.PushPull();
    if (!banyan.ok()) return banyan.status();
    const absl::StatusOr<double> gloo = contest.AllReduce();
    if (!gloo.ok()) return gloo.status();
    if (pair == 0) continue;
    times.banyan_seconds.push_back(*banyan);
    times.gloo_seconds.push_back(*gloo);
  }
  return times;
}

absl::Status RunPeer(const PeerOptions& peer) {
  LocalNodeOptions options;
  options.name = peer.name;
  options.scheduler = peer.scheduler;
  options.key_file = peer.key_file;
  options.log = [](int, absl::string_view line) { std::cerr << line << std::endl; };
  absl::StatusOr<std::unique_ptr<LocalNode>> node = LocalNode::Start(options);
  if (!node.ok()) return node.status();
  absl::StatusOr<std::unique_ptr<Session>> session = (*node)->OpenSession();
  if (!session.ok()) return session.status();
  absl::StatusOr<std::unique_ptr<GlooAllReduce>> ring =
      GlooAllReduce::Connect({.rank = peer.rank, .world = peer.world, .directory = peer.directory});
  if (!ring.ok()) return ring.status();
  Contest contest(**session, **ring, peer);
  if (absl::Status status = contest.Prepare(); !status.ok()) return status;
  const absl::StatusOr<LoopbackPairs> times = Measure(contest, peer.pairs);
  if (!times.ok()) return times.status();
  std::cout << FormatPairs(*times) << std::endl;
  // Nobody leaves while another still counts on it.
  return (*ring)->Barrier();
}

}  // namespace
}  // namespace banyan

int main(int argc, char** argv) {
  const std::optional<banyan::PeerOptions> options =
      banyan::ParseArguments(std::vector<std::string>(argv + 1, argv + argc));
  if (!options.has_value()) {
    std::cerr << banyan::kUsage << std::endl;
    return 2;
  }
  const absl::Status status = banyan::RunPeer(*options);
  if (status.ok()) return 0;
  std::cerr << "loopback_peer: " << status.message() << std::endl;
  return 1;
}
