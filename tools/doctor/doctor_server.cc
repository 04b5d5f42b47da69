#include "tools/doctor/doctor_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "tools/doctor/path_checks.h"
#include "tools/doctor/site_report.h"
#include "tools/doctor/tcp_address.h"

namespace banyan {
namespace {

constexpr absl::Duration kBlockTimeout = absl::Minutes(1);
constexpr absl::Duration kSendTimeout = absl::Seconds(10);

// Returns the size that `line` asks for after `word`; nothing unless it asks so.
std::optional<int64_t> BlockOf(absl::string_view line, absl::string_view word) {
  int64_t bytes = 0;
  if (!absl::ConsumePrefix(&line, word) || !absl::SimpleAtoi(line, &bytes)) return std::nullopt;
  return bytes >= 0 && bytes <= DoctorServer::kMostBlockBytes ? std::optional(bytes) : std::nullopt;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DoctorServer>> DoctorServer::Start(Options options) {
  const absl::StatusOr<std::vector<TcpAddress>> addresses = LookUp(options.listen);
  if (!addresses.ok()) return addresses.status();
  std::unique_ptr<DoctorServer> server(new DoctorServer(std::move(options)));
  absl::Status fault;
  for (const TcpAddress& address : *addresses) {
    absl::StatusOr<FileDescriptor> listener = ListenOnTcp(address);
    if (absl::IsAlreadyExists(listener.status())) return listener.status();
    // As daemons do: one address is enough, of a name or of families that this kernel may not have.
    fault.Update(listener.status());
    if (!listener.ok()) continue;
    server->listeners_.push_back(*std::move(listener));
    // It takes both families.
    if (address.Host() == "::") break;
  }
  if (server->listeners_.empty()) return fault;
  server->stop_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  server->acceptor_ = std::thread([raw = server.get()] { raw->Accept(); });
  return server;
}

DoctorServer::~DoctorServer() {
  if (!acceptor_.joinable()) return;
  eventfd_write(stop_.get(), 1);
  acceptor_.join();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [id, caller] : callers_) {
      if (caller.fd >= 0) shutdown(caller.fd, SHUT_RDWR);
    }
  }
  // Nobody adds callers any more.
  for (auto& [id, caller] : callers_) caller.thread.join();
}

void DoctorServer::Accept() {
  std::vector<pollfd> wanted = {{stop_.get(), POLLIN, 0}};
  for (const FileDescriptor& listener : listeners_) wanted.push_back({listener.get(), POLLIN, 0});
  while (poll(wanted.data(), wanted.size(), -1) > 0 && wanted[0].revents == 0) {
    for (size_t i = 1; i < wanted.size(); ++i) {
      if (wanted[i].revents == 0) continue;
      FileDescriptor socket(accept4(wanted[i].fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (socket.valid()) Take(std::move(socket));
    }
  }
}

void DoctorServer::Take(FileDescriptor socket) {
  Sweep();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (callers_.size() >= kMostCallers) return;
  const uint64_t id = next_caller_++;
  Caller& caller = callers_[id];
  caller.fd = socket.get();
  caller.thread =
      std::thread([this, id, stream = DoctorStream(std::move(socket))]() mutable { Serve(id, std::move(stream)); });
}

void DoctorServer::Sweep() {
  std::vector<std::thread> gone;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto caller = callers_.begin(); caller != callers_.end();) {
      if (caller->second.fd < 0) gone.push_back(std::move(caller->second.thread));
      caller = caller->second.fd < 0 ? callers_.erase(caller) : std::next(caller);
    }
  }
  for (std::thread& thread : gone) thread.join();
}

void DoctorServer::Serve(uint64_t id, DoctorStream stream) {
  std::string caller;
  absl::Status status = stream.Send(
      absl::StrCat(kDoctorGreeting, " ", options_.name, " ", OtherEnd(stream.fd()).Text(), "\n"), kSendTimeout);
  while (status.ok()) {
    const absl::StatusOr<std::string> line = stream.ReceiveLine(kPatience);
    status = line.ok() ? Answer(*line, caller, stream) : line.status();
  }
  // Its number may be another's once the stream has closed it.
  const std::lock_guard<std::mutex> lock(mutex_);
  callers_.at(id).fd = -1;
  if (options_.addresses.contains(caller)) visitors_.insert(caller);
  visited_.notify_all();
}

template <typename IsDone>
void DoctorServer::Await(const std::set<std::string>& names, const Deadlines& deadlines, IsDone is_done) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto all = [&](bool with_absent) {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return is_done(name) || (!with_absent && !present_.contains(name));
    });
  };
  if (visited_.wait_until(lock, absl::ToChronoTime(deadlines.absent), [&] { return all(true); })) return;
  visited_.wait_until(lock, absl::ToChronoTime(deadlines.present), [&] { return all(false); });
}

void DoctorServer::NotePresent(const std::string& site) {
  const std::lock_guard<std::mutex> lock(mutex_);
  present_.insert(site);
  visited_.notify_all();
}

void DoctorServer::AwaitVisitors(const std::set<std::string>& names, const Deadlines& deadlines) {
  Await(names, deadlines, [this](const std::string& name) { return visitors_.contains(name); });
}

std::map<std::string, CheckResults> DoctorServer::AwaitReports(const std::set<std::string>& names,
                                                               const Deadlines& deadlines) {
  Await(names, deadlines, [this](const std::string& name) { return reports_.contains(name); });
  const std::lock_guard<std::mutex> lock(mutex_);
  return reports_;
}

absl::Status DoctorServer::TakeReport(int64_t size_bytes, const std::string& caller, DoctorStream& stream) {
  if (size_bytes > kMostReportBytes || !options_.addresses.contains(caller)) {
    return absl::InvalidArgumentError("no report of a site that the overlay has");
  }
  const absl::StatusOr<std::string> text = stream.ReceiveText(size_bytes, kBlockTimeout);
  if (!text.ok()) return text.status();
  absl::StatusOr<CheckResults> report = DecodeReport(*text);
  if (!report.ok()) return report.status();
  // First: who has waited for the report may end this.
  const absl::Status sent = stream.Send("reported\n", kSendTimeout);
  const std::lock_guard<std::mutex> lock(mutex_);
  reports_[caller] = *std::move(report);
  visited_.notify_all();
  return sent;
}

absl::Status DoctorServer::Answer(const std::string& line, std::string& caller, DoctorStream& stream) {
  const auto say = [&stream](absl::string_view answer) {
    return stream.Send(absl::StrCat(answer, "\n"), kSendTimeout);
  };
  absl::string_view name = line;
  if (absl::ConsumePrefix(&name, kDoctorGreeting) && absl::ConsumePrefix(&name, " ") && !name.empty()) {
    caller = std::string(name);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (options_.addresses.contains(caller)) present_.insert(caller);
    return absl::OkStatus();
  }
  if (caller.empty()) return absl::InvalidArgumentError("no doctor: it has not said its name");
  if (line == "time") return say(absl::StrCat("time ", absl::GetCurrentTimeNanos()));
  if (line == "call") return say(absl::StrCat("called ", CallBack(caller)));
  if (const std::optional<int64_t> bytes = BlockOf(line, "take "); bytes.has_value()) {
    if (const absl::Status status = stream.ReceiveBlock(*bytes, kBlockTimeout); !status.ok()) return status;
    return say(absl::StrCat("taken ", *bytes));
  }
  if (const std::optional<int64_t> bytes = BlockOf(line, "give "); bytes.has_value()) {
    if (const absl::Status status = say(absl::StrCat("giving ", *bytes)); !status.ok()) return status;
    return stream.SendBlock(*bytes, kBlockTimeout);
  }
  if (const std::optional<int64_t> bytes = BlockOf(line, "report "); bytes.has_value()) {
    return TakeReport(*bytes, caller, stream);
  }
  return absl::InvalidArgumentError("a line that doctors do not say");
}

std::string DoctorServer::CallBack(const std::string& name) const {
  const auto known = options_.addresses.find(name);
  if (known == options_.addresses.end()) return absl::StrCat("the overlay of ", options_.name, " has no ", name);
  const absl::StatusOr<std::vector<TcpAddress>> addresses = LookUp(known->second);
  if (!addresses.ok()) return std::string(addresses.status().message());
  std::string why;
  for (const TcpAddress& address : *addresses) {
    const absl::StatusOr<FileDescriptor> socket = ConnectTcp(address, kCallTimeout);
    if (socket.ok()) return kCanCall;
    why = std::string(socket.status().message());
  }
  return why;
}

}  // namespace banyan
