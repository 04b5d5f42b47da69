// etcd over its JSON gateway (version 3.4 or later): the members of one cluster, asked in turn until one answers.
// Thread-compatible.
#ifndef BANYAN_RUNTIME_ETCD_ETCD_CLIENT_H_
#define BANYAN_RUNTIME_ETCD_ETCD_CLIENT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/etcd/etcd_api.h"

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

// Posts JSON to web servers and takes their answers, over connections that stay open. Thread-compatible.
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

// As whom a scheduler uses etcd.
struct EtcdAccess {
  std::string user;  // empty: nobody
  // Returns the user's password, whenever it is needed.
  std::function<absl::StatusOr<std::string>()> password = nullptr;
  HttpTls tls = {};
};

class EtcdClient : public EtcdApi {
 public:
  // `endpoints`: http://host:port or https://host:port, at least one. A member that has not answered in `timeout` is
  // given up and the next one is asked.
  EtcdClient(std::vector<std::string> endpoints, absl::Duration timeout, EtcdAccess access = {});

  absl::StatusOr<etcd::RangeResponse> Read(const etcd::RangeRequest& request) override;
  absl::StatusOr<etcd::TxnResponse> Commit(const etcd::TxnRequest& request) override;
  absl::StatusOr<etcd::LeaseGrantResponse> Grant(const etcd::LeaseGrantRequest& request) override;
  absl::StatusOr<etcd::LeaseKeepAliveResponse> KeepAlive(const etcd::LeaseKeepAliveRequest& request) override;
  absl::StatusOr<etcd::LeaseRevokeResponse> Revoke(const etcd::LeaseRevokeRequest& request) override;

 private:
  template <typename Response>
  absl::StatusOr<Response> Call(absl::string_view path, const google::protobuf::Message& request);
  // Asks the members in turn, first the one that answered last.
  absl::Status CallAny(absl::string_view path, const std::string& json, google::protobuf::Message& response);

  absl::Status CallOne(const std::string& endpoint, absl::string_view path, const std::string& json,
                       google::protobuf::Message& response);
  // Gets a token for the user.
  absl::Status Authenticate(const std::string& endpoint);

  const std::vector<std::string> endpoints_;
  const absl::Duration timeout_;
  const EtcdAccess access_;
  HttpClient http_;
  std::string token_;     // of the user; empty: to be got
  size_t answering_ = 0;  // the member that answered last
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_ETCD_ETCD_CLIENT_H_
