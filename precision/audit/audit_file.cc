#include "precision/audit/audit_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "core/json_writer.h"
#include "proto/field_json.h"

namespace banyan {
namespace {

constexpr int kAuditSchema = 1;

void WriteControls(const PrecisionController& controller, JsonWriter& json) {
  const Supervisor& supervisor = controller.supervisor();
  const Supervisor::Record& record = supervisor.record();
  json.BeginObject();
  json.Name("settings").String(controller.profile().controls.name);
  json.Name("triggers").Integer(static_cast<uint64_t>(record.triggers));
  json.Name("noise_recoveries").Integer(static_cast<uint64_t>(record.noise_recoveries));
  json.Name("readmissions").Integer(static_cast<uint64_t>(record.readmissions));
  json.Name("slack").Number(record.detector.slack);
  json.Name("threshold").Number(record.detector.threshold);
  json.Name("confidence").Number(record.detector.confidence);
  json.Name("is_projected").Boolean(record.detector.is_projected);
  json.Name("target_share").Number(supervisor.budget().target());
  json.Name("budget_guard_events").Integer(static_cast<uint64_t>(supervisor.budget().guard_events()));
  json.Name("budget_updates").Integer(static_cast<uint64_t>(supervisor.windows().updates()));
  json.Name("late_guard_events").Integer(static_cast<uint64_t>(supervisor.windows().late_guard_events()));
  json.Name("healthy_reference").Number(supervisor.windows().reference());
  json.Name("trigger_density").Number(record.trigger_density);
  json.Name("cooldown_steps").Integer(static_cast<uint64_t>(record.cooldown_steps));
  json.EndObject();
}

void WriteAdmissions(const PrecisionController& controller, JsonWriter& json) {
  json.BeginArray();
  for (const auto& [scope, admission] : controller.admissions()) {
    json.BeginObject();
    json.Name("scope").String(scope);
    json.Name("is_admitted").Boolean(admission.is_admitted);
    json.Name("reason").String(admission.reason);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string AuditJson(const RouteAudit& audit, const PrecisionController& controller) {
  JsonWriter json;
  json.BeginObject();
  json.Name("schema").Integer(kAuditSchema);
  json.Name("profile").String(controller.profile().name);
  json.Name("controls");
  WriteControls(controller, json);
  json.Name("admissions");
  WriteAdmissions(controller, json);
  AuditStatus status = audit.Status();
  JsonFieldWriter fields(json);
  Fields(fields, status);
  json.EndObject();
  return absl::StrCat(json.text(), "\n");
}

absl::Status WriteRunFile(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file.good() && std::rename(beside.c_str(), path.c_str()) == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written: ", std::strerror(errno)));
}

}  // namespace banyan
