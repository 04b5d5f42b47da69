// Posts JSON to web servers and takes their answers, over connections that stay open. Thread-compatible.
#ifndef BANYAN_RUNTIME_ETCD_HTTP_CLIENT_H_
#define BANYAN_RUNTIME_ETCD_HTTP_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace banyan {

struct HttpAnswer {
  long code = 0;  // 200 and so on
  std::string body;
};

// Files in PEM for https; empty: none, and the system's authorities.
struct HttpTls {
  std::string certificate;  // of this client
  std::string key;          // secret, of the certificate
  std::string authorities;  // whose certificates of servers are trusted
};

class HttpClient {
 public:
  // Bytes of an answer; longer ones are refused.
  static constexpr size_t kMostBytes = size_t{64} << 20;

  explicit HttpClient(const HttpTls& tls = {});
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  // Posts to `url`, http or https, with `authorization` as that header if it is not empty. Certificates of servers are
  // checked. Environment variables about proxies count for nothing. UNAVAILABLE says why no answer came in `timeout`.
  absl::StatusOr<HttpAnswer> Post(const std::string& url, const std::string& json, absl::Duration timeout,
                                  const std::string& authorization = {});

 private:
  class Handle;
  const std::unique_ptr<Handle> handle_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_ETCD_HTTP_CLIENT_H_
