#include "tools/page/operator_routes.h"

#include <cstddef>
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "access/secret_file.h"
#include "core/json_writer.h"
#include "proto/scheduler_messages.h"
#include "runtime/http/request_checks.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {
namespace {

constexpr char kHow[] =
    "Nobody gives orders here. Start the scheduler with --http-operator NAME=FILE, where FILE has mode 0600 and holds "
    "a "
    "token, as `openssl rand -hex 32` makes it.";
constexpr size_t kMostWords = 4096;  // bytes of a node's name or of a reason
constexpr unsigned kServiceUnavailable = 503;

// Makes the message of an order out of what an operator sends.
using MakeOrder = std::function<Message(const std::string& sender, std::string body)>;

std::string PathOf(absl::string_view name) { return absl::StrCat("/api/operator/", name); }

HttpRoute MakeOrderRoute(const std::string& name, const PageAccess& access, size_t most_bytes,
                         std::shared_ptr<OrderQueue> requests, MakeOrder make) {
  return OperatorPost(PathOf(name), access, most_bytes,
                      [requests = std::move(requests), make = std::move(make)](std::string sender, std::string body,
                                                                               AnswerPost answer) {
                        PageOrder order;
                        order.message = make(sender, std::move(body));
                        order.operator_name = std::move(sender);
                        order.reply = [answer = std::move(answer)](absl::StatusOr<OperatorReply> reply) {
                          if (reply.ok()) return answer({200, OrderAnswer(reply->accepted, reply->text)});
                          answer({kServiceUnavailable, OrderAnswer(false, reply.status().message())});
                        };
                        requests->Give(std::move(order));
                      });
}

Message MakeReconfigure(const std::string& sender, std::string body) {
  return Reconfigure{std::move(body), absl::StrCat("the overlay of ", sender)};
}

Message MakeRemove(const std::string&, std::string body) {
  return RemoveNode{std::string(absl::StripAsciiWhitespace(body))};
}

Message MakeStop(const std::string& sender, std::string body) {
  const absl::string_view reason = absl::StripAsciiWhitespace(body);
  return StopJob{reason.empty() ? sender : absl::StrCat(sender, ": ", reason)};
}

}  // namespace

HttpContent OrderAnswer(bool accepted, absl::string_view text) {
  JsonWriter json;
  json.BeginObject().Name("accepted").Boolean(accepted).Name("text").String(std::string(text)).EndObject();
  return {"application/json", json.text()};
}

HttpRoute OperatorPost(std::string path, const PageAccess& access, size_t most_bytes, TakePost take) {
  HttpRoute route;
  route.path = std::move(path);
  route.post = HttpPostRoute{most_bytes,
                             [access](absl::string_view authorization) { return FindOperator(access, authorization); },
                             std::move(take), [](absl::string_view why) { return OrderAnswer(false, why); }};
  return route;
}

PageToken PageToken::OfFile(std::string path) {
  PageToken token;
  token.path_ = std::move(path);
  return token;
}

absl::Status PageToken::Check() const { return path_.empty() ? absl::OkStatus() : ReadTokenFile(path_).status(); }

std::string PageToken::Get() const { return path_.empty() ? token_ : ReadTokenFile(path_).value_or(""); }

absl::Status CheckAccess(const PageAccess& access) {
  std::set<std::string> names;
  std::set<std::string> tokens = {access.readers_token.Get()};
  for (const PageOperator& who : access.operators) {
    if (!names.insert(who.name).second) {
      return absl::InvalidArgumentError(absl::StrCat("expected one token for each operator, got two of ", who.name));
    }
    if (!tokens.insert(who.token.Get()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected operator ", who.name, " to have a token of their own, got one that others have"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> FindOperator(const PageAccess& access, absl::string_view authorization) {
  if (access.operators.empty()) return absl::PermissionDeniedError(kHow);
  for (const PageOperator& who : access.operators) {
    const std::string token = who.token.Get();
    if (!token.empty() && GivesBearerToken(authorization, token)) return who.name;
  }
  const std::string readers = access.readers_token.Get();
  if (!readers.empty() && GivesToken(authorization, readers)) {
    return absl::PermissionDeniedError("expected an operator's token; the one that was given lets read, and no more");
  }
  return absl::UnauthenticatedError("expected an operator's token, as `Authorization: Bearer TOKEN`");
}

std::vector<HttpRoute> OperatorRoutes(const PageAccess& access, std::shared_ptr<OrderQueue> requests) {
  const bool has_operators = requests != nullptr && !access.operators.empty();
  const std::string how = requests == nullptr || has_operators ? "" : kHow;
  std::vector<HttpRoute> routes = {{"/api/operator", [has_operators, how] { return OrderAnswer(has_operators, how); }}};
  if (requests == nullptr) return routes;
  routes.push_back(
      OperatorPost(PathOf("who"), access, 0, [](std::string sender, std::string, const AnswerPost& answer) {
        answer({200, OrderAnswer(true, sender)});
      }));
  routes.push_back(
      OperatorPost(PathOf("overlay"), access, 0, [requests](const std::string&, std::string, const AnswerPost& answer) {
        answer({200, OrderAnswer(true, requests->overlay())});
      }));
  routes.push_back(MakeOrderRoute("reconfigure", access, size_t{kMaxOverlayBytes}, requests, MakeReconfigure));
  routes.push_back(MakeOrderRoute("remove", access, kMostWords, requests, MakeRemove));
  routes.push_back(MakeOrderRoute("stop", access, kMostWords, requests, MakeStop));
  return routes;
}

}  // namespace banyan
