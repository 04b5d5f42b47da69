// The functions of banyan.h on nodes inside this process.
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/c_api/banyan.h"
#include "runtime/c_api/c_values.h"
#include "runtime/c_api/session_handle.h"
#include "runtime/local_node.h"
#include "runtime/session/session.h"

using banyan::DurationOf;
using banyan::LocalNode;
using banyan::LocalNodeOptions;
using banyan::ReadSized;
using banyan::Report;
using banyan::ReportMissing;
using banyan::Session;
using banyan::SessionHandle;

struct banyan_node {
  std::unique_ptr<LocalNode> node;
};

namespace {

// Of LocalNodeOptions::log's levels, as sd-daemon(3) has them.
const char* PrefixOf(int level) {
  constexpr const char* kPrefixes[] = {"<7>", "<6>", "<4>", "<3>"};
  return kPrefixes[level];
}

// A line that the descriptor does not take at once is lost: the node waits for no reader.
void WriteLine(int descriptor, absl::string_view prefix, absl::string_view line) {
  const std::string text = absl::StrCat(prefix, line, "\n");
  (void)!write(descriptor, text.data(), text.size());
}

LocalNodeOptions OptionsOf(const banyan_node_options& given) {
  LocalNodeOptions options = {.name = given.name, .scheduler = given.scheduler};
  if (given.job != nullptr) options.job = given.job;
  if (given.listen != nullptr) options.listen = given.listen;
  if (given.advertise != nullptr) options.advertise = given.advertise;
  if (given.worker_socket != nullptr) options.worker_socket = given.worker_socket;
  if (given.key_file != nullptr) options.key_file = given.key_file;
  if (given.scheduler_key != nullptr) options.scheduler_key = given.scheduler_key;
  options.insecure = given.insecure != 0;
  if (given.compute_threads > 0) options.compute_threads = given.compute_threads;
  if (given.log_descriptor > 0) {
    options.log = [descriptor = given.log_descriptor, with_level = given.log_levels != 0](int level,
                                                                                          absl::string_view line) {
      WriteLine(descriptor, with_level ? PrefixOf(level) : "", line);
    };
  }
  return options;
}

}  // namespace

extern "C" {

int banyan_node_start(const banyan_node_options* options, banyan_node** node) {
  const absl::StatusOr<banyan_node_options> read = ReadSized(options, "banyan_node_options");
  if (!read.ok()) return Report(read.status());
  if (read->name == nullptr || read->scheduler == nullptr || node == nullptr) {
    return ReportMissing(__func__, "options->name, options->scheduler and node");
  }
  absl::StatusOr<std::unique_ptr<LocalNode>> started = LocalNode::Start(OptionsOf(*read));
  if (!started.ok()) return Report(started.status());
  *node = new banyan_node{*std::move(started)};
  return BANYAN_OK;
}

int banyan_node_open_session(banyan_node* node, const banyan_session_options* options, banyan_session** session) {
  const absl::StatusOr<banyan_session_options> read = ReadSized(options, "banyan_session_options");
  if (!read.ok()) return Report(read.status());
  if (node == nullptr || session == nullptr) return ReportMissing(__func__, "node and session");
  const absl::Duration open = read->open_seconds == 0 ? absl::Seconds(60) : DurationOf(read->open_seconds);
  const absl::Duration room = read->room_seconds == 0 ? absl::InfiniteDuration() : DurationOf(read->room_seconds);
  absl::StatusOr<std::unique_ptr<Session>> opened = node->node->OpenSession(read->worker, open, room);
  if (!opened.ok()) return Report(opened.status());
  *session = new banyan_session{SessionHandle(*std::move(opened))};
  return BANYAN_OK;
}

const char* banyan_node_address(const banyan_node* node) {
  return node == nullptr ? "" : node->node->address().c_str();
}

int banyan_node_stop(banyan_node* node) {
  if (node == nullptr) return ReportMissing(__func__, "a node");
  return Report(node->node->Stop());
}

void banyan_node_free(banyan_node* node) { delete node; }

}  // extern "C"
