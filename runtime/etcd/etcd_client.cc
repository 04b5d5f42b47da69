#include "runtime/etcd/etcd_client.h"

#include <curl/curl.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {

// ---- HTTP ----

namespace {

size_t AppendBody(char* bytes, size_t size, size_t count, void* to) {
  std::string& body = static_cast<HttpAnswer*>(to)->body;
  if (body.size() + size * count > HttpClient::kMostBytes) return 0;  // ends the transfer with an error
  body.append(bytes, size * count);
  return size * count;
}

}  // namespace

class HttpClient::Handle {
 public:
  explicit Handle(const HttpTls& tls) : easy_(curl_easy_init()) {
    BANYAN_CHECK(easy_ != nullptr);
    if (!tls.certificate.empty()) Set(CURLOPT_SSLCERT, tls.certificate.c_str());
    if (!tls.key.empty()) Set(CURLOPT_SSLKEY, tls.key.c_str());
    if (!tls.authorities.empty()) Set(CURLOPT_CAINFO, tls.authorities.c_str());
    Set(CURLOPT_ERRORBUFFER, error_);
    Set(CURLOPT_WRITEFUNCTION, &AppendBody);
    Set(CURLOPT_PROTOCOLS_STR, "http,https");
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_PROXY, "");
  }
  ~Handle() {
    curl_easy_cleanup(easy_);
    curl_slist_free_all(headers_);
  }

  absl::StatusOr<HttpAnswer> Post(const std::string& url, const std::string& json, absl::Duration timeout,
                                  const std::string& authorization) {
    HttpAnswer answer;
    curl_slist_free_all(std::exchange(headers_, nullptr));
    headers_ = curl_slist_append(headers_, "Content-Type: application/json");
    headers_ = curl_slist_append(headers_, "Expect:");  // large requests are not announced first
    if (!authorization.empty()) {
      headers_ = curl_slist_append(headers_, absl::StrCat("Authorization: ", authorization).c_str());
    }
    Set(CURLOPT_HTTPHEADER, headers_);
    const long milliseconds = std::max(1L, static_cast<long>(absl::ToInt64Milliseconds(timeout)));
    error_[0] = '\0';
    Set(CURLOPT_URL, url.c_str());
    Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
    Set(CURLOPT_POSTFIELDS, json.c_str());
    Set(CURLOPT_TIMEOUT_MS, milliseconds);
    Set(CURLOPT_WRITEDATA, &answer);
    if (const CURLcode code = curl_easy_perform(easy_); code != CURLE_OK) {
      return absl::UnavailableError(absl::StrCat(url, ": ", error_[0] != '\0' ? error_ : curl_easy_strerror(code)));
    }
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &answer.code);
    return answer;
  }

 private:
  template <typename Value>
  void Set(CURLoption option, Value value) {
    BANYAN_CHECK(curl_easy_setopt(easy_, option, value) == CURLE_OK);
  }

  CURL* const easy_;
  curl_slist* headers_ = nullptr;
  char error_[CURL_ERROR_SIZE] = {};
};

HttpClient::HttpClient(const HttpTls& tls) : handle_(std::make_unique<Handle>(tls)) {}

HttpClient::~HttpClient() = default;

absl::StatusOr<HttpAnswer> HttpClient::Post(const std::string& url, const std::string& json, absl::Duration timeout,
                                            const std::string& authorization) {
  return handle_->Post(url, json, timeout, authorization);
}

// ---- etcd ----

namespace {

using google::protobuf::Message;
namespace json_util = google::protobuf::util;

constexpr long kHttpOk = 200;
constexpr size_t kShownBytes = 100;

std::string ToJson(const Message& message) {
  json_util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  BANYAN_CHECK(json_util::MessageToJsonString(message, &json, options).ok());
  return json;
}

bool FromJson(const std::string& json, Message& message) {
  json_util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  return json_util::JsonStringToMessage(json, &message, options).ok();
}

// Says that what has answered is no etcd, as far as one can see.
absl::Status Strange(const std::string& url, const HttpAnswer& answer) {
  return absl::UnavailableError(absl::StrCat(url, ": expected the JSON of etcd 3.4 or later, got code ", answer.code,
                                             " and '", absl::Utf8SafeCHexEscape(answer.body.substr(0, kShownBytes)),
                                             "'; scheduler.etcd of the overlay says where etcd is"));
}

// What is the state of one member, or passes by itself, is worth asking another one.
bool IsPassing(absl::StatusCode code) {
  return code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kDeadlineExceeded ||
         code == absl::StatusCode::kCancelled || code == absl::StatusCode::kAborted ||
         code == absl::StatusCode::kUnknown;
}

absl::Status ReadAnswer(const std::string& url, const HttpAnswer& answer, Message& response) {
  if (answer.code == kHttpOk) return FromJson(answer.body, response) ? absl::OkStatus() : Strange(url, answer);
  etcd::Refusal refusal;
  if (!FromJson(answer.body, refusal) || refusal.code() == 0) return Strange(url, answer);
  const auto code = static_cast<absl::StatusCode>(refusal.code());
  return absl::Status(IsPassing(code) ? absl::StatusCode::kUnavailable : code,
                      absl::StrCat(url, ": ", refusal.message()));
}

}  // namespace

EtcdClient::EtcdClient(std::vector<std::string> endpoints, absl::Duration timeout, EtcdAccess access)
    : endpoints_(std::move(endpoints)), timeout_(timeout), access_(std::move(access)), http_(access_.tls) {
  BANYAN_CHECK(!endpoints_.empty());
}

absl::Status EtcdClient::Authenticate(const std::string& endpoint) {
  const absl::StatusOr<std::string> password = access_.password();
  if (!password.ok()) return password.status();
  etcd::AuthenticateRequest request;
  request.set_name(access_.user);
  request.set_password(*password);
  const std::string url = absl::StrCat(endpoint, "/v3/auth/authenticate");
  const absl::StatusOr<HttpAnswer> answer = http_.Post(url, ToJson(request), timeout_);
  if (!answer.ok()) return answer.status();
  etcd::AuthenticateResponse response;
  const absl::Status status = ReadAnswer(url, *answer, response);
  token_ = response.token();
  return status;
}

absl::Status EtcdClient::CallOne(const std::string& endpoint, absl::string_view path, const std::string& json,
                                 Message& response) {
  if (!access_.user.empty() && token_.empty()) {
    if (absl::Status status = Authenticate(endpoint); !status.ok()) return status;
  }
  const std::string url = absl::StrCat(endpoint, path);
  const absl::StatusOr<HttpAnswer> answer = http_.Post(url, json, timeout_, token_);
  return answer.ok() ? ReadAnswer(url, *answer, response) : answer.status();
}

absl::Status EtcdClient::CallAny(absl::string_view path, const std::string& json, Message& response) {
  std::string reasons;
  for (size_t tries = 0; tries < endpoints_.size(); ++tries) {
    absl::Status status = CallOne(endpoints_[answering_], path, json, response);
    // A token ends in time, and when etcd's users change.
    const bool is_old_token = absl::IsUnauthenticated(status) || absl::IsInvalidArgument(status);
    if (is_old_token && !std::exchange(token_, {}).empty()) {
      status = CallOne(endpoints_[answering_], path, json, response);
    }
    if (!absl::IsUnavailable(status)) return status;
    answering_ = (answering_ + 1) % endpoints_.size();
    absl::StrAppend(&reasons, reasons.empty() ? "" : "; ", status.message());
  }
  return absl::UnavailableError(
      absl::StrCat("etcd does not answer; does it run where scheduler.etcd of the overlay says? ", reasons));
}

template <typename Response>
absl::StatusOr<Response> EtcdClient::Call(absl::string_view path, const Message& request) {
  Response response;
  if (absl::Status status = CallAny(path, ToJson(request), response); !status.ok()) return status;
  return response;
}

absl::StatusOr<etcd::RangeResponse> EtcdClient::Read(const etcd::RangeRequest& request) {
  return Call<etcd::RangeResponse>("/v3/kv/range", request);
}

absl::StatusOr<etcd::TxnResponse> EtcdClient::Commit(const etcd::TxnRequest& request) {
  return Call<etcd::TxnResponse>("/v3/kv/txn", request);
}

absl::StatusOr<etcd::LeaseGrantResponse> EtcdClient::Grant(const etcd::LeaseGrantRequest& request) {
  return Call<etcd::LeaseGrantResponse>("/v3/lease/grant", request);
}

absl::StatusOr<etcd::LeaseKeepAliveResponse> EtcdClient::KeepAlive(const etcd::LeaseKeepAliveRequest& request) {
  const absl::StatusOr<etcd::LeaseKeepAliveStream> stream =
      Call<etcd::LeaseKeepAliveStream>("/v3/lease/keepalive", request);
  if (!stream.ok()) return stream.status();
  if (!stream->has_result()) return absl::UnavailableError("etcd has ended a keep-alive without an answer");
  return stream->result();
}

absl::StatusOr<etcd::LeaseRevokeResponse> EtcdClient::Revoke(const etcd::LeaseRevokeRequest& request) {
  return Call<etcd::LeaseRevokeResponse>("/v3/lease/revoke", request);
}

}  // namespace banyan
