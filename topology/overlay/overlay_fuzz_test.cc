// Mutated overlays: whatever the text, the parser answers and neither crashes nor hangs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/random.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

constexpr int kTexts = 5000;
constexpr char kSeed[] = R"(job: fashion-mnist
scheduler: {addresses: [tcp://10.0.0.1:7700], etcd: [http://h:1], http: 0.0.0.0:7780}
nodes:
  - {name: n1, address: tcp://10.0.1.1:7701, workers: 2, up_mbps: 500}
  - {name: n2, address: tcp://10.0.2.1:7701}
  - name: n3
links:
  - {between: [n1, n2], mbps: &rate [38, 54], delay_ms: 15, loss_percent: 0.02}
  - {between: [n2, n3], mbps: *rate}
topology: {planner: fapt, roots: all, update_seconds: 5, update_rate: 0}
aggregation: {op: mean}
compression:
  least_elements: 100
  rules:
    - {keys: "*.weight", codec: topk, controller: netsense, bandwidth_rounds: 4, selection: sampled}
    - {keys: "*", codec: int8, error_feedback: true}
membership: {start_with: all, heartbeat_seconds: 1, lost_after_seconds: 5}
)";

const std::vector<std::string>& Fragments() {
  static const auto* const fragments = new std::vector<std::string>{"---",       "...",
                                                                    "&a",        "*a",
                                                                    "*rate",     "[",
                                                                    "]",         "{",
                                                                    "}",         ": ",
                                                                    ", ",        "- ",
                                                                    "\n",        "\n  ",
                                                                    "|",         ">",
                                                                    "!!str",     "%YAML 1.2\n",
                                                                    "? ",        "'",
                                                                    "\"",        "#",
                                                                    ".inf",      "-.nan",
                                                                    "1e999",     "-1",
                                                                    "\t",        "~",
                                                                    "<<: *rate", "\xef\xbb\xbf",
                                                                    "\xff\xfe",  std::string(1, '\0'),
                                                                    "\\x",       "\xc3",
                                                                    "n1",        "nodes",
                                                                    "[[[[[[[[",  "{{{{{{{{",
                                                                    "@",         "`"};
  return *fragments;
}

std::string Mutated(Random& random) {
  std::string text = kSeed;
  const int64_t edits = random.Between(1, 6);
  for (int64_t i = 0; i < edits; ++i) {
    const size_t at = random.Below(text.size() + 1);
    const size_t length = std::min<size_t>(random.Below(20), text.size() - at);
    switch (random.Below(5)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, Fragments()[random.Below(Fragments().size())]);
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random.Below(256));
        break;
      case 3:
        text.insert(random.Below(text.size() + 1), text.substr(at, length));
        break;
      default:
        if (at > 0) text.resize(at);
    }
  }
  return text;
}

TEST(OverlayFuzzTest, MutatedTextsAreParsedOrRefused) {
  Random random(20261);
  int parsed = 0;
  for (int i = 0; i < kTexts; ++i) {
    const std::string text = Mutated(random);
    const absl::StatusOr<OverlayConfig> overlay = ParseOverlay(text, "o.yaml");
    if (!overlay.ok()) {
      EXPECT_EQ(overlay.status().message().substr(0, 7), "o.yaml:") << overlay.status();
      continue;
    }
    ++parsed;
    EXPECT_GE(MakeNetworkView(*overlay).nodes().size(), 2u);
  }
  EXPECT_GT(parsed, 0);
  EXPECT_LT(parsed, kTexts);
}

TEST(OverlayFuzzTest, RandomBytesAreRefused) {
  Random random(7);
  for (int i = 0; i < kTexts; ++i) {
    std::string text(random.Below(200), '\0');
    for (char& c : text) c = static_cast<char>(random.Below(256));
    EXPECT_FALSE(ParseOverlay(text, "o.yaml").ok());
  }
}

}  // namespace
}  // namespace banyan
