#include "proto/precision/precision_report_wire.h"

#include <algorithm>

namespace banyan {
namespace {

void WriteTraffic(const PrecisionReport::Traffic& from, wire::PrecisionReport::Traffic& to) {
  to.set_sent_bytes(from.sent_bytes);
  to.set_full_bytes(from.full_bytes);
}

PrecisionReport::Traffic ReadTraffic(const wire::PrecisionReport::Traffic& from) {
  return {from.sent_bytes(), from.full_bytes()};
}

}  // namespace

void WritePrecisionReport(const PrecisionReport& from, wire::PrecisionReport& to) {
  WriteTraffic(from.all, *to.mutable_all());
  WriteTraffic(from.low_bit, *to.mutable_low_bit());
  for (const PrecisionReport::Service& service : from.services) {
    wire::PrecisionReport::Service& written = *to.add_services();
    written.set_kind(static_cast<uint32_t>(service.kind));
    written.set_bytes(service.bytes);
    written.set_time_ns(absl::ToInt64Nanoseconds(service.time));
  }
  to.set_threads(from.threads);
}

PrecisionReport ReadPrecisionReport(const wire::PrecisionReport& from, FieldReader fields) {
  PrecisionReport report{ReadTraffic(from.all()), ReadTraffic(from.low_bit()), {}, 1};
  const int services = fields.Count("services", from.services_size(), 0, PrecisionReport::kMostServices);
  for (int i = 0; i < services; ++i) {
    const wire::PrecisionReport::Service& service = from.services(i);
    FieldReader row = fields.Within("services", i);
    const auto kind = row.Between("kind", service.kind(), 0u, static_cast<uint32_t>(kLastServiceKind));
    report.services.push_back({static_cast<ServiceKind>(kind), service.bytes(),
                               row.Duration("time_ns", service.time_ns(), absl::ZeroDuration())});
  }
  report.threads = std::max(1u, fields.Between("threads", from.threads(), 0u, PrecisionReport::kMostThreads));
  return report;
}

}  // namespace banyan
