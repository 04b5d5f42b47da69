#include "compression/control/budget_share.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Of the budget: what rounding may leave of it.
constexpr double kShareRounding = 1e-12;

using Path = std::vector<size_t>;  // links, from a leaf's to the root

absl::Status CheckLink(absl::Span<const BudgetedLink> links, size_t index) {
  const BudgetedLink& link = links[index];
  const auto refuse = [&](absl::string_view problem) {
    return absl::InvalidArgumentError(absl::StrCat("links[", index, "]: ", problem));
  };
  if (!(link.rate_bps > 0) || link.rate_bps == kNever) return refuse("expected a rate above 0");
  if (link.delay < absl::ZeroDuration() || link.delay == absl::InfiniteDuration()) {
    return refuse("expected a finite delay of at least 0");
  }
  if (link.load_bytes < 0) return refuse("expected a load of at least 0 bytes");
  if (link.first_bytes < 0 || link.first_bytes > link.load_bytes) {
    return refuse("expected first bytes from 0 to the load");
  }
  size_t steps = 0;
  for (std::optional<int64_t> next = link.next; next.has_value(); next = links[static_cast<size_t>(*next)].next) {
    if (*next < 0 || static_cast<size_t>(*next) >= links.size()) return refuse("its way leads to a link not given");
    if (++steps >= links.size()) return refuse("its way leads around in a circle");
  }
  return absl::OkStatus();
}

// The links' times rise together from the least until nothing may rise any more.
class Filling {
 public:
  Filling(absl::Span<const BudgetedLink> links, double budget_seconds, double least_ratio)
      : links_(links), budget_(budget_seconds) {
    for (const BudgetedLink& link : links) {
      const double full = static_cast<double>(link.load_bytes) * 8 / link.rate_bps;
      const auto load = static_cast<double>(std::max<int64_t>(1, link.load_bytes));
      columns_.push_back({full, least_ratio * full, static_cast<double>(link.first_bytes) / load});
    }
    FindPaths();
  }

  std::vector<LinkShare> Run() {
    StopAtFullPaths();
    for (double level = NextLevel(); level < kNever; level = NextLevel()) {
      RaiseTo(level);
      StopAtFullPaths();
    }
    std::vector<LinkShare> shares;
    for (const Column& column : columns_) {
      const double ratio = column.full > 0 ? std::min(1.0, column.time / column.full) : 1;
      shares.push_back({ratio, absl::Seconds(column.time), column.meets_budget});
    }
    return shares;
  }

 private:
  // Times in seconds.
  struct Column {
    double full = 0;   // uncompressed
    double time = 0;   // so far
    double first = 0;  // share of it before the next link can begin
    bool is_stopped = false;
    bool meets_budget = true;
  };

  void FindPaths() {
    std::vector<bool> is_fed(links_.size());
    for (const BudgetedLink& link : links_) {
      if (link.next.has_value()) is_fed[static_cast<size_t>(*link.next)] = true;
    }
    for (size_t leaf = 0; leaf < links_.size(); ++leaf) {
      if (is_fed[leaf]) continue;
      Path path = {leaf};
      while (links_[path.back()].next.has_value()) path.push_back(static_cast<size_t>(*links_[path.back()].next));
      paths_.push_back(path);
    }
  }

  bool IsRising(const Column& column) const {
    return !column.is_stopped && column.time <= level_ && column.time < column.full;
  }

  // Of the budget, what a path leaves when the `slowest` of its links is taken for the slowest.
  double Left(const Path& path, size_t slowest) const {
    double left = budget_ - (1 - columns_[slowest].first) * columns_[slowest].time;
    for (size_t link : path) {
      left -= absl::ToDoubleSeconds(links_[link].delay) + columns_[link].first * columns_[link].time;
    }
    return left;
  }

  // How fast that goes away while the level rises.
  double Slope(const Path& path, size_t slowest) const {
    double slope = IsRising(columns_[slowest]) ? 1 - columns_[slowest].first : 0;
    for (size_t link : path) slope += IsRising(columns_[link]) ? columns_[link].first : 0;
    return slope;
  }

  void StopAtFullPaths() {
    for (const Path& path : paths_) {
      for (size_t slowest : path) {
        const double left = Left(path, slowest);
        if (left > kShareRounding * budget_) continue;
        for (size_t link : path) {
          if (link != slowest && columns_[link].first == 0) continue;
          columns_[link].is_stopped = true;
          columns_[link].meets_budget &= left >= -kShareRounding * budget_;
        }
      }
    }
  }

  // Where the next link begins or ends to rise, or the next path is full; never when nothing rises or will.
  double NextLevel() const {
    double next = kNever;
    for (const Column& column : columns_) {
      if (column.is_stopped || column.time >= column.full) continue;
      next = std::min(next, column.time > level_ ? column.time : column.full);
    }
    for (const Path& path : paths_) {
      for (size_t slowest : path) {
        const double slope = Slope(path, slowest);
        if (slope > 0) next = std::min(next, level_ + std::max(0.0, Left(path, slowest)) / slope);
      }
    }
    return next;
  }

  void RaiseTo(double level) {
    for (Column& column : columns_) {
      if (IsRising(column)) column.time = std::min(level, column.full);
    }
    level_ = level;
  }

  absl::Span<const BudgetedLink> links_;
  double budget_;
  double level_ = 0;
  std::vector<Column> columns_;
  std::vector<Path> paths_;
};

}  // namespace

absl::StatusOr<std::vector<LinkShare>> ShareBudget(absl::Span<const BudgetedLink> links, absl::Duration budget,
                                                   double least_ratio) {
  if (budget <= absl::ZeroDuration() || budget == absl::InfiniteDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a finite budget above 0, got ", absl::FormatDuration(budget)));
  }
  if (!(least_ratio > 0 && least_ratio <= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("expected a least ratio above 0 and at most 1, got ", least_ratio));
  }
  for (size_t i = 0; i < links.size(); ++i) {
    if (absl::Status status = CheckLink(links, i); !status.ok()) return status;
  }
  return Filling(links, absl::ToDoubleSeconds(budget), least_ratio).Run();
}

}  // namespace banyan
