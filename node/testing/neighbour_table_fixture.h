// The NeighbourTable of node 1, whose links have one connection each, driven by hand. A test fixture.
#ifndef BANYAN_NODE_TESTING_NEIGHBOUR_TABLE_FIXTURE_H_
#define BANYAN_NODE_TESTING_NEIGHBOUR_TABLE_FIXTURE_H_

#include <cstdint>
#include <vector>

#include "node/peers/neighbour_table.h"
#include "node/testing/step_fixture.h"

namespace banyan {

class NeighbourTableFixture : public StepFixture {
 protected:
  // The ids of the connections to the first two neighbours.
  static constexpr ConnectionId kFirstControl = kFirstPeerConnection;
  static constexpr ConnectionId kFirstData = ConnectionId(kFirstPeerConnection.value() + 1);
  static constexpr ConnectionId kSecondControl = ConnectionId(kFirstPeerConnection.value() + 2);
  static constexpr ConnectionId kSecondData = ConnectionId(kFirstPeerConnection.value() + 3);

  void Add(uint32_t node, PolicyVersion policy = PolicyVersion(1)) {
    StepContext step = Now();
    table_.Add(step, SliceOf(node), policy, {.size_bytes = 10000}, {});
  }
  // Adds neighbours 2 and 3, all connections up.
  void AddNeighbours() {
    Add(2);
    Add(3);
    for (ConnectionId connection : {kFirstControl, kFirstData, kSecondControl, kSecondData}) {
      StepContext step = Now();
      table_.OnConnectionUp(step, connection);
    }
  }
  Neighbour* Down(ConnectionId connection) {
    StepContext step = Now();
    return table_.OnConnectionDown(step, connection);
  }
  Neighbour& At(uint32_t node) { return table_.At(NodeId(node)); }

  JobConfig config_ = [] {
    JobConfig config;
    config.connections_per_link = 1;
    return config;
  }();
  NeighbourTable table_{{"job", Term(1), NodeId(1), Incarnation(1)},
                        config_,
                        {.unknown_bytes = 3000, .waiting_control = 3, .inbound_connections = 2}};
};

}  // namespace banyan

#endif  // BANYAN_NODE_TESTING_NEIGHBOUR_TABLE_FIXTURE_H_
