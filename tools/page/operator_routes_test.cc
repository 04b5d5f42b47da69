#include "tools/page/operator_routes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/http/http_server.h"
#include "runtime/testing/http_get.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kReader[] = "reader-reader-reader";
constexpr char kAda[] = "ada-ada-ada-ada-ada";

PageAccess Access() { return {kReader, {{"ada", kAda}, {"bob", "bob-bob-bob-bob-bob"}}}; }
std::string Bearer(absl::string_view token) { return absl::StrCat("Bearer ", token); }

TEST(OperatorRoutesTest, ATokenNamesItsOperator) {
  EXPECT_EQ(*FindOperator(Access(), Bearer(kAda)), "ada");
  EXPECT_EQ(*FindOperator(Access(), Bearer("bob-bob-bob-bob-bob")), "bob");
  EXPECT_TRUE(absl::IsUnauthenticated(FindOperator(Access(), "").status()));
  EXPECT_TRUE(absl::IsUnauthenticated(FindOperator(Access(), Bearer("ada-ada-ada-ada-adA")).status()));
  const std::string basic = absl::StrCat("Basic ", absl::Base64Escape(absl::StrCat("ada:", kAda)));
  EXPECT_TRUE(absl::IsUnauthenticated(FindOperator(Access(), basic).status()));
}

TEST(OperatorRoutesTest, ReadersGiveNoOrders) {
  const absl::Status status = FindOperator(Access(), Bearer(kReader)).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status));
  EXPECT_THAT(status.message(), HasSubstr("lets read, and no more"));
  // Where everybody reads, nothing is a token of readers.
  EXPECT_TRUE(absl::IsUnauthenticated(FindOperator({"", Access().operators}, Bearer("")).status()));
  const absl::Status nobody = FindOperator({kReader, {}}, Bearer(kReader)).status();
  EXPECT_TRUE(absl::IsPermissionDenied(nobody));
  EXPECT_THAT(nobody.message(), HasSubstr("--http-operator NAME=FILE"));
}

TEST(OperatorRoutesTest, TokensAndNamesDiffer) {
  EXPECT_TRUE(CheckAccess(Access()).ok());
  EXPECT_TRUE(CheckAccess({}).ok());
  EXPECT_THAT(CheckAccess({kReader, {{"ada", kReader}}}).message(), HasSubstr("a token of their own"));
  EXPECT_THAT(CheckAccess({"", {{"ada", kAda}, {"bob", kAda}}}).message(), HasSubstr("operator bob"));
  EXPECT_THAT(CheckAccess({"", {{"ada", kAda}, {"ada", kReader}}}).message(), HasSubstr("two of ada"));
}

TEST(OperatorRoutesTest, AChangedFileCountsAtOnce) {
  const std::string path = ::testing::TempDir() + "/ada";
  const auto write = [&path](const std::string& token) {
    std::ofstream(path) << token;
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  };
  write(kAda);
  const PageAccess access = {"", {{"ada", PageToken::OfFile(path)}}};
  EXPECT_EQ(*FindOperator(access, Bearer(kAda)), "ada");
  write("another-another-another");
  EXPECT_TRUE(absl::IsUnauthenticated(FindOperator(access, Bearer(kAda)).status()));
  EXPECT_EQ(*FindOperator(access, Bearer("another-another-another")), "ada");
  unlink(path.c_str());
  EXPECT_TRUE(absl::IsUnauthenticated(FindOperator(access, Bearer("another-another-another")).status()));
  EXPECT_TRUE(absl::IsUnauthenticated(FindOperator(access, Bearer("")).status()));
}

// A server whose orders are answered with what they say.
class OperatorServerTest : public ::testing::Test {
 protected:
  OperatorServerTest() : answerer_([this] { AnswerAll(); }) {}
  ~OperatorServerTest() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    answerer_.join();
  }

  void Serve(const PageAccess& access, std::shared_ptr<OrderQueue> requests) {
    auto server = HttpServer::Serve("127.0.0.1:0", OperatorRoutes(access, std::move(requests)),
                                    {.token = [token = access.readers_token] { return token.Get(); }});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    ASSERT_TRUE(absl::SimpleAtoi(server_->url().substr(server_->url().rfind(':') + 1), &port_));
  }
  std::string Post(const std::string& path, const std::string& body, absl::string_view token = kAda) {
    const FileDescriptor client = Connect(port_);
    const std::string request =
        absl::StrCat("POST /api/operator/", path, " HTTP/1.0\r\nHost: localhost\r\n", "Authorization: Bearer ", token,
                     "\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
    EXPECT_EQ(send(client.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    return ReadAll(client.get());
  }
  std::string Get() {
    const FileDescriptor client = Connect(port_);
    const std::string request = absl::StrCat("GET /api/operator HTTP/1.0\r\nHost: localhost\r\n",
                                             "Authorization: Bearer ", kReader, "\r\n\r\n");
    EXPECT_EQ(send(client.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    return ReadAll(client.get());
  }

  void AnswerAll() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return ends_ || requests_->has_orders(); });
      if (ends_) return;
      for (PageOrder& order : requests_->Take()) Answer(order);
    }
  }
  static void Answer(PageOrder& order) {
    std::string told = order.operator_name + " wants";
    if (const auto* change = std::get_if<Reconfigure>(&order.message)) {
      told = absl::StrCat(change->file_name, ": ", change->overlay_yaml);
    } else if (const auto* remove = std::get_if<RemoveNode>(&order.message)) {
      if (remove->name == "n8") return order.reply(NoReply());
      return order.reply(OperatorReply{remove->name != "n9", absl::StrCat("without ", remove->name)});
    } else if (const auto* stop = std::get_if<StopJob>(&order.message)) {
      told = absl::StrCat("stopped by ", stop->reason);
    }
    order.reply(OperatorReply{true, told});
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  const std::shared_ptr<OrderQueue> requests_ = std::make_shared<OrderQueue>([this] {
    // Not between the look and the wait.
    { const std::lock_guard<std::mutex> lock(mutex_); }
    changed_.notify_all();
  });
  std::unique_ptr<HttpServer> server_;
  int port_ = 0;
  std::thread answerer_;
};

TEST_F(OperatorServerTest, OrdersAreThoseOfTheCommands) {
  Serve(Access(), requests_);
  requests_->SetOverlay("job: \"j\"\n");
  EXPECT_THAT(Get(), HasSubstr(R"({"accepted":true,"text":""})"));
  EXPECT_THAT(Post("who", "", "bob-bob-bob-bob-bob"), HasSubstr(R"({"accepted":true,"text":"bob"})"));
  EXPECT_THAT(Post("overlay", ""), AllOf(HasSubstr("application/json"), HasSubstr(R"("text":"job: \"j\"\u000a")")));
  EXPECT_THAT(Post("reconfigure", std::string(100000, '#')),
              HasSubstr(absl::StrCat("the overlay of ada: ", std::string(100000, '#'))));
  EXPECT_THAT(Post("remove", "n3\n"), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr(R"(true,"text":"without n3")")));
  EXPECT_THAT(Post("remove", "n9"), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr(R"(false,"text":"without n9")")));
  EXPECT_THAT(Post("remove", "n8"), AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr(R"("accepted":false,"text":"the)")));
  EXPECT_THAT(Post("stop", ""), HasSubstr(R"("stopped by ada")"));
  EXPECT_THAT(Post("stop", " tired "), HasSubstr(R"("stopped by ada: tired")"));
  EXPECT_THAT(Post("remove", std::string(4097, 'n')), StartsWith("HTTP/1.1 413 "));
}

TEST_F(OperatorServerTest, NobodyElseGivesAny) {
  Serve(Access(), requests_);
  for (const char* path : {"who", "overlay", "reconfigure", "remove", "stop"}) {
    EXPECT_THAT(Post(path, "", kReader), AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("\"accepted\":false"))) << path;
    EXPECT_THAT(Post(path, "", "wrong"), AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("\"accepted\":false"))) << path;
  }
}

TEST_F(OperatorServerTest, WithoutOperatorsItTellsWhatIsMissing) {
  Serve({kReader, {}}, requests_);
  EXPECT_THAT(Get(), AllOf(HasSubstr("\"accepted\":false"), HasSubstr("--http-operator")));
  EXPECT_THAT(Post("stop", "", kAda), AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("--http-operator NAME=FILE")));
}

TEST_F(OperatorServerTest, APageWithoutASchedulerTakesNone) {
  Serve(Access(), nullptr);
  EXPECT_THAT(Get(), HasSubstr(R"({"accepted":false,"text":""})"));
  EXPECT_THAT(Post("stop", "", kReader), StartsWith("HTTP/1.1 404 "));
}

}  // namespace
}  // namespace banyan
