#include "tools/demo/demo_page.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "tools/page/operator_routes.h"

namespace banyan {

// --- who breaks a demo ---

namespace {

// Of a link's present rate: what is left to the job is less than a third.
constexpr double kTrafficShare = 0.7;
// Whoever cannot send says so within this time.
constexpr absl::Duration kBegins = absl::Milliseconds(300);

std::string NameOf(const ChaosLink& link) { return absl::StrCat(link.first, " – ", link.second); }
ChaosLink Back(const ChaosLink& link) { return {link.second, link.first}; }
std::string Lasting() { return absl::StrCat("for ", absl::FormatDuration(kFaultLasts)); }

}  // namespace

FaultDesk::FaultDesk(const RunningJob& job, std::string banyan_program)
    : has_links_(!job.wan_directory.empty()),
      banyan_program_(std::move(banyan_program)),
      wan_directory_(job.wan_directory),
      log_path_(job.directory + "/traffic.log"),
      job_(job),
      thread_(&FaultDesk::Work, this) {}

FaultDesk::~FaultDesk() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void FaultDesk::Give(FaultRequest request) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(std::move(request));
  }
  changed_.notify_one();
}

void FaultDesk::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_) {
    if (requests_.empty()) {
      const absl::Time healing = NextHealing();
      const auto is_due = [this] { return ends_ || !requests_.empty(); };
      if (healing == absl::InfiniteFuture()) {
        changed_.wait(lock, is_due);
      } else {
        changed_.wait_until(lock, absl::ToChronoTime(healing), is_due);
      }
    }
    std::deque<FaultRequest> requests = std::exchange(requests_, {});
    lock.unlock();
    HealDue(absl::Now());
    for (const FaultRequest& request : requests) request.reply(Do(request));
    lock.lock();
  }
  for (const FaultRequest& request : std::exchange(requests_, {})) {
    request.reply(absl::CancelledError("the demo ends"));
  }
  // Its sender must not outlive this thread, and all is healed.
  traffic_.clear();
  HealDue(absl::InfiniteFuture());
}

absl::StatusOr<std::string> FaultDesk::Do(const FaultRequest& request) {
  if (request.kind == DemoFaultKind::kKillNode) return Kill(request.node);
  if (!has_links_) {
    return absl::FailedPreconditionError(
        "expected a demo on an emulated WAN, whose links can be cut and shared; this one runs over loopback");
  }
  const ChaosLink link = {request.node, request.other};
  return request.kind == DemoFaultKind::kCutLink ? Cut(link) : Share(link);
}

absl::StatusOr<std::string> FaultDesk::Kill(const std::string& node) {
  for (const ProcessRecord& process : job_.FindProcesses()) {
    if (process.kind != ProcessKind::kNode || process.node != node) continue;
    if (absl::Status status = job_.Kill(process); !status.ok()) return status;
    return absl::StrCat("killed ", process.name, "; it is started again");
  }
  return absl::NotFoundError(absl::StrCat("no node '", node, "' runs here now"));
}

absl::StatusOr<std::string> FaultDesk::Cut(const ChaosLink& link) {
  const std::vector<ChaosLink> directions = {link, Back(link)};
  if (absl::Status status = job_.Cut(directions); !status.ok()) return status;
  for (const ChaosLink& direction : directions) cut_[direction] = absl::Now() + kFaultLasts;
  return absl::StrCat("cut ", NameOf(link), " ", Lasting());
}

absl::StatusOr<std::string> FaultDesk::Share(const ChaosLink& link) {
  const absl::StatusOr<WanStatus> wan = WanClient(wan_directory_).Status();
  if (!wan.ok()) return wan.status();
  for (const ChaosLink& direction : {link, Back(link)}) {
    const WanStatus::Link* const of_wan = wan->FindLink(direction.first, direction.second);
    if (of_wan == nullptr) {
      return absl::NotFoundError(absl::StrCat("the demo has no link from ", direction.first, " to ", direction.second));
    }
    const std::string lasts = absl::FormatDuration(kFaultLasts);
    absl::StatusOr<std::unique_ptr<ChildProcess>> sender = ChildProcess::Start(
        {.name = absl::StrCat("traffic from ", direction.first, " to ", direction.second),
         .arguments = {banyan_program_, "wan", "traffic", direction.first, direction.second, "--directory",
                       wan_directory_, "--mbps", absl::StrFormat("%.3f", kTrafficShare * of_wan->mbps), "--on", lasts,
                       "--off", "0", "--for", lasts},
         .log_path = log_path_,
         .append_log = false,
         .capture_output = false});
    if (!sender.ok()) return sender.status();
    if ((*sender)->WaitUntilEnded(kBegins) && !(*sender)->failure().empty()) {
      return absl::UnavailableError(
          absl::StrCat((*sender)->name(), " ended with ", (*sender)->failure(), ": ", (*sender)->LogTail(1)));
    }
    traffic_[direction] = *std::move(sender);
  }
  return absl::StrCat("others take 0.7 of ", NameOf(link), " ", Lasting());
}

void FaultDesk::HealDue(absl::Time now) {
  std::erase_if(cut_, [this, now](const auto& cut) {
    if (cut.second > now) return false;
    // The emulator may have ended before the demo.
    job_.Heal(cut.first).IgnoreError();
    return true;
  });
  std::erase_if(traffic_, [](const auto& sender) { return !sender.second->running(); });
}

absl::Time FaultDesk::NextHealing() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [link, until] : cut_) next = std::min(next, until);
  return next;
}

// --- the paths by which it is broken ---

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
  FaultDesk* const desk = &page->desk_;
  absl::StatusOr<std::unique_ptr<JobPage>> served = JobPage::Serve(
      kAddress, [](LogLevel, absl::string_view) {}, access, nullptr,
      FaultRoutes(access, desk->has_links(), [desk](FaultRequest request) { desk->Give(std::move(request)); }));
  if (!served.ok()) return served.status();
  page->page_ = *std::move(served);
  return page;
}

std::string DemoPage::url() const { return absl::StrCat(page_->url(), "#demo=", token_); }

}  // namespace banyan
