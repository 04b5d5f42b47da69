#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/units.h"
#include "tools/reports/gnuplot_run.h"
#include "tools/reports/plan_reports.h"
#include "topology/evaluation/plan_rate.h"
#include "topology/fit/price_fit.h"

namespace banyan {
namespace {

constexpr double kSecondsPerDay = 24 * 60 * 60;
constexpr size_t kShownLinks = 8;

double Seconds(const FrontierPoint& point) { return absl::ToDoubleSeconds(point.round_time); }

std::vector<double> PricesByLink(const Policy& policy, const NetworkView& view) {
  std::vector<double> prices = LinkLoads(policy, view);
  for (size_t i = 0; i < prices.size(); ++i) prices[i] *= view.links()[i].price_per_gb;
  return prices;
}

// The links that cost most, and their parts of the price.
std::string DearestLinks(const PlanPrice& price, const NetworkView& view) {
  std::vector<size_t> order(price.by_link.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&price](size_t a, size_t b) { return price.by_link[a] > price.by_link[b]; });
  std::string text;
  for (size_t i = 0; i < std::min(kShownLinks, order.size()); ++i) {
    const double part = price.by_link[order[i]] / price.per_gb;
    if (!(part > 0)) break;
    const NetworkLink& link = view.links()[order[i]];
    absl::StrAppendFormat(&text, "%s%s > %s %.0f %%", i == 0 ? "  most of it    " : ", ", view.NameOf(link.from),
                          view.NameOf(link.to), 100 * part);
  }
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::optional<PlanPrice> PriceOfPlan(const Policy& policy, const NetworkView& view,
                                     const std::vector<PlannedTensor>& tensors, int64_t rounds) {
  const bool has_price = std::any_of(view.links().begin(), view.links().end(),
                                     [](const NetworkLink& link) { return link.price_per_gb > 0; });
  if (!has_price) return std::nullopt;
  PlanPrice price{.per_gb = PricePerGb(policy, view), .a_round = std::nullopt, .rounds = rounds, .by_link = {}};
  if (!tensors.empty()) price.a_round = RoundPrice(policy, view, tensors);
  const bool has_detours =
      std::any_of(policy.auxiliary.begin(), policy.auxiliary.end(), [](const Route& path) { return path.share > 0; });
  if (!has_detours) price.by_link = PricesByLink(policy, view);
  return price;
}

std::string PriceText(const PlanPrice& price, const NetworkView& view) {
  std::string text = absl::StrFormat("price           %.6g for 10^9 bytes of the model", price.per_gb);
  if (price.a_round.has_value()) absl::StrAppendFormat(&text, ", %.6g a round", *price.a_round);
  if (price.a_round.has_value() && price.rounds > 0) {
    absl::StrAppendFormat(&text, ", %.6g for %d rounds", *price.a_round * static_cast<double>(price.rounds),
                          price.rounds);
  }
  return absl::StrCat(text, "\n", DearestLinks(price, view));
}

void WritePrice(const PlanPrice& price, JsonWriter& json) {
  json.Name("price_per_gb").Number(price.per_gb);
  if (!price.a_round.has_value()) return;
  json.Name("round_price").Number(*price.a_round);
  if (price.rounds > 0) json.Name("training_price").Number(*price.a_round * static_cast<double>(price.rounds));
}

std::string FrontierText(const std::vector<FrontierPoint>& points, int64_t rounds) {
  std::string text = "price a round  seconds a round   Mbit/s";
  if (rounds > 0) absl::StrAppend(&text, "  price of all rounds    days");
  absl::StrAppend(&text, "\n");
  for (const FrontierPoint& point : points) {
    absl::StrAppendFormat(&text, "%13.6g  %15.4g  %7.1f", point.price, Seconds(point),
                          point.rate_bps / kBitsPerMegabit);
    if (rounds > 0) {
      const auto count = static_cast<double>(rounds);
      absl::StrAppendFormat(&text, "  %19.6g  %6.4g", count * point.price, count * Seconds(point) / kSecondsPerDay);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string FrontierJson(const std::vector<FrontierPoint>& points, int64_t rounds) {
  JsonWriter json;
  json.BeginArray();
  for (const FrontierPoint& point : points) {
    json.BeginObject().Name("round_price").Number(point.price).Name("round_seconds").Number(Seconds(point));
    json.Name("rate_mbps").Number(point.rate_bps / kBitsPerMegabit);
    if (rounds > 0) {
      const auto count = static_cast<double>(rounds);
      json.Name("training_price").Number(count * point.price);
      json.Name("training_seconds").Number(count * Seconds(point));
    }
    json.EndObject();
  }
  json.EndArray();
  return json.text() + "\n";
}

std::string FrontierGnuplot(const std::vector<FrontierPoint>& points, const std::string& svg_path) {
  std::string text = absl::StrCat("set terminal svg size 800,480\nset output ", GnuplotQuoted(svg_path),
                                  "\nset xlabel 'price of a round'\nset ylabel 'seconds of a round'\n",
                                  "set yrange [0:*]\nset key off\n$data << END\n");
  for (const FrontierPoint& point : points) absl::StrAppendFormat(&text, "%.9g %.9g\n", point.price, Seconds(point));
  return text + "END\nplot $data with linespoints pointtype 7\n";
}

}  // namespace banyan
