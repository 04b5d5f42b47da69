#include "topology/packing/arborescence.h"

#include <algorithm>

#include "core/check.h"

namespace banyan {

ArborescenceFinder::ArborescenceFinder(size_t nodes, absl::Span<const Arc> links, Half half)
    : nodes_(nodes), first_incoming_(nodes + 1, 0), entries_(links.size()), costs_(nodes, 0) {
  BANYAN_CHECK(nodes > 0);
  for (const Arc& link : links) {
    tails_.push_back(static_cast<int32_t>(half == Half::kReduce ? link.to : link.from));
    heads_.push_back(static_cast<int32_t>(half == Half::kReduce ? link.from : link.to));
    ++first_incoming_[heads_.back() + 1];
  }
  for (size_t i = 0; i < nodes; ++i) first_incoming_[i + 1] += first_incoming_[i];
  std::vector<size_t> next = first_incoming_;
  incoming_.resize(links.size());
  for (size_t i = 0; i < links.size(); ++i) incoming_[next[heads_[i]]++] = static_cast<int32_t>(i);
}

void ArborescenceFinder::Change(int32_t heap, double by) {
  if (heap == kNone) return;
  entries_[heap].cost += by;
  entries_[heap].change += by;
}

void ArborescenceFinder::PushDown(Entry& entry) {
  if (entry.change == 0) return;
  Change(entry.left, entry.change);
  Change(entry.right, entry.change);
  entry.change = 0;
}

// Follows right children only, of which there are at most log2(links).
int32_t ArborescenceFinder::Merge(int32_t a, int32_t b) {
  if (a == kNone) return b;
  if (b == kNone) return a;
  if (entries_[b].cost < entries_[a].cost || (entries_[b].cost == entries_[a].cost && b < a)) std::swap(a, b);
  Entry& top = entries_[a];
  PushDown(top);
  top.right = Merge(top.right, b);
  const auto rank = [this](int32_t heap) { return heap == kNone ? 0 : entries_[heap].rank; };
  if (rank(top.left) < rank(top.right)) std::swap(top.left, top.right);
  top.rank = rank(top.right) + 1;
  return a;
}

int32_t ArborescenceFinder::HeapOf(absl::Span<const int32_t> links) {
  queue_.assign(links.begin(), links.end());
  // Merging pairs of heaps in turn costs as much as there are links.
  for (size_t i = 0; i + 1 < queue_.size(); i += 2) queue_.push_back(Merge(queue_[i], queue_[i + 1]));
  return queue_.empty() ? kNone : queue_.back();
}

int32_t ArborescenceFinder::Outermost(int32_t set) {
  while (outer_[set] != set) set = outer_[set] = outer_[outer_[set]];
  return set;
}

bool ArborescenceFinder::ChooseEntering(int32_t set) {
  int32_t& heap = sets_[set].heap;
  while (heap != kNone) {
    const int32_t link = heap;
    PushDown(entries_[link]);
    heap = Merge(entries_[link].left, entries_[link].right);
    if (Outermost(tails_[link]) == set) continue;
    sets_[set].entering = link;
    sets_[set].cost = entries_[link].cost;
    return true;
  }
  return false;
}

int32_t ArborescenceFinder::Contract(int32_t last) {
  const int32_t whole = static_cast<int32_t>(sets_.size());
  sets_.emplace_back();
  int32_t at = last;
  do {
    const int32_t next = Outermost(tails_[sets_[at].entering]);
    Set& part = sets_[at];
    part.parent = whole;
    part.next_sibling = sets_[whole].first_child;
    sets_[whole].first_child = at;
    Change(part.heap, -part.cost);
    sets_[whole].heap = Merge(sets_[whole].heap, part.heap);
    at = next;
  } while (at != last);
  outer_.push_back(whole);
  for (at = sets_[whole].first_child; at != kNone; at = sets_[at].next_sibling) outer_[at] = whole;
  return whole;
}

// A root spares the cost of entering each set that holds it.
void ArborescenceFinder::SumCosts(int32_t whole) {
  double all = 0;
  std::vector<double> spared(sets_.size(), 0);
  for (int32_t set = whole; set-- > 0;) {
    all += sets_[set].cost;
    spared[set] = spared[sets_[set].parent] + sets_[set].cost;
  }
  for (size_t root = 0; root < nodes_; ++root) costs_[root] = all - spared[root];
}

void ArborescenceFinder::Search(absl::Span<const double> costs) {
  BANYAN_CHECK(costs.size() == entries_.size());
  for (size_t i = 0; i < costs.size(); ++i) entries_[i] = {.cost = costs[i]};
  sets_.assign(nodes_, Set());
  sets_.reserve(2 * nodes_);
  outer_.resize(nodes_);
  for (size_t i = 0; i < nodes_; ++i) {
    outer_[i] = static_cast<int32_t>(i);
    sets_[i].heap =
        HeapOf(absl::MakeConstSpan(incoming_).subspan(first_incoming_[i], first_incoming_[i + 1] - first_incoming_[i]));
  }
  int32_t at = 0;
  while (ChooseEntering(at)) {
    const int32_t from = Outermost(tails_[sets_[at].entering]);
    at = sets_[from].entering == kNone ? from : Contract(at);
  }
  // Everything is in one set now, the last that came to be.
  BANYAN_CHECK(at + 1 == static_cast<int32_t>(sets_.size()));
  whole_ = at;
  SumCosts(whole_);
}

std::vector<size_t> ArborescenceFinder::Links(size_t root) const {
  std::vector<size_t> links;
  // Sets to open, and the node at which a path from the root enters them.
  std::vector<std::pair<int32_t, int32_t>> open = {{whole_, static_cast<int32_t>(root)}};
  while (!open.empty()) {
    const auto [set, entrance] = open.back();
    open.pop_back();
    for (int32_t at = entrance; at != set; at = sets_[at].parent) {
      for (int32_t part = sets_[sets_[at].parent].first_child; part != kNone; part = sets_[part].next_sibling) {
        if (part == at) continue;
        links.push_back(static_cast<size_t>(sets_[part].entering));
        open.emplace_back(part, heads_[sets_[part].entering]);
      }
    }
  }
  std::sort(links.begin(), links.end());
  return links;
}

}  // namespace banyan
