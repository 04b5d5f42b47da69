#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "access/key_file.h"
#include "posix/process_limits.h"
#include "proto/access_list.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/keygen/job_keys.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/overlay/yaml_reader.h"

namespace banyan {
namespace {

struct KeygenFlags {
  std::string target;  // a name, or a folder with --all
  std::string overlay;
  std::string folder = ".";
  std::string scheduler_key;
};

CommandLine MakeCommandLine(KeygenFlags& flags) {
  CommandLine line(
      "banyan keygen",
      "Makes the secret key NAME.key of a node, a scheduler, an operator or an observer, and prints the line\n"
      "of the overlay that lists it. With --all it makes those of a whole job, in a folder NAME, and an overlay\n"
      "that lists them. Each file is readable by its owner alone: copy it to its machine over a secure channel, such "
      "as scp.",
      "banyan keygen --all overlay.yaml keys");
  line.Positional("NAME", "whose key it is; with --all the folder for the files, made where there is none",
                  &flags.target);
  line.Text("all", "OVERLAY.yaml", "make the keys of the scheduler and all nodes, of one operator and one observer",
            &flags.overlay);
  line.Text("dir", "DIRECTORY", "where to write NAME.key (default: here)", &flags.folder);
  line.FormerName("dir", "folder");
  line.Text("scheduler-key", "KEY", "the public key of the schedulers, to be noted in the file", &flags.scheduler_key);
  line.Exclude("all", "dir");
  line.Exclude("all", "scheduler-key");
  return line;
}

absl::Status MakeOne(const KeygenFlags& flags, std::ostream& out) {
  KeyFile file{MakeCurveKeys(), {}};
  if (!flags.scheduler_key.empty()) file.scheduler_keys.push_back(flags.scheduler_key);
  const std::string path = absl::StrCat(flags.folder, "/", flags.target, ".key");
  if (absl::Status status = WriteKeyFile(path, file, flags.target); !status.ok()) return status;
  out << "public_key: '" << file.keys.public_key << "'\n";
  return absl::OkStatus();
}

absl::Status MakeAll(const KeygenFlags& flags, std::ostream& out) {
  const absl::StatusOr<std::string> text = ReadOverlayText(flags.overlay);
  if (!text.ok()) return text.status();
  const absl::StatusOr<std::string> path = MakeJobKeys(*text, flags.overlay, flags.target);
  if (!path.ok()) return path.status();
  out << "wrote " << *path << ", and beside it the secret key of each process that it lists, such as " << flags.target
      << "/scheduler.key; copy each to its machine alone, over a secure channel such as scp\n";
  return absl::OkStatus();
}

}  // namespace

int KeygenCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  KeygenFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.overlay.empty() && !IsName(flags.target)) {
    return line.UsageError(absl::StrCat("NAME: expected ", kNameRule, ", got '", flags.target, "'"), err);
  }
  if (!flags.scheduler_key.empty() && !IsKeyText(flags.scheduler_key)) {
    return line.UsageError("--scheduler-key: expected 40 characters of Z85", err);
  }
  KeepMemorySecret();
  const absl::Status status = flags.overlay.empty() ? MakeOne(flags, out) : MakeAll(flags, out);
  return status.ok() ? kExitSuccess : line.Failure(status, err);
}

}  // namespace banyan
