// How the server's answers leave: each with the headers by which browsers keep foreign code out. Functions of the
// server's thread.
#ifndef BANYAN_RUNTIME_HTTP_HTTP_ANSWER_H_
#define BANYAN_RUNTIME_HTTP_HTTP_ANSWER_H_

#include <string>

#include "absl/strings/string_view.h"

struct MHD_Connection;
struct MHD_Response;

namespace banyan {

inline constexpr char kPlainText[] = "text/plain; charset=utf-8";

// Queues `response`, which it consumes and which may be nullptr, and returns the MHD_Result.
int QueueResponse(MHD_Connection* connection, unsigned code, const char* content_type, MHD_Response* response);
// The same of a copy of `body`. `challenge`, if it is not nullptr, tells what the client is to authenticate itself
// with.
int QueueText(MHD_Connection* connection, unsigned code, const char* content_type, absl::string_view body,
              const char* challenge = nullptr);
// Returns the value of that header; empty without one.
absl::string_view FindHeader(MHD_Connection* connection, const char* name);

// Returns the address of who asks, without a port.
std::string PeerHost(MHD_Connection* connection);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_HTTP_HTTP_ANSWER_H_
