#include "tools/demo/demo_page.h"

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/demo/fault_routes.h"
#include "tools/page/operator_routes.h"

namespace banyan {
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
