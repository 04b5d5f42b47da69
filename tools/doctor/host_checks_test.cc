#include "tools/doctor/host_checks.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

HostFacts Usual() {
  HostFacts facts;
  facts.congestion_control = "cubic";
  facts.congestion_controls = {"cubic", "reno"};
  facts.most_send_buffer_bytes = 4'000'000;
  facts.most_receive_buffer_bytes = 6'000'000;
  facts.mtu_probing = 0;
  facts.descriptors = 1024;
  facts.mappings = 65530;
  facts.available_memory_bytes = 1'000'000'000;
  facts.has_ipv6 = true;
  return facts;
}

HostNeeds Usually() {
  return {.product_bytes = 4'000'000,
          .connections = 5,
          .needs_ipv6 = true,
          .descriptors = 100,
          .tensors = 100,
          .memory_bytes = 900'000'000};
}

std::vector<std::string> Faults(const HostFacts& facts, const HostNeeds& needs, std::string* text = nullptr) {
  std::vector<std::string> names;
  for (const CheckResult& result : CheckHost(facts, needs)) {
    if (result.ok) continue;
    names.push_back(result.name);
    if (text != nullptr) *text = result.text;
  }
  return names;
}

TEST(HostChecksTest, AUsualMachineWillDo) {
  EXPECT_THAT(Faults(Usual(), Usually()), IsEmpty());
  EXPECT_THAT(Faults(HostFacts(), HostNeeds()), IsEmpty()) << "nothing is known, nothing is needed";
}

TEST(HostChecksTest, LongLossyPathsNeedBbr) {
  HostNeeds needs = Usually();
  needs.has_lossy_path = true;
  HostFacts facts = Usual();
  std::string text;
  EXPECT_THAT(Faults(facts, needs, &text), ElementsAre("congestion"));
  EXPECT_THAT(text, HasSubstr("modprobe tcp_bbr"));
  facts.congestion_control = "bbr";
  EXPECT_THAT(Faults(facts, needs), IsEmpty());
}

TEST(HostChecksTest, BuffersHoldTheConnectionsPartOfTheLongestLink) {
  HostNeeds needs = Usually();
  needs.product_bytes = 5 * 4'000'000 + 5;
  std::string text;
  EXPECT_THAT(Faults(Usual(), needs, &text), ElementsAre("buffers"));
  EXPECT_THAT(text, HasSubstr("tcp_wmem='4096 65536 8000002'"));
}

TEST(HostChecksTest, LimitsThatBindAreNamed) {
  HostNeeds needs = Usually();
  needs.descriptors = 1025;
  EXPECT_THAT(Faults(Usual(), needs), ElementsAre("descriptors"));
  needs = Usually();
  needs.tensors = 70'000;
  std::string text;
  EXPECT_THAT(Faults(Usual(), needs, &text), ElementsAre("mappings"));
  EXPECT_THAT(text, HasSubstr("vm.max_map_count=140000"));
}

TEST(HostChecksTest, MemoryIsThatOfTheControlGroupToo) {
  HostFacts facts = Usual();
  facts.memory_limit_bytes = 300'000'000;
  std::string text;
  EXPECT_THAT(Faults(facts, Usually(), &text), ElementsAre("memory"));
  EXPECT_THAT(text, HasSubstr("300.0 MB by the limit of this control group, and the model needs 900.0 MB"));
  facts.memory_limit_bytes = 2'000'000'000;
  EXPECT_THAT(Faults(facts, Usually()), IsEmpty());
}

TEST(HostChecksTest, Ipv6IsNeededWhereAddressesAreOfIt) {
  HostFacts facts = Usual();
  facts.has_ipv6 = false;
  EXPECT_THAT(Faults(facts, Usually()), ElementsAre("ipv6"));
  HostNeeds needs = Usually();
  needs.needs_ipv6 = false;
  EXPECT_THAT(Faults(facts, needs), IsEmpty());
}

}  // namespace
}  // namespace banyan
