#include "tools/demo/demo_page.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "posix/steady_clock.h"
#include "tools/page/operator_routes.h"

namespace banyan {

// --- who breaks a demo ---

FaultRequests::FaultRequests(const RunningJob& job, std::string banyan_program)
    : has_links_(!job.wan_directory.empty()), thread_([this, job, program = std::move(banyan_program)] {
        // Of this thread, which the senders of traffic must not outlive.
        ChaosJob broken(job, program);
        Work(broken);
      }) {}

FaultRequests::~FaultRequests() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void FaultRequests::Give(FaultRequest request) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(std::move(request));
  }
  changed_.notify_one();
}

void FaultRequests::Work(ChaosJob& job) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_) {
    const auto is_due = [this] { return ends_ || !requests_.empty(); };
    const Timestamp undoing = job.NextUndoing();
    if (undoing == kNever) {
      changed_.wait(lock, is_due);
    } else {
      changed_.wait_for(lock, absl::ToChronoNanoseconds(undoing - SteadyNow()), is_due);
    }
    std::deque<FaultRequest> requests = std::exchange(requests_, {});
    lock.unlock();
    // The emulator may have ended before the demo, and then nothing is to be healed.
    job.UndoDue(SteadyNow());
    for (const FaultRequest& request : requests) request.reply(Do(request, job));
    lock.lock();
  }
  for (const FaultRequest& request : std::exchange(requests_, {})) {
    request.reply(absl::CancelledError("the demo ends"));
  }
}

absl::StatusOr<std::string> FaultRequests::Do(const FaultRequest& request, ChaosJob& job) const {
  ChaosFault fault = {.kind = request.kind, .at = SteadyNow(), .lasts = kFaultLasts};
  if (request.kind == ChaosKind::kKillNode) {
    const std::vector<ProcessRecord> nodes = job.FindProcesses(ProcessKind::kNode);
    const auto process =
        std::find_if(nodes.begin(), nodes.end(), [&](const ProcessRecord& node) { return node.node == request.node; });
    if (process == nodes.end()) return absl::NotFoundError(absl::StrCat("no node '", request.node, "' runs here now"));
    if (absl::Status status = job.Hit(*process, fault); !status.ok()) return status;
  } else {
    if (!has_links_) {
      return absl::FailedPreconditionError(
          "expected a demo on an emulated WAN, whose links can be cut and shared; this one runs over loopback");
    }
    fault.target = absl::StrCat(request.node, " – ", request.other);
    const auto [first, second] = std::minmax(request.node, request.other);
    fault.links = {{first, second}, {second, first}};
    if (absl::Status status = job.HitLinks(fault); !status.ok()) return status;
  }
  return DescribeFault(InfoOf(request.kind).done, fault);
}

// --- the paths by which it is broken ---

namespace {

constexpr char kPath[] = "/api/faults";
constexpr size_t kMostWords = 1024;  // bytes of two nodes' names

absl::StatusOr<FaultRequest> ReadRequest(ChaosKind kind, const std::string& body) {
  const std::vector<std::string> names = absl::StrSplit(body, absl::ByAnyChar(" \r\n"), absl::SkipEmpty());
  const size_t expected = kind == ChaosKind::kKillNode ? 1 : 2;
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

HttpRoute FaultRoute(const ChaosKindInfo& info, const PageAccess& access,
                     const std::function<void(FaultRequest request)>& give) {
  return OperatorPost(absl::StrCat(kPath, "/", info.path), access, kMostWords,
                      [kind = info.kind, give](std::string, std::string body, AnswerPost answer) {
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
  std::vector<HttpRoute> routes = {about};
  for (const ChaosKindInfo& info : kChaosKinds) {
    if (*info.path != '\0') routes.push_back(FaultRoute(info, access, give));
  }
  return routes;
}

// --- the page ---

namespace {

constexpr char kAddress[] = "127.0.0.1:0";
constexpr char kOperator[] = "demo";

// 128 bits by the kernel.
std::string DrawToken() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) absl::StrAppend(&token, absl::Hex(device(), absl::kZeroPad8));
  return token;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DemoPage>> DemoPage::Serve(const RunningJob& job, const std::string& banyan_program) {
  std::unique_ptr<DemoPage> page(new DemoPage(job, banyan_program, DrawToken()));
  const PageAccess access = {.readers_token = "", .operators = {{kOperator, page->token_}}};
  FaultRequests* const requests = &page->requests_;
  absl::StatusOr<std::unique_ptr<JobPage>> served = JobPage::Serve(
      kAddress, [](LogLevel, absl::string_view) {}, access, nullptr,
      FaultRoutes(access, requests->has_links(),
                  [requests](FaultRequest request) { requests->Give(std::move(request)); }));
  if (!served.ok()) return served.status();
  page->page_ = *std::move(served);
  return page;
}

std::string DemoPage::url() const { return absl::StrCat(page_->url(), "#demo=", token_); }

}  // namespace banyan
