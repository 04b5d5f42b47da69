#include "absl/status/statusor.h"
#include "access/key_file.h"
#include "core/check.h"
#include "core/quantity.h"
#include "fuzz/fuzz_target.h"
#include "precision/profile/operating_profile.h"
#include "precision/profile/precision_binding.h"
#include "tools/doctor/site_report.h"
#include "tools/reports/status_text.h"
#include "topology/overlay/overlay_address.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/overlay/told_links.h"

namespace banyan {
namespace {

bool RunOverlay(absl::string_view text) { return ParseOverlay(text, "overlay.yaml").ok(); }

std::vector<std::string> OverlaySeeds() {
  return {R"(job: fashion-mnist
scheduler: {addresses: [tcp://10.0.0.1:7700], etcd: [http://h:1], http: 0.0.0.0:7780}
nodes:
  - {name: n1, address: tcp://10.0.1.1:7701, workers: 2, up_mbps: 500, place: [52.5, 13.4]}
  - {name: n2, address: tcp://10.0.2.1:7701}
  - name: n3
links:
  - {between: [n1, n2], mbps: &rate [38, 54], delay_ms: 15, loss_percent: 0.02}
  - {between: [n2, n3], mbps: *rate, price_per_gb: [0.01, 2]}
topology: {planner: fapt, roots: all, update_seconds: 5, update_rate: 0}
aggregation: {op: mean, quorum: 0.75, grace_seconds: 2}
compression:
  least_elements: 100
  rules:
    - {keys: "*.weight", codec: topk, controller: netsense, bandwidth_rounds: 4, selection: sampled}
    - {keys: "*", codec: int8, error_feedback: true}
membership: {start_with: all, heartbeat_seconds: 1, lost_after_seconds: 5}
)",
          "nodes: [{name: a}, {name: b}]\n"};
}

bool RunProfile(absl::string_view text) {
  const bool is_profile = ReadProfile(text, "p.yaml").ok();
  const absl::StatusOr<PrecisionBinding> binding = ReadBinding(text, "b.yaml");
  if (binding.ok()) BANYAN_CHECK(ReadBinding(BindingYaml(*binding), "b.yaml").ok());
  return is_profile || binding.ok();
}

std::vector<std::string> ProfileSeeds() {
  return {R"(schema: 1
profile: p
provenance: {source: s, made_by: m}
mode: ternary
format: {gate: result, result_margin: 0.5, tie: positive}
admission: {warmup_steps: 1600, least_sign_agreement: 0.6, most_near_zero: 0.4, least_cosine: 0.2, most_loss_rise: -0.1}
detector: {slack: 3.91e-3, threshold: 9.38e-2, smoothing: 0.2}
)",
          R"(schema: 1
binding: net
provenance: {source: its names, made_by: a test}
tensors:
- {name: conv.weight, elements: 100, role: backbone, route: low-bit, family: ternary, reason: a convolution}
- name: bucket
  elements: 50
  slices:
  - {first: 5, elements: 20, role: encoder, route: low-bit, reason: a matrix}
)"};
}

bool RunKeyFile(absl::string_view text) {
  const absl::StatusOr<KeyFile> file = ParseKeyFile(text, "n1.key");
  if (!file.ok()) return false;
  BANYAN_CHECK(ParseKeyFile(KeyFileText(*file, "n1"), "n1.key").ok());
  return true;
}

std::vector<std::string> KeyFileSeeds() {
  KeyFile file;
  file.keys = MakeCurveKeys();
  file.scheduler_keys = {MakeCurveKeys().public_key};
  return {KeyFileText(file, "n1")};
}

bool RunSiteReport(absl::string_view text) {
  const absl::StatusOr<CheckResults> report = DecodeReport(text);
  if (!report.ok()) return false;
  BANYAN_CHECK(DecodeReport(EncodeReport(*report)).ok());
  return true;
}

std::vector<std::string> SiteReportSeeds() {
  return {EncodeReport({{"reach:n2", true, "tcp://10.0.0.2:7701 answers", "yes"}, {"memory", false, "too little"}})};
}

bool RunStatus(absl::string_view text) {
  const absl::StatusOr<JobStatus> status = ParseStatus(text);
  if (!status.ok()) return false;
  BANYAN_CHECK(!FormatStatus(*status).empty());
  BANYAN_CHECK(ParseStatus(StatusJson(*status)).ok());
  return true;
}

std::vector<std::string> StatusSeeds() {
  return {R"({"job":"fashion","state":"running","term":1,"epoch":2,"policy":3,"rejected_messages":0,"waiting_for":[],
"nodes":[{"name":"n1","id":1,"state":"joined","address":"tcp://127.0.0.1:7701","heard_s":0.2,"workers":1,"round":12,
"step":12,"loss":0.5,"sync_seconds":0.0205,"rejected_messages":1,"memory":{"results":1000000,"queues":500000}}],
"links":[{"from":"n1","to":"n2","mbps":38,"delay_ms":15,"age_s":null,"source":"believed","bytes":15,"resent_bytes":0}],
"planner":"fapt","rate_mbps":58.8,"auxiliary_rate_mbps":66.3,"bound_mbps":110,"bound_ratio":0.6027,
"trees":[{"root":"n1","share":0.75,"reduce":{"n2":"n1"},"broadcast":{"n2":"n1"}}],"keys":[]})"};
}

// Short texts that people type.
bool RunWords(absl::string_view text) {
  const bool is_size = ParseBytes(text).ok() || ParseCount(text).ok() || ParseBitsPerSecond(text).ok();
  const bool is_time = ParseTime(text, absl::Seconds(1)).ok() || ParseTime(text, std::nullopt).ok();
  return is_size || is_time || ParseToldLinks(text).ok() || ParseConnectAddresses(text).ok();
}

std::vector<std::string> WordsSeeds() { return {"100MB", "1.5k", "20ms", "40 Gbit/s", "wrong:7", "tcp://[::1]:7700"}; }

}  // namespace

std::vector<FuzzTarget> TextTargets() {
  return {{"overlay", RunOverlay, OverlaySeeds},  {"precision", RunProfile, ProfileSeeds},
          {"key-file", RunKeyFile, KeyFileSeeds}, {"site-report", RunSiteReport, SiteReportSeeds},
          {"status", RunStatus, StatusSeeds},     {"words", RunWords, WordsSeeds}};
}

}  // namespace banyan
