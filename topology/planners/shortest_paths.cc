#include "topology/planners/shortest_paths.h"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/property_map/property_map.hpp>
#include <boost/range/iterator_range.hpp>
#include <limits>
#include <utility>

namespace banyan {
namespace {

struct LinkWeight {
  double seconds_per_bit = 0;
};

using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, LinkWeight>;

// Every link as an edge, or its reverse.
Graph MakeGraph(const NetworkView& view, bool reversed) {
  std::vector<std::pair<size_t, size_t>> ends;
  std::vector<LinkWeight> weights;
  for (const NetworkLink& link : view.links()) {
    const size_t from = *view.IndexOf(link.from);
    const size_t to = *view.IndexOf(link.to);
    ends.push_back(reversed ? std::make_pair(to, from) : std::make_pair(from, to));
    weights.push_back({1 / link.throughput_bps});
  }
  return Graph(boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), weights.begin(), view.nodes().size());
}

// Among the parents that give a node its distance, takes the lowest. A parent at the very same distance (a weight too
// small for the sum) is left to Dijkstra's order. So no cycle can come of it.
void BreakTiesById(const Graph& graph, ShortestPathTree& tree) {
  std::vector<size_t> lowest(tree.parent.size(), tree.parent.size());
  for (size_t from = 0; from < tree.parent.size(); ++from) {
    for (const auto& edge : boost::make_iterator_range(boost::out_edges(from, graph))) {
      const size_t to = boost::target(edge, graph);
      const double through = tree.distance[from] + graph[edge].seconds_per_bit;
      if (tree.distance[from] < tree.distance[to] && through == tree.distance[to]) {
        lowest[to] = std::min(lowest[to], from);
      }
    }
  }
  for (size_t i = 0; i < lowest.size(); ++i) {
    if (lowest[i] < lowest.size()) tree.parent[i] = lowest[i];
  }
}

ShortestPathTree Search(const Graph& graph, size_t root) {
  ShortestPathTree tree;
  const size_t nodes = boost::num_vertices(graph);
  tree.parent.resize(nodes);
  tree.distance.resize(nodes);
  const auto index = boost::get(boost::vertex_index, graph);
  boost::dijkstra_shortest_paths(graph, root,
                                 boost::weight_map(boost::get(&LinkWeight::seconds_per_bit, graph))
                                     .predecessor_map(boost::make_iterator_property_map(tree.parent.begin(), index))
                                     .distance_map(boost::make_iterator_property_map(tree.distance.begin(), index))
                                     .distance_inf(std::numeric_limits<double>::infinity()));
  BreakTiesById(graph, tree);
  return tree;
}

}  // namespace

struct ShortestPaths::Graphs {
  Graph forward;
  Graph reversed;
};

ShortestPaths::ShortestPaths(const NetworkView& view)
    : graphs_(std::make_unique<const Graphs>(Graphs{MakeGraph(view, false), MakeGraph(view, true)})) {}

ShortestPaths::~ShortestPaths() = default;

ShortestPathTree ShortestPaths::ToRoot(size_t root) const { return Search(graphs_->reversed, root); }

ShortestPathTree ShortestPaths::FromRoot(size_t root) const { return Search(graphs_->forward, root); }

double ShortestPathTree::Depth() const { return *std::max_element(distance.begin(), distance.end()); }

}  // namespace banyan
