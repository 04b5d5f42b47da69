#include "runtime/metrics/metrics_page.h"

#include <microhttpd.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"

namespace banyan {
namespace {

// So much can silent clients hold, and for so long.
constexpr unsigned kMostConnections = 16;
constexpr unsigned kTimeoutSeconds = 5;
// What a client may send, which is no more than a request's headers.
constexpr size_t kConnectionMemoryBytes = 16 << 10;
constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

prometheus::MetricFamily Convert(MetricFamily from) {
  const bool is_counter = from.kind == MetricFamily::Kind::kCounter;
  prometheus::MetricFamily family;
  family.name = std::move(from.name);
  family.help = std::move(from.help);
  family.type = is_counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  for (MetricFamily::Sample& sample : from.samples) {
    prometheus::ClientMetric metric;
    for (auto& [name, value] : sample.labels) metric.label.push_back({std::move(name), std::move(value)});
    metric.counter.value = sample.value;
    metric.gauge.value = sample.value;
    family.metric.push_back(std::move(metric));
  }
  return family;
}

MHD_Result Answer(MHD_Connection* connection, unsigned code, const char* content_type, absl::string_view body) {
  MHD_Response* response =
      MHD_create_response_from_buffer(body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  const auto release = absl::MakeCleanup([response] { MHD_destroy_response(response); });
  if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type) == MHD_NO) return MHD_NO;
  return MHD_queue_response(connection, code, response);
}

MHD_Result Handle(void* page, MHD_Connection* connection, const char* url, const char* method, const char*, const char*,
                  size_t* upload_size_bytes, void**) {
  const absl::string_view asked = method;
  if (asked != MHD_HTTP_METHOD_GET && asked != MHD_HTTP_METHOD_HEAD) {
    *upload_size_bytes = 0;
    return Answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", "expected GET or HEAD\n");
  }
  // For probes, which else knock at ports where a protocol is spoken.
  if (absl::string_view(url) == "/healthz") return Answer(connection, MHD_HTTP_OK, "text/plain", "ok\n");
  if (absl::string_view(url) != "/metrics") {
    return Answer(connection, MHD_HTTP_NOT_FOUND, "text/plain", "the metrics are at /metrics, probes ask /healthz\n");
  }
  return Answer(connection, MHD_HTTP_OK, kContentType, static_cast<const MetricsPage*>(page)->Render());
}

void IgnoreLog(void*, const char*, va_list) {}

MHD_Daemon* StartServer(const addrinfo& at, MetricsPage* page) {
  // Without ITC the end of a page whose connections are all taken would wait for their timeout.
  const unsigned flags =
      MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC | (at.ai_family == AF_INET6 ? MHD_USE_IPv6 : MHD_NO_FLAG);
  return MHD_start_daemon(flags, 0, nullptr, nullptr, &Handle, page, MHD_OPTION_EXTERNAL_LOGGER, &IgnoreLog, nullptr,
                          MHD_OPTION_SOCK_ADDR, at.ai_addr, MHD_OPTION_CONNECTION_LIMIT, kMostConnections,
                          MHD_OPTION_CONNECTION_TIMEOUT, kTimeoutSeconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                          kConnectionMemoryBytes, MHD_OPTION_END);
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsPage>> MetricsPage::Serve(const std::string& address, Collect collect) {
  const size_t colon = address.rfind(':');
  std::unique_ptr<MetricsPage> page(new MetricsPage(std::move(collect)));
  const absl::Status status = page->Start(address.substr(0, colon), address.substr(colon + 1));
  if (status.ok()) return page;
  return absl::UnavailableError(
      absl::StrCat("expected to serve metrics at ", address,
                   ", could not: is the port free, and the host an address of this machine? (", status.message(), ")"));
}

absl::Status MetricsPage::Start(const std::string& host, const std::string& port) {
  const bool everywhere = host == "*";
  const std::string name = host.front() == '[' ? host.substr(1, host.size() - 2) : host;
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_family = everywhere ? AF_INET : AF_UNSPEC;
  addrinfo* addresses = nullptr;
  const int error = getaddrinfo(everywhere ? nullptr : name.c_str(), port.c_str(), &hints, &addresses);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  const auto release = absl::MakeCleanup([addresses] { freeaddrinfo(addresses); });
  errno = 0;
  server_ = StartServer(*addresses, this);
  if (server_ == nullptr) return absl::UnavailableError(strerror(errno));
  const MHD_DaemonInfo* bound = MHD_get_daemon_info(server_, MHD_DAEMON_INFO_BIND_PORT);
  url_ = absl::StrCat("http://", host, ":", bound->port, "/metrics");
  return absl::OkStatus();
}

std::string MetricsPage::Render() const {
  std::vector<prometheus::MetricFamily> families;
  for (MetricFamily& family : collect_()) {
    // One without samples would only be a headline.
    if (!family.samples.empty()) families.push_back(Convert(std::move(family)));
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

MetricsPage::~MetricsPage() {
  if (server_ != nullptr) MHD_stop_daemon(server_);
}

}  // namespace banyan
