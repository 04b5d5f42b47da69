#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/quantity.h"
#include "posix/program_path.h"
#include "posix/stop_signals.h"
#include "posix/work_directory.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/demo/demo_dashboard.h"
#include "tools/demo/demo_job.h"
#include "tools/demo/demo_network.h"
#include "tools/demo/demo_network_state.h"
#include "tools/demo/demo_overlay.h"
#include "tools/demo/demo_page.h"
#include "tools/demo/demo_progress.h"
#include "tools/flag_values.h"
#include "tools/reports/training_progress.h"
#include "tools/supervision/running_job.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

struct DemoResult {
  DemoProgress progress;
  DemoNetworkState network;
};

constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr char kProgressFile[] = "progress.jsonl";
constexpr absl::Duration kNetworkEnds = absl::Seconds(1);
constexpr absl::Duration kWanInterval = absl::Milliseconds(500);
// Nodes report their bytes once a heartbeat.
constexpr absl::Duration kLastReports = absl::Milliseconds(2200);

std::string StateOf(const JobStatus& status) {
  if (!status.error.empty()) return absl::StrCat("the job has failed: ", status.error);
  if (!status.waiting_for.empty()) return absl::StrCat("waiting for ", absl::StrJoin(status.waiting_for, ", "));
  return "the training processes read their data and share their first parameters";
}

// One demo from its start to its end, in a network that is there: starts the job, shows its progress, stops it.
// Blocking; use from the main thread.
class DemoRun {
 public:
  DemoRun(DemoJob& job, const DemoNetwork& network, const std::string& progress_path, int nodes, int64_t rounds,
          const StopSignals& signals, DemoScreen& screen)
      : job_(job),
        network_(network),
        signals_(signals),
        screen_(screen),
        progress_file_(progress_path),
        progress_(nodes, job.worker_count(), rounds) {}

  // Until every training process has told its result.
  absl::Status Train() {
    while (!progress_.all_finished()) {
      if (signals_.received()) return absl::CancelledError("interrupted");
      if (absl::Status status = TakeProgress(); !status.ok()) return status;
      if (absl::Status status = Tend(); !status.ok()) return status;
      LookAround();
      screen_.Update(progress_, network_state_, state_, Elapsed());
    }
    return absl::OkStatus();
  }

  // The bytes that went over the links until the end.
  void TakeLastReports() {
    const absl::Time deadline = absl::Now() + kLastReports;
    while (absl::Now() < deadline && !signals_.received()) {
      absl::SleepFor(kTick);
      LookAround();
    }
    screen_.Finish(progress_, network_state_, Elapsed());
  }

  DemoResult TakeResult() { return {std::move(progress_), std::move(network_state_)}; }

 private:
  // Processes end without the network too. Its devices vanish a little before its own process has ended.
  absl::Status Tend() {
    const absl::Status job = job_.Tend();
    const absl::Status network = network_.Check(job.ok() ? absl::ZeroDuration() : kNetworkEnds);
    if (!network.ok()) return network;
    progress_.SetProcesses(job_.failed_processes());
    return job;
  }

  absl::Duration Elapsed() const { return absl::Now() - started_; }

  absl::Status TakeProgress() {
    absl::StatusOr<std::vector<TrainingProgress>> taken = job_.TakeProgress(signals_.fd(), kTick);
    if (!taken.ok()) return taken.status();
    for (const TrainingProgress& progress : *taken) {
      progress_file_ << FormatProgress(progress) << "\n";
      if (absl::Status status = progress_.Add(progress); !status.ok()) return status;
    }
    progress_file_.flush();
    // After the last that they have told.
    for (const int rank : job_.TakeLostWorkers()) progress_.Lose(rank);
    return absl::OkStatus();
  }

  void LookAround() {
    if (const std::optional<JobStatus> status = job_.TakeStatus(); status.has_value()) {
      state_ = StateOf(*status);
      network_state_.Add(*status, Elapsed());
    }
    if (Elapsed() < next_wan_look_) return;
    next_wan_look_ = Elapsed() + kWanInterval;
    if (const std::optional<WanStatus> wan = network_.TakeWanStatus(); wan.has_value()) {
      network_state_.Add(*wan, Elapsed());
    }
  }

  DemoJob& job_;
  const DemoNetwork& network_;
  const StopSignals& signals_;
  DemoScreen& screen_;
  std::ofstream progress_file_;  // for those who watch the demo from outside
  DemoProgress progress_;
  DemoNetworkState network_state_;
  const absl::Time started_ = absl::Now();
  absl::Duration next_wan_look_;
  std::string state_ = "waiting for the scheduler";
};

// Makes the demo known to others as long as it lives.
class Announcement {
 public:
  explicit Announcement(const RunningJob& job) : directory_(job.directory), status_(WriteRunningJob(job)) {}
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;
  ~Announcement() { RemoveRunningJob(directory_); }
  const absl::Status& status() const { return status_; }

 private:
  const std::string directory_;
  const absl::Status status_;
};

// Returns a demo as `banyan chaos` sees it.
RunningJob DemoAsRunningJob(const DemoJobOptions& options, const DemoNetwork& network, const WorkDirectory& directory) {
  return {.directory = directory.path(),
          .pid = getpid(),
          .wan_directory = network.wan_directory(),
          .progress_path = directory.File(kProgressFile),
          .lost_after = options.lost_after};
}

// Returns what the training has come to. CANCELLED when a signal has ended it; UNAVAILABLE, with the end of its log,
// when a process failed again and again. The directory has what `banyan chaos` looks for meanwhile. Nothing that it
// started runs any more when it returns.
absl::StatusOr<DemoResult> RunDemo(const DemoJobOptions& options, int64_t rounds, const StopSignals& signals,
                                   const DemoNetwork& network, const WorkDirectory& directory, DemoScreen& screen) {
  const RunningJob running = DemoAsRunningJob(options, network, directory);
  const Announcement announcement(running);
  if (!announcement.status().ok()) return announcement.status();
  absl::StatusOr<std::unique_ptr<DemoJob>> job = DemoJob::Start(options, network, directory);
  if (!job.ok()) return job.status();
  DemoRun run(**job, network, running.progress_path, static_cast<int>(options.nodes.size()), rounds, signals, screen);
  if (absl::Status status = run.Train(); !status.ok()) return status;
  run.TakeLastReports();
  if (absl::Status status = (*job)->Stop(); !status.ok()) return status;
  return run.TakeResult();
}

// Starts the desktop's browser (xdg-open), and does not wait for it. NOT_FOUND where there is no such program.
absl::Status OpenBrowser(const std::string& url) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const auto forget_actions = absl::MakeCleanup([&actions] { posix_spawn_file_actions_destroy(&actions); });
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  // It is to outlive Ctrl-C here, and to hear its own signals.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const auto forget_attributes = absl::MakeCleanup([&attributes] { posix_spawnattr_destroy(&attributes); });
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::string program = "xdg-open";
  std::string argument = url;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, program.c_str(), &actions, &attributes, arguments, environ);
  if (error == 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("cannot start a browser by xdg-open (Debian: xdg-utils): ",
                                          std::strerror(error), "; open the page's address yourself"));
}

constexpr int64_t kMaxRounds = 1000000;
constexpr int64_t kMaxBatch = 1000;
constexpr int64_t kMaxHidden = 100000;
constexpr double kMaxSeconds = 1e6;
constexpr double kRedrawSeconds = 30;
constexpr double kLeastLostAfterSeconds = 0.1;
constexpr double kMostLostAfterSeconds = 3600;
// The default training reaches 0.87.
constexpr double kLeastAccuracy = 0.8;
constexpr char kAuto[] = "auto";
constexpr char kAdam[] = "adam";
constexpr char kNodeAdam[] = "node-adam";
// A node has no schedule: the rate with which replicas end up well without one.
constexpr char kNodeAdamYaml[] = "\naggregation: {op: adam, learning_rate: 0.002}\n";
constexpr char kWan[] = "wan";
constexpr char kLoopback[] = "loopback";

struct DemoFlags {
  std::string overlay;  // empty: the built-in one
  std::string network = kAuto;
  std::string compression;
  std::string optimizer = kAdam;
  int64_t local_steps = 0;     // 0: gradients of each step go to all others
  double redraw_seconds = -1;  // below 0: kRedrawSeconds
  int64_t rounds = 350;
  int64_t batch = 24;
  int64_t hidden = 512;
  int64_t seed = 1;
  std::optional<double> least_accuracy;
  double lost_after_seconds = 0;  // 0: the overlay's
  bool open = false;
  bool json = false;
  bool keep_logs = false;
};

absl::Status ReadPart(absl::string_view text, std::optional<double>& part) {
  const std::optional<double> value = ParseDecimal(text);
  if (!value.has_value() || *value < 0 || *value > 1) {
    return absl::InvalidArgumentError(absl::StrCat("expected a number from 0 to 1, got '", text, "'"));
  }
  part = value;
  return absl::OkStatus();
}

// Returns what was asked for, else what the training reaches safely. Of smaller models, fewer images, other optimizers
// and compression nothing is promised.
double LeastAccuracy(const DemoFlags& flags) {
  if (flags.least_accuracy.has_value()) return *flags.least_accuracy;
  const DemoFlags defaults;
  const bool is_promised = flags.overlay.empty() && flags.compression.empty() && flags.local_steps == 0 &&
                           flags.optimizer == defaults.optimizer && flags.rounds >= defaults.rounds &&
                           flags.batch >= defaults.batch && flags.hidden >= defaults.hidden;
  return is_promised ? kLeastAccuracy : 0;
}

CommandLine MakeCommandLine(DemoFlags& flags) {
  CommandLine line(
      "banyan demo",
      "Nine data centres train one network on Fashion-MNIST, on this machine: a scheduler, nine nodes and nine\n"
      "training processes on an emulated WAN whose rates change, or over loopback where the system allows no\n"
      "emulated WAN. A process that dies is restarted: try `banyan chaos` in another terminal. Ends with one line that "
      "says whether "
      "all\n"
      "replicas are identical, and fails where they are not or where they have learned too little.",
      "banyan demo --rounds 200 --redraw-interval 60s");
  line.Text("overlay", "FILE", "nodes and links of another demo (default: built in, nine nodes of Internet2)",
            &flags.overlay);
  line.Choice("network", {kAuto, kWan, kLoopback}, "auto: the emulated WAN where the system allows it (default)",
              &flags.network);
  line.Time("redraw-interval", "TIME",
            absl::StrCat("change all rates of the emulated WAN at random this often, between ", RateRange().ToString(),
                         " Mbit/s (default ", kRedrawSeconds, "; 0: never)"),
            absl::Seconds(1), 0, kMaxSeconds, &flags.redraw_seconds);
  line.FormerName("redraw-interval", "redraw-seconds");
  line.Text("compression", "YAML",
            "what overlay.yaml has under `compression`, such as {codec: topk, controller: netsense}",
            &flags.compression);
  line.Integer("local-steps", "N", "steps that each process trains alone in a round (DiLoCo)", 1, kMaxRounds,
               &flags.local_steps);
  line.Choice("optimizer", {kAdam, kNodeAdam, "momentum", "sgd"},
              "adam of each replica (default), adam that every node runs, momentum of each process, or none",
              &flags.optimizer);
  line.Integer("rounds", "N", "steps of training (default 350)", 1, kMaxRounds, &flags.rounds);
  line.Integer("batch", "N", "images per step and process (default 24)", 1, kMaxBatch, &flags.batch);
  line.Integer("hidden", "N", "neurons of the model's hidden layer, 3.2 KB each in every round (default 512)", 1,
               kMaxHidden, &flags.hidden);
  line.Integer("seed", "N", "of the order of images, of losses and of rates (default 1)", 0, kMaxRounds, &flags.seed);
  line.Custom("least-accuracy", "PART",
              absl::StrCat("fail below this part of the test images (default ", kLeastAccuracy,
                           " for the default training or more rounds of it, otherwise 0)"),
              [&flags](absl::string_view text) { return ReadPart(text, flags.least_accuracy); });
  line.Time("lost-after", "S", "silence after which a node falls out (default: the overlay's, or 30)", absl::Seconds(1),
            kLeastLostAfterSeconds, kMostLostAfterSeconds, &flags.lost_after_seconds);
  line.Switch("open", "open the dashboard in a browser", &flags.open);
  line.Switch("json", "print the result as JSON", &flags.json);
  line.Switch("keep-logs", "keep the directory with overlay and logs", &flags.keep_logs);
  return line;
}

absl::StatusOr<std::string> ReadOverlay(const std::string& path) {
  if (path.empty()) return std::string(DefaultDemoOverlay());
  return ReadOverlayText(path);
}

absl::StatusOr<DemoJobOptions> MakeJobOptions(const DemoFlags& flags) {
  DemoJobOptions options;
  absl::StatusOr<std::string> overlay = ReadOverlay(flags.overlay);
  if (!overlay.ok()) return overlay.status();
  options.overlay = *std::move(overlay);
  std::string name = flags.overlay.empty() ? "the demo's overlay" : flags.overlay;
  if (!flags.compression.empty()) {
    absl::StrAppend(&options.overlay, "\ncompression: ", flags.compression, "\n");
    name += " with --compression";
  }
  absl::StatusOr<std::vector<DemoNode>> nodes = ReadDemoNodes(options.overlay, name);
  if (!nodes.ok()) return nodes.status();
  options.nodes = *std::move(nodes);
  if (flags.optimizer == kNodeAdam) options.overlay += kNodeAdamYaml;
  if (flags.lost_after_seconds > 0) {
    options.overlay = FillLostAfter(options.overlay, absl::Seconds(flags.lost_after_seconds));
  }
  options.lost_after = LostAfterOf(options.overlay);
  absl::StatusOr<std::string> banyan = OwnProgram();
  if (!banyan.ok()) return banyan.status();
  options.banyan_program = *std::move(banyan);
  absl::StatusOr<std::string> trainer = FindProgram("examples/fashion_mnist/trainer");
  if (!trainer.ok()) return trainer.status();
  options.trainer_program = *std::move(trainer);
  options.trainer_arguments = {absl::StrCat("--rounds=", flags.rounds), absl::StrCat("--batch=", flags.batch),
                               absl::StrCat("--hidden=", flags.hidden), absl::StrCat("--seed=", flags.seed),
                               absl::StrCat("--optimizer=", flags.optimizer)};
  if (flags.local_steps > 0) options.trainer_arguments.push_back(absl::StrCat("--local-steps=", flags.local_steps));
  return options;
}

absl::StatusOr<std::unique_ptr<DemoNetwork>> StartWan(const DemoFlags& flags, const DemoJobOptions& job,
                                                      const WorkDirectory& directory) {
  DemoWanOptions options;
  options.banyan_program = job.banyan_program;
  options.overlay = job.overlay;
  options.overlay_name = flags.overlay;
  options.seed = flags.seed;
  options.redraw_seconds = flags.redraw_seconds;
  return DemoNetwork::OnWan(options, directory);
}

std::string DescribeWan(const DemoFlags& flags, size_t nodes) {
  std::string text = absl::StrCat(nodes, " nodes on an emulated WAN, ");
  return text + (flags.redraw_seconds > 0 ? absl::StrCat("with new random rates every ", flags.redraw_seconds,
                                                         " s between ", RateRange().ToString(), " Mbit/s")
                                          : "its rates as in the overlay");
}

std::string OneLine(absl::string_view text) {
  return absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty()), " ");
}

absl::StatusOr<std::unique_ptr<DemoNetwork>> OpenNetwork(const DemoFlags& flags, const DemoJobOptions& job,
                                                         const WorkDirectory& directory, std::ostream& err) {
  if (flags.network != kLoopback) {
    absl::StatusOr<std::unique_ptr<DemoNetwork>> wan = StartWan(flags, job, directory);
    if (wan.ok()) err << DescribeWan(flags, job.nodes.size()) << std::endl;
    if (wan.ok() || flags.network == kWan) return wan;
    err << "loopback instead of an emulated WAN: " << OneLine(wan.status().message()) << std::endl;
  }
  err << job.nodes.size()
      << " nodes over loopback, whose links are not shaped: times are this machine's, not a wide-area network's"
      << std::endl;
  return DemoNetwork::OnLoopback(job.nodes.size());
}

// The demo goes on without a page, and without a browser.
std::unique_ptr<DemoPage> ServePage(const DemoFlags& flags, const RunningJob& job, const std::string& banyan_program,
                                    std::ostream& err) {
  absl::StatusOr<std::unique_ptr<DemoPage>> page = DemoPage::Serve(job, banyan_program);
  if (!page.ok()) {
    err << "no page of the job: " << OneLine(page.status().message()) << std::endl;
    return nullptr;
  }
  err << "the dashboard, where you can kill nodes and block links: " << (*page)->url() << std::endl;
  if (!flags.open) return *std::move(page);
  if (const absl::Status status = OpenBrowser((*page)->url()); !status.ok()) err << status.message() << std::endl;
  return *std::move(page);
}

absl::StatusOr<DemoResult> StartAndWatch(const DemoFlags& flags, std::ostream& err) {
  const StopSignals signals;
  absl::StatusOr<DemoJobOptions> options = MakeJobOptions(flags);
  if (!options.ok()) return options.status();
  absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-demo");
  if (!directory.ok()) return directory.status();
  if (flags.keep_logs) {
    (*directory)->Keep();
    err << "logs are in " << (*directory)->path() << std::endl;
  }
  const absl::StatusOr<std::unique_ptr<DemoNetwork>> network = OpenNetwork(flags, *options, **directory, err);
  if (!network.ok()) return network.status();
  const RunningJob running = DemoAsRunningJob(*options, **network, **directory);
  const std::unique_ptr<DemoPage> page = ServePage(flags, running, options->banyan_program, err);
  if (page != nullptr) options->on_status = [&page](const JobStatus& job) { page->Take(job); };
  DemoScreen screen(err, TerminalWidth(STDERR_FILENO));
  return RunDemo(*options, flags.rounds, signals, **network, **directory, screen);
}

}  // namespace

int DemoCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err) {
  DemoFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (flags.network == kLoopback && flags.redraw_seconds > 0) {
    return line.UsageError("--redraw-interval has no effect with --network loopback, whose links have no rates", err);
  }
  if (flags.redraw_seconds < 0) flags.redraw_seconds = kRedrawSeconds;
  const absl::StatusOr<DemoResult> result = StartAndWatch(flags, err);
  if (!result.ok()) return line.Failure(result.status(), err);
  out << (flags.json ? SummaryJson(result->progress, result->network) : SummaryLine(result->progress, result->network))
      << "\n";
  const absl::Status status = CheckTraining(result->progress, LeastAccuracy(flags));
  if (!status.ok()) return line.Failure(status, err);
  err << "next: `banyan local --sites 3 -- python3 train.py` trains your own script at three sites of this machine "
         "(docs/tutorial.md)"
      << std::endl;
  return kExitSuccess;
}

}  // namespace banyan
