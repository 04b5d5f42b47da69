#include "wan/wan_client.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "posix/unix_socket.h"
#include "wan/control_server.h"

namespace banyan {
namespace {

// A forwarder answers within milliseconds, unless somebody has stopped it.
constexpr time_t kPatienceSeconds = 2;

}  // namespace

absl::StatusOr<WanStatus> WanClient::Status() const {
  const absl::StatusOr<std::string> json = StatusJson();
  if (!json.ok()) return json.status();
  return ParseWanStatus(*json);
}

absl::StatusOr<std::string> WanClient::StatusJson() const {
  absl::StatusOr<Answer> answer = Ask("status");
  if (!answer.ok()) return answer.status();
  return std::move(answer->text);
}

absl::Status WanClient::SetRate(absl::string_view from, absl::string_view to, double rate_bps) const {
  return Ask(absl::StrCat("rate ", from, " ", to, " ", rate_bps)).status();
}

absl::Status WanClient::Cut(absl::string_view from, absl::string_view to) const {
  return Ask(absl::StrCat("cut ", from, " ", to)).status();
}

absl::Status WanClient::Heal(absl::string_view from, absl::string_view to) const {
  return Ask(absl::StrCat("heal ", from, " ", to)).status();
}

absl::StatusOr<FileDescriptor> WanClient::OpenNamespace(absl::string_view node) const {
  return AskForFile(absl::StrCat("namespace ", node));
}

absl::StatusOr<FileDescriptor> WanClient::OpenUserNamespace() const { return AskForFile("user-namespace"); }

absl::Status WanClient::Stop() const { return Ask("stop").status(); }

absl::StatusOr<WanClient::Answer> WanClient::Ask(const std::string& request) const {
  absl::StatusOr<FileDescriptor> socket = ConnectToUnix(directory_.socket_path());
  if (!socket.ok()) return Explain(socket.status());
  const timeval patience = {kPatienceSeconds, 0};
  setsockopt(socket->get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (SendPacket(socket->get(), request, -1, /*may_block=*/true) != PacketResult::kDone) {
    return Explain(absl::UnavailableError("it does not listen"));
  }
  Answer answer;
  Packet packet;
  while (ReceivePacket(socket->get(), kControlPacketBytes, /*may_block=*/true, packet) == PacketResult::kDone) {
    answer.text += packet.bytes;
    if (packet.file.valid()) answer.file = std::move(packet.file);
  }
  absl::string_view text = answer.text;
  if (absl::ConsumePrefix(&text, kControlError)) return absl::InvalidArgumentError(text);
  if (!absl::ConsumePrefix(&text, kControlOk)) return Explain(absl::UnavailableError("it gave no answer"));
  answer.text.erase(0, kControlOk.size());
  return answer;
}

absl::StatusOr<FileDescriptor> WanClient::AskForFile(const std::string& request) const {
  absl::StatusOr<Answer> answer = Ask(request);
  if (!answer.ok()) return answer.status();
  if (!answer->file.valid())
    return absl::InternalError(absl::StrCat("the answer to '", request, "' has no descriptor"));
  return std::move(answer->file);
}

// Why nobody answers.
absl::Status WanClient::Explain(const absl::Status& failure) const {
  if (directory_.IsLocked()) {
    return absl::UnavailableError(
        absl::StrCat("the forwarder in ", directory_.path(), " runs but does not answer: ", failure.message()));
  }
  const absl::StatusOr<std::optional<WanStatus>> state = directory_.ReadState();
  if (state.ok() && state->has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the forwarder of ", (*state)->overlay, " (process ", (*state)->pid,
                     ") has died, and the devices of its nodes with it; remove what is left: banyan wan down"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("no emulated WAN runs (in ", directory_.path(), "); start one: banyan wan up OVERLAY.yaml"));
}

}  // namespace banyan
