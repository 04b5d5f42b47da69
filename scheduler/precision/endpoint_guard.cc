#include "scheduler/precision/endpoint_guard.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace banyan {
namespace {

// Whether the rate is far from the one that was used.
bool IsOther(double rate, double used) { return std::abs(rate - used) > EndpointGuard::kChange * used; }

bool IsOther(const RoundWork::Processor& now, const RoundWork::Processor& used) {
  return IsOther(now.sum_rate, used.sum_rate) || IsOther(now.cast_rate, used.cast_rate) ||
         IsOther(now.count_rate, used.count_rate) || now.threads != used.threads;
}

}  // namespace

void EndpointGuard::OnReport(NodeId node, const PrecisionReport& report) {
  if (report.services.empty()) return;
  RoundWork::Processor& processor = processors_[node];
  processor.threads = static_cast<int>(report.threads);
  for (const PrecisionReport::Service& service : report.services) {
    if (service.bytes == 0 || service.time <= absl::ZeroDuration()) continue;
    const double rate = static_cast<double>(service.bytes) / absl::ToDoubleSeconds(service.time);
    (service.kind == ServiceKind::kSum    ? processor.sum_rate
     : service.kind == ServiceKind::kCast ? processor.cast_rate
                                          : processor.count_rate) = rate;
  }
}

std::unique_ptr<RoundForecast> EndpointGuard::Ask(const Policy& policy, const NetworkView& view,
                                                  const std::vector<double>& workers,
                                                  const std::vector<GuardedSize>& sizes) {
  const bool has_new_size =
      std::any_of(sizes.begin(), sizes.end(), [this](const GuardedSize& size) { return !asked_.contains(size); });
  const bool has_other_rate = std::any_of(processors_.begin(), processors_.end(), [this](const auto& node) {
    const auto used = used_.find(node.first);
    return used == used_.end() || IsOther(node.second, used->second);
  });
  if (policy.version == policy_ && !has_new_size && !has_other_rate) return nullptr;
  policy_ = policy.version;
  used_ = processors_;
  asked_ = {sizes.begin(), sizes.end()};
  std::vector<RoundWork::Processor> processors;
  for (size_t i = 0; i < view.nodes().size(); ++i) {
    const auto known = processors_.find(view.nodes()[i].id);
    processors.push_back(known == processors_.end() ? RoundWork::Processor() : known->second);
    processors.back().workers = workers[i];
  }
  return std::make_unique<RoundForecast>(policy, view, rules_, std::move(processors), sizes);
}

void EndpointGuard::Take(const RoundForecast& done) {
  predictions_ = done.predictions();
  allowed_.clear();
  for (const auto& [size, prediction] : predictions_) {
    if (prediction.is_shorter()) allowed_.insert(size);
  }
}

}  // namespace banyan
