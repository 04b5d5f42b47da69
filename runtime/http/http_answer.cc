#include "runtime/http/http_answer.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "absl/cleanup/cleanup.h"

namespace banyan {
namespace {

// What a browser may do with an answer: nothing that comes from elsewhere, nor show it inside another page.
constexpr const char* kHeaders[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

}  // namespace

int QueueResponse(MHD_Connection* connection, unsigned code, const char* content_type, MHD_Response* response) {
  if (response == nullptr) return MHD_NO;
  const auto release = absl::MakeCleanup([response] { MHD_destroy_response(response); });
  if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type) == MHD_NO) return MHD_NO;
  for (const auto& [name, value] : kHeaders) {
    if (MHD_add_response_header(response, name, value) == MHD_NO) return MHD_NO;
  }
  return MHD_queue_response(connection, code, response);
}

int QueueText(MHD_Connection* connection, unsigned code, const char* content_type, absl::string_view body,
              const char* challenge) {
  MHD_Response* const response =
      MHD_create_response_from_buffer(body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY);
  if (response != nullptr && challenge != nullptr &&
      MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, challenge) == MHD_NO) {
    MHD_destroy_response(response);
    return MHD_NO;
  }
  return QueueResponse(connection, code, content_type, response);
}

absl::string_view FindHeader(MHD_Connection* connection, const char* name) {
  const char* const value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? absl::string_view() : absl::string_view(value);
}

std::string PeerHost(MHD_Connection* connection) {
  const MHD_ConnectionInfo* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  char host[INET6_ADDRSTRLEN] = "?";
  if (info == nullptr || info->client_addr == nullptr) return host;
  if (info->client_addr->sa_family == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(info->client_addr)->sin6_addr, host, sizeof(host));
  } else {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(info->client_addr)->sin_addr, host, sizeof(host));
  }
  return host;
}

}  // namespace banyan
