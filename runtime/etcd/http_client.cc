#include "runtime/etcd/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
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

}  // namespace banyan
