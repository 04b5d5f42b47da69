#include "runtime/etcd/testing/etcd_process.h"

#include <signal.h>

#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "posix/steady_clock.h"
#include "runtime/etcd/etcd_api.h"
#include "runtime/etcd/etcd_client.h"

namespace banyan {
namespace {

constexpr char kProgram[] = "/usr/bin/etcd";
constexpr absl::Duration kPatience = absl::Seconds(120);
constexpr absl::Duration kPollInterval = absl::Milliseconds(20);
constexpr int kShownLogLines = 15;

template <typename T>
T Need(absl::StatusOr<T> value) {
  if (!value.ok()) throw std::runtime_error(value.status().ToString());
  return *std::move(value);
}

std::string Url(const PortReservation& ports, int index) {
  return absl::StrCat("http://127.0.0.1:", ports.ports()[static_cast<size_t>(index)]);
}

}  // namespace

EtcdProcess::EtcdProcess(std::vector<std::string> flags)
    : flags_(std::move(flags)),
      directory_(Need(WorkDirectory::Make("banyan-etcd"))),
      ports_(Need(PortReservation::Take(2))),
      url_(Url(ports_, 0)) {
  Start();
}

std::unique_ptr<EtcdApi> EtcdProcess::NewApi() const {
  return std::make_unique<EtcdClient>(std::vector<std::string>{url_}, absl::Seconds(10));
}

void EtcdProcess::Kill() {
  process_->Signal(SIGKILL);
  if (!process_->WaitUntilEnded(kPatience)) throw std::runtime_error("etcd does not end");
}

void EtcdProcess::Start() {
  const std::string peer_url = Url(ports_, 1);
  std::vector<std::string> arguments = {kProgram,
                                        "--data-dir",
                                        directory_->File("data"),
                                        "--listen-client-urls",
                                        url_,
                                        "--advertise-client-urls",
                                        url_,
                                        "--listen-peer-urls",
                                        peer_url,
                                        "--initial-advertise-peer-urls",
                                        peer_url,
                                        "--initial-cluster",
                                        absl::StrCat("default=", peer_url)};
  arguments.insert(arguments.end(), flags_.begin(), flags_.end());
  process_ = Need(
      ChildProcess::Start({.name = "etcd", .arguments = std::move(arguments), .log_path = directory_->File("log")}));
  const std::unique_ptr<EtcdApi> api = NewApi();
  const Timestamp deadline = SteadyNow() + kPatience;
  while (!api->Read(EtcdRead("/")).ok()) {
    if (!process_->running() || SteadyNow() >= deadline) {
      throw std::runtime_error(absl::StrCat("expected ", kProgram, " of Debian's package etcd-server to answer at ",
                                            url_, "; the end of its log:\n", process_->LogTail(kShownLogLines)));
    }
    absl::SleepFor(kPollInterval);
  }
}

}  // namespace banyan
