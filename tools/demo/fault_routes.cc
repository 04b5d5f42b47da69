#include "tools/demo/fault_routes.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace banyan {
namespace {

constexpr char kPath[] = "/api/faults";
constexpr size_t kMostWords = 1024;  // bytes of two nodes' names

absl::StatusOr<FaultRequest> ReadRequest(DemoFaultKind kind, const std::string& body) {
  const std::vector<std::string> names = absl::StrSplit(body, absl::ByAnyChar(" \r\n"), absl::SkipEmpty());
  const size_t expected = kind == DemoFaultKind::kKillNode ? 1 : 2;
  if (names.size() != expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected ", expected == 1 ? "a node's name" : "two nodes' names, the ends of a link", ", got '", body, "'"));
  }
  FaultRequest request;
  request.kind = kind;
  request.node = names[0];
  if (expected == 2) request.other = names[1];
  return request;
}

HttpRoute FaultRoute(const char* name, DemoFaultKind kind, const PageAccess& access,
                     const std::function<void(FaultRequest request)>& give) {
  return OperatorPost(absl::StrCat(kPath, "/", name), access, kMostWords,
                      [kind, give](std::string, std::string body, AnswerPost answer) {
                        absl::StatusOr<FaultRequest> request = ReadRequest(kind, body);
                        if (!request.ok()) return answer({200, OrderAnswer(false, request.status().message())});
                        request->reply = [answer = std::move(answer)](const absl::StatusOr<std::string>& done) {
                          answer({200, OrderAnswer(done.ok(), done.ok() ? *done : done.status().message())});
                        };
                        give(*std::move(request));
                      });
}

}  // namespace

std::vector<HttpRoute> FaultRoutes(const PageAccess& access, bool has_links,
                                   const std::function<void(FaultRequest request)>& give) {
  HttpRoute about;
  about.path = kPath;
  about.answer = [has_links] {
    return OrderAnswer(has_links, has_links ? "" : "links over loopback can be neither cut nor shared");
  };
  return {about, FaultRoute("kill", DemoFaultKind::kKillNode, access, give),
          FaultRoute("cut", DemoFaultKind::kCutLink, access, give),
          FaultRoute("traffic", DemoFaultKind::kTraffic, access, give)};
}

}  // namespace banyan
