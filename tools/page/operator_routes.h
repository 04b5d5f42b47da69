// What operators do over HTTP: the paths below /api/operator. Functions.
#ifndef BANYAN_TOOLS_PAGE_OPERATOR_ROUTES_H_
#define BANYAN_TOOLS_PAGE_OPERATOR_ROUTES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/http/http_route.h"
#include "tools/page/order_queue.h"

namespace banyan {

// A token, or the file that it stands in, which is read whenever somebody gives one. A value.
class PageToken {
 public:
  PageToken() = default;
  PageToken(std::string token) : token_(std::move(token)) {}  // NOLINT: it is one
  PageToken(const char* token) : token_(token) {}             // NOLINT
  static PageToken OfFile(std::string path);

  // Whether anybody asks for it.
  bool is_wanted() const { return !token_.empty() || !path_.empty(); }
  // Says why its file holds none.
  absl::Status Check() const;
  // Returns it as it is now; empty, which nobody gives, while the file holds none.
  std::string Get() const;

 private:
  std::string token_;
  std::string path_;
};

struct PageOperator {
  std::string name;
  PageToken token;
};

// Who may do what on a page. Values.
struct PageAccess {
  PageToken readers_token;              // not wanted: everybody may read
  std::vector<PageOperator> operators;  // empty: nobody gives orders
  std::vector<std::string> hosts = {};  // names by which it is asked for, besides addresses and this machine's
};

// Checks that names differ, and tokens too, also from that of readers. INVALID_ARGUMENT says what to do.
absl::Status CheckAccess(const PageAccess& access);

// Returns the name of the operator who gives `authorization`, the value of that header, as a program does.
// UNAUTHENTICATED without a token or with a wrong one; PERMISSION_DENIED with that of readers, or where there is no
// operator.
absl::StatusOr<std::string> FindOperator(const PageAccess& access, absl::string_view authorization);

// What is answered to orders: `accepted` and `text`, as JSON.
HttpContent OrderAnswer(bool accepted, absl::string_view text);

// Takes what an operator of that name has sent; HttpPostRoute says more.
using TakePost = std::function<void(std::string sender, std::string body, AnswerPost answer)>;

// Returns a path that takes at most so many bytes from the operators of `access`, by POST.
HttpRoute OperatorPost(std::string path, const PageAccess& access, size_t most_bytes, TakePost take);

// The paths, whose answers are JSON: `accepted` and `text`, as `banyan stop --json` has them. /api/operator tells
// whether there are operators. By POST: `who` tells an operator's name, `overlay` the text that the job runs under;
// `reconfigure` takes such a text, `remove` a node's name, and `stop` a reason. `requests` is nullptr where none are
// taken.
std::vector<HttpRoute> OperatorRoutes(const PageAccess& access, std::shared_ptr<OrderQueue> requests);

}  // namespace banyan

#endif  // BANYAN_TOOLS_PAGE_OPERATOR_ROUTES_H_
