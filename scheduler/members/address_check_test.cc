#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/members/job_members.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class AddressCheckTest : public testing::Test {
 protected:
  AddressCheckTest() { mesh_.overlay.nodes[1].address = "tcp://10.9.0.2:7701"; }

  std::string FaultOf(const std::string& address, const std::string& host) {
    Join join = MeshJoin(2);
    join.address = address;
    return AddressFault(join, host, mesh_.members.table(), mesh_.overlay);
  }

  MeshJob mesh_{2};
};

TEST_F(AddressCheckTest, ALoopbackAddressIsNoneForOthers) {
  for (const char* address :
       {"tcp://127.0.0.1:40001", "tcp://127.0.1.1:7701", "tcp://localhost:7701", "tcp://[::1]:1"}) {
    EXPECT_THAT(FaultOf(address, "10.9.0.2"),
                AllOf(HasSubstr("n2"), HasSubstr(address), HasSubstr("joins from 10.9.0.2"),
                      HasSubstr("--listen tcp://10.9.0.2:7701"), HasSubstr("--advertise")));
  }
}

TEST_F(AddressCheckTest, ALoopbackAddressIsRightOnOneMachine) {
  EXPECT_EQ(FaultOf("tcp://127.0.0.1:40001", "127.0.0.1"), "");
  EXPECT_EQ(FaultOf("tcp://127.0.0.1:40001", "::1"), "");
  EXPECT_EQ(FaultOf("tcp://127.0.0.1:40001", ""), "");
  mesh_.overlay.nodes[1].address = "tcp://127.0.0.1:7702";
  EXPECT_EQ(FaultOf("tcp://127.0.0.1:40001", "10.9.0.2"), "");
}

TEST_F(AddressCheckTest, OtherAddressesAreTheNodesOwnAffair) {
  EXPECT_EQ(FaultOf("tcp://203.0.113.7:7701", "10.9.0.2"), "");
  EXPECT_EQ(FaultOf("tcp://hostb:7701", "10.9.0.2"), "");
}

TEST_F(AddressCheckTest, AnAddressOfNoMachineIsNone) {
  EXPECT_THAT(FaultOf("tcp://0.0.0.0:7701", "10.9.0.2"), HasSubstr("no process can connect to 0.0.0.0"));
  EXPECT_THAT(FaultOf("tcp://[::]:7701", "10.9.0.2"), HasSubstr("--advertise"));
}

TEST_F(AddressCheckTest, TheSchedulersAddressIsNoNodes) {
  mesh_.overlay.scheduler.addresses = {"tcp://10.9.0.9:7700"};
  EXPECT_THAT(FaultOf("tcp://10.9.0.9:7700", "10.9.0.9"),
              AllOf(HasSubstr("which is the scheduler's"), HasSubstr("--listen")));
}

TEST_F(AddressCheckTest, TwoNodesHaveTwoAddresses) {
  mesh_.members.Join(MeshConnection(1), MeshJoin(1));
  const std::string taken = mesh_.members.table().Find(NodeId(1)).address;
  EXPECT_THAT(FaultOf(taken, "10.9.0.2"), AllOf(HasSubstr(taken), HasSubstr("so does n1")));
  // Whoever is gone holds no address.
  mesh_.members.Leave(NodeId(1), /*is_asked_for=*/true);
  EXPECT_EQ(FaultOf(taken, "10.9.0.2"), "");
}

}  // namespace
}  // namespace banyan
