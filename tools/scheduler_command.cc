#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "access/secret_file.h"
#include "core/version.h"
#include "posix/process_limits.h"
#include "posix/service_manager.h"
#include "posix/stop_signals.h"
#include "runtime/etcd/etcd_client.h"
#include "runtime/etcd/etcd_leadership.h"
#include "runtime/etcd/etcd_record_store.h"
#include "runtime/protocol_host.h"
#include "runtime/records/directory_record_store.h"
#include "runtime/records/durable_file.h"
#include "scheduler/job_restorer.h"
#include "scheduler/members/job_config_maker.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/state/recovered_state.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/daemon/daemon_log.h"
#include "tools/daemon/daemon_run.h"
#include "tools/daemon/scheduler_setup.h"
#include "tools/flags/shared_flags.h"
#include "tools/page/job_page.h"
#include "tools/page/operator_routes.h"
#include "tools/page/order_queue.h"
#include "tools/page/scheduler_tap.h"
#include "topology/overlay/overlay_address.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/overlay/yaml_reader.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

// Members of etcd that do not answer are given up so soon that others can be asked before a lease ends.
constexpr int kAnswersPerLease = 4;
// A megabyte over a slow link takes so long at most.
constexpr absl::Duration kStoreTimeout = absl::Seconds(3);

struct SchedulerFlags {
  std::string overlay;
  std::string listen;  // empty: the overlay's address
  std::string state_directory;
  bool forgetful = false;
  bool check = false;
  std::string port_file;
  KeyFlags keys;
  std::optional<SecurityOptions> security = std::nullopt;  // as `keys` say
  std::string token_file;
  PageAccess access = {};  // to the page
  EtcdAccess etcd = {};
  std::string overlay_text = {};  // of the file
  std::string log_level = "info";
  bool log_json = false;
  std::string report;
  bool stay = false;
  bool another = false;
};

absl::Status ReadOperatorFlag(absl::string_view text, std::vector<PageOperator>& operators) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  if (!IsName(parts.first) || parts.second.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("expected NAME=FILE with ", kNameRule, ", got '", text, "'"));
  }
  operators.push_back({std::string(parts.first), PageToken::OfFile(std::string(parts.second))});
  return absl::OkStatus();
}

absl::Status ReadEtcdUserFlag(absl::string_view text, EtcdAccess& etcd) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  if (parts.first.empty() || parts.second.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("expected NAME=FILE, got '", text, "'"));
  }
  etcd.user = parts.first;
  etcd.password = [file = parts.second]() -> absl::StatusOr<std::string> {
    absl::StatusOr<std::string> text = ReadSecretFile(file, "a password");
    if (!text.ok()) return text;
    return std::string(absl::StripTrailingAsciiWhitespace(*text));
  };
  return absl::OkStatus();
}

CommandLine MakeCommandLine(SchedulerFlags& flags) {
  CommandLine line(
      "banyan scheduler",
      "Runs the scheduler of the job that an overlay file configures: membership, keys, policies. Ends when the\n"
      "job is over and its nodes know it, and cleanly on SIGTERM, Ctrl-C and the end of its terminal (unless\n"
      "under nohup); the job goes on when it is back. With scheduler.etcd in the overlay one of several leads and\n"
      "the others stand by; one that leads no more stands by again.\n" +
          std::string(kDaemonExitCodes),
      "banyan scheduler overlay.yaml --listen tcp://127.0.0.1:7700");
  line.Positional("OVERLAY.yaml", "the job, with an address for the scheduler and every node", &flags.overlay);
  line.Text("listen", "ADDRESS", "tcp://host:port to bind, port 0 for a free one; default: the overlay's",
            &flags.listen);
  flags.keys.AddTo(line, KeyFlags::Use::kScheduler);
  line.Text("http-token", "FILE",
            "a token that readers of scheduler.http must give, in a file of mode 0600; default: anyone may read",
            &flags.token_file);
  line.Repeated("http-operator", "NAME=FILE",
                "an operator, who may reconfigure, remove and stop on the dashboard with the token in the "
                "file, of mode 0600; may be given for several; default: none",
                [&flags](absl::string_view text) { return ReadOperatorFlag(text, flags.access.operators); });
  line.Repeated("http-host", "NAME",
                "a host name under which browsers ask for the page of scheduler.http, as that of a proxy; default: "
                "addresses and this machine's name alone",
                [&flags](absl::string_view text) {
                  flags.access.hosts.emplace_back(text);
                  return absl::OkStatus();
                });
  line.Text("state-dir", "DIRECTORY",
            "keeps what must survive a restart, unless etcd does; default: ~/.local/state/banyan/JOB",
            &flags.state_directory);
  line.Custom("etcd-user", "NAME=FILE", "a user of etcd, and the file of mode 0600 that holds the password",
              [&flags](absl::string_view text) { return ReadEtcdUserFlag(text, flags.etcd); });
  line.Text("etcd-cert", "FILE", "this client's certificate for an etcd at https, in PEM", &flags.etcd.tls.certificate);
  line.Text("etcd-key", "FILE", "the secret key of --etcd-cert, in PEM", &flags.etcd.tls.key);
  line.Text("etcd-ca", "FILE",
            "the authority that signs the certificates of etcd's members, in PEM; default: the system's authorities",
            &flags.etcd.tls.authorities);
  line.Needs("etcd-cert", "etcd-key");
  line.Needs("etcd-key", "etcd-cert");
  line.Switch("forgetful", "keep nothing: when this process ends, so does the job, and all must start again",
              &flags.forgetful);
  line.Switch("stay", "when the job is over, stay until asked to end, so that `banyan status` tells how it ended",
              &flags.stay);
  line.Switch("another",
              "begin another job of the same name when the state says that the last one is over: done or stopped. Else "
              "it tells nodes so and ends with exit code 3; after a job that failed another one begins in any case",
              &flags.another);
  line.Switch("check", "read the file and plan, say what it would do, and end", &flags.check);
  for (const char* of_a_run : {"port-file", "report", "log-level", "log-json", "stay", "another"})
    line.Exclude("check", of_a_run);
  line.Text("port-file", "FILE", "gets the bound address in one line, once it can be reached", &flags.port_file);
  line.Text("report", "FILE",
            "gets the status of a job with low-bit rounds, with their audit, every 10 s and at the end; default: "
            "precision-TERM.json in the state directory",
            &flags.report);
  line.Choice("log-level", LogLevelNames(), "minimum level of the log (default info)", &flags.log_level);
  line.Switch("log-json", "log JSON objects", &flags.log_json);
  return line;
}

absl::StatusOr<OverlayConfig> LoadJob(SchedulerFlags& flags) {
  absl::StatusOr<std::string> text = ReadOverlayText(flags.overlay);
  if (!text.ok()) return text.status();
  flags.overlay_text = *std::move(text);
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(flags.overlay_text, flags.overlay);
  if (!overlay.ok()) return overlay.status();
  if (absl::Status status = ValidateForJob(*overlay); !status.ok()) return status;
  return overlay;
}

// Readers never see a part of it.
absl::Status WritePortFile(const std::string& path, const std::string& address) {
  const std::string temporary = path + ".new";
  std::ofstream file(temporary);
  file << address << "\n";
  file.close();
  if (file && std::rename(temporary.c_str(), path.c_str()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("--port-file: cannot write ", path));
}

StartId NewStartId() {
  std::random_device device;
  return StartId(uint64_t{device()} << 32 | device());
}

// Who leads, in the words that other schedulers log.
std::string LeaderName(const std::string& listen) {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, HOST_NAME_MAX);
  return absl::StrCat(listen, " (process ", getpid(), " on ", host, ")");
}

// What a scheduler needs before it runs: storage, and that it may write there. The store comes last, since it rests on
// the leadership.
struct Storage {
  std::unique_ptr<EtcdLeadership> leadership;  // none: nobody else could lead
  std::unique_ptr<RecordStore> store;          // none: nothing survives
};

// Says whether this file may go on with the job of whoever leads; false while nothing is known of that.
absl::StatusOr<bool> FitsLeader(const OverlayConfig& overlay, EtcdRecordStore& store) {
  const absl::StatusOr<StoredRecords> stored = store.Peek();
  if (!stored.ok()) return false;
  const absl::StatusOr<RecoveredState> state = ReplayStateRecords(*stored, overlay.job, NodeNames(overlay));
  absl::Status status = state.status();
  if (state.ok()) status = JobRestorer(*state).CheckSettings(overlay);
  if (absl::IsFailedPrecondition(status)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot stand by: ", status.message(), " (all schedulers of a job need the same file)"));
  }
  return state.ok() && !state->settings.empty();
}

// Waits until this process leads, if several could. CANCELLED when it was asked to end meanwhile.
absl::StatusOr<Storage> PrepareEtcd(const SchedulerFlags& flags, const OverlayConfig& overlay,
                                    const std::string& listen, const StopSignals& signals, const LogFunction& log) {
  const SchedulerConfig& config = overlay.scheduler;
  Storage storage;
  storage.leadership = std::make_unique<EtcdLeadership>(
      std::make_unique<EtcdClient>(config.etcd, config.lease / kAnswersPerLease, flags.etcd), overlay.job,
      LeaderName(listen), config.lease);
  const RecordSeal seal =
      flags.security.has_value() ? RecordSeal(flags.security->keys.secret_key, overlay.job) : RecordSeal();
  const auto new_client = [&] { return std::make_unique<EtcdClient>(config.etcd, kStoreTimeout, flags.etcd); };
  const EtcdLeadership& leadership = *storage.leadership;
  const StandbyCheck check = [&] {
    EtcdRecordStore store(new_client(), overlay.job, LeaderFence(), &leadership, seal);
    return FitsLeader(overlay, store);
  };
  // So that systemd does not wait for who stands by.
  NotifyServiceManager(CommandLine::Variable("NOTIFY_SOCKET"), "READY=1");
  if (absl::Status status = WaitForLeadership(signals, *storage.leadership, log, check); !status.ok()) return status;
  storage.store = std::make_unique<EtcdRecordStore>(new_client(), overlay.job, leadership.fence(), &leadership, seal);
  return storage;
}

absl::StatusOr<Storage> PrepareStorage(const SchedulerFlags& flags, const StatePlace& place,
                                       const OverlayConfig& overlay, const std::string& listen,
                                       const StopSignals& signals, const LogFunction& log) {
  log(place.kind == StatePlaceKind::kNowhere ? LogLevel::kWarning : LogLevel::kInfo,
      absl::StrCat("the state is kept ", place.Describe(overlay)));
  if (place.kind == StatePlaceKind::kEtcd) return PrepareEtcd(flags, overlay, listen, signals, log);
  Storage storage;
  if (place.kind == StatePlaceKind::kNowhere) return storage;
  if (const absl::Status made = MakeDirectory(place.directory); !made.ok()) {
    return absl::Status(made.code(), absl::StrCat(made.message(),
                                                  "; --state-dir names another place for the state, and "
                                                  "--forgetful keeps none"));
  }
  storage.store = std::make_unique<DirectoryRecordStore>(place.directory);
  return storage;
}

absl::Status Announce(const SchedulerFlags& flags, const OverlayConfig& overlay, const std::string& address,
                      const LogFunction& log, std::ostream& out) {
  if (const std::string warning = OpenAddressWarning(address, flags.security.has_value()); !warning.empty())
    log(LogLevel::kWarning, warning);
  log(LogLevel::kInfo, absl::StrCat("banyan ", kVersion, ", job ", overlay.job, " of ", overlay.nodes.size(),
                                    " nodes, listening on ", address));
  out << "scheduler: " << address << std::endl;
  NotifyServiceManager(CommandLine::Variable("NOTIFY_SOCKET"), "READY=1");
  return flags.port_file.empty() ? absl::OkStatus() : WritePortFile(flags.port_file, address);
}

// Returns the text that the job of these records goes on under: that of its last reconfiguration, else `file`.
std::string RunningOverlay(const StoredRecords& stored, const OverlayConfig& overlay, const std::string& file) {
  const absl::StatusOr<RecoveredState> state = ReplayStateRecords(stored, overlay.job, NodeNames(overlay));
  // An error keeps the core from starting, and it says so.
  return state.ok() && state->is_running() && state->overlay.has_value() ? state->overlay->yaml : file;
}

// Runs the core on a host of its own until it stops.
absl::Status RunOn(ProtocolHost& host, const SchedulerFlags& flags, const StatePlace& place, const StopSignals& signals,
                   OverlayConfig overlay, const LogFunction& log) {
  const std::string http = overlay.scheduler.http;
  const auto requests = std::make_shared<OrderQueue>([&host] { host.Wake(); });
  SchedulerOptions options{.stored = host.TakeRecords(), .start = NewStartId()};
  requests->SetOverlay(RunningOverlay(options.stored, overlay, flags.overlay_text));
  options.ends_with_job = !flags.stay;
  options.begins_another = flags.another;
  options.storage = place.Describe(overlay);
  if (!flags.security.has_value()) options.keyless_address = host.bound_address();
  absl::StatusOr<std::optional<PrecisionFiles>> precision = LoadPrecision(overlay);
  if (!precision.ok()) return precision.status();
  options.precision = *std::move(precision);
  std::optional<RunReport> report;
  if (options.precision.has_value()) report.emplace(flags.report, place, log);
  SchedulerTap::Options tap{.requests = requests};
  std::unique_ptr<JobPage> page;
  if (!http.empty()) {
    absl::StatusOr<std::unique_ptr<JobPage>> served = JobPage::Serve(http, log, flags.access, requests);
    if (!served.ok()) return served.status();
    page = *std::move(served);
  }
  if (page != nullptr || report.has_value()) {
    tap.take_status = [&page, &report](Timestamp, JobStatus status) {
      if (report.has_value()) report->Take(status);
      if (page != nullptr) page->Take(std::move(status));
    };
  }
  if (page != nullptr) tap.on_sent = [&page](const Message& message) { page->TakeTraced(message); };
  auto core = std::make_unique<SchedulerCore>(std::move(overlay), std::move(options));
  return RunUntilStopped(signals, host, WithWatchdog(std::make_unique<SchedulerTap>(std::move(core), std::move(tap))));
}

// Runs the scheduler from its election to its end, at `listen`, which becomes the address that is bound. ABORTED: this
// process leads no more. It answers nobody from then on, and knows only what is stored.
absl::Status LeadOnce(const SchedulerFlags& flags, const OverlayConfig& overlay, const StatePlace& place,
                      const StopSignals& signals, const LogFunction& log, std::string& listen, std::ostream& out) {
  absl::StatusOr<Storage> storage = PrepareStorage(flags, place, overlay, listen, signals, log);
  if (absl::IsCancelled(storage.status())) return absl::OkStatus();
  if (!storage.ok()) return storage.status();
  ProtocolHostOptions options;
  options.name = "scheduler";
  options.bind_address = listen;
  options.security = flags.security;
  options.leadership = storage->leadership.get();
  options.log = log;
  const absl::StatusOr<std::unique_ptr<ProtocolHost>> host =
      ProtocolHost::Create(std::move(options), std::move(storage->store));
  if (!host.ok()) return host.status();
  listen = (*host)->bound_address();
  if (absl::Status status = Announce(flags, overlay, listen, log, out); !status.ok()) return status;
  const absl::Status status = RunOn(**host, flags, place, signals, overlay, log);
  // What is not written yet, nobody has heard of: it must not hold up the end while etcd is away.
  if (storage->leadership != nullptr) storage->leadership->Resign();
  return status;
}

// Whoever leads no more stands by again: while etcd is away nobody can lead, and nobody needs to start again.
absl::Status RunScheduler(const SchedulerFlags& flags, const OverlayConfig& overlay, const StatePlace& place,
                          const StopSignals& signals, std::ostream& out) {
  const LogFunction log = MakeDaemonLog({.process = "scheduler",
                                         .level = flags.log_level,
                                         .json = flags.log_json,
                                         .journal = CommandLine::Variable("JOURNAL_STREAM")});
  std::string listen = flags.listen.empty() ? overlay.scheduler.address : flags.listen;
  while (true) {
    const absl::Status status = LeadOnce(flags, overlay, place, signals, log, listen, out);
    if (!absl::IsAborted(status)) return status;
    log(LogLevel::kWarning, absl::StrCat(status.message(), "; it stands by from now on"));
  }
}

void PrintFailure(const absl::Status& status, std::ostream& err) {
  err << "banyan scheduler: " << status.message() << "\n";
}

int RunScheduler(const SchedulerFlags& flags, const OverlayConfig& overlay, const StatePlace& place, std::ostream& out,
                 std::ostream& err) {
  const StopSignals signals;
  const absl::Status status = RunScheduler(flags, overlay, place, signals, out);
  if (!status.ok()) PrintFailure(status, err);
  return absl::IsAlreadyExists(status) ? kExitJobIsOver : DaemonExitCode(status, signals);
}

// Who listens beyond this machine has keys, and they are those of the overlay.
absl::Status CheckKeys(const SchedulerFlags& flags, const OverlayConfig& overlay) {
  const std::string& listed = overlay.scheduler.public_key;
  if (!flags.security.has_value()) {
    return flags.keys.CheckAddresses({flags.listen.empty() ? overlay.scheduler.address : flags.listen});
  }
  if (listed == flags.security->keys.public_key) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--key: expected the key of scheduler.public_key of ", overlay.file_name, ", ",
      listed.empty() ? "which is missing (`banyan keygen --all` writes it, --insecure goes without)" : listed,
      ", got that of ", flags.security->keys.public_key));
}

// Looks into the files of those who may use the page.
absl::Status CheckPageAccess(SchedulerFlags& flags) {
  if (!flags.token_file.empty()) flags.access.readers_token = PageToken::OfFile(flags.token_file);
  absl::Status status = flags.access.readers_token.Check();
  for (const PageOperator& named : flags.access.operators) status.Update(named.token.Check());
  if (!status.ok()) return status;
  status = CheckAccess(flags.access);
  return status.ok() ? status : absl::InvalidArgumentError(absl::StrCat("--http-operator: ", status.message()));
}

// What only the overlay and the flags together show; INVALID_ARGUMENT says what to do.
absl::StatusOr<StatePlace> CheckTogether(const SchedulerFlags& flags, const OverlayConfig& overlay,
                                         const std::string& state_home) {
  if (flags.listen.empty() && overlay.scheduler.addresses.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("expected --listen, since scheduler.addresses of ",
                                                   overlay.file_name, " names ", overlay.scheduler.addresses.size(),
                                                   " schedulers"));
  }
  if (absl::Status status = CheckKeys(flags, overlay); !status.ok()) return status;
  if (overlay.scheduler.http.empty() &&
      !(flags.token_file.empty() && flags.access.operators.empty() && flags.access.hosts.empty())) {
    return absl::InvalidArgumentError(absl::StrCat(!flags.token_file.empty()         ? "--http-token"
                                                   : !flags.access.operators.empty() ? "--http-operator"
                                                                                     : "--http-host",
                                                   ": expected scheduler.http in ", overlay.file_name));
  }
  const HttpTls& tls = flags.etcd.tls;
  const bool has_etcd_flags = !(flags.etcd.user + tls.certificate + tls.authorities).empty();
  if (overlay.scheduler.etcd.empty() && has_etcd_flags) {
    return absl::InvalidArgumentError(
        absl::StrCat("--etcd-user, --etcd-cert, --etcd-ca: expected scheduler.etcd in ", overlay.file_name));
  }
  if (flags.etcd.password) {
    KeepMemorySecret();
    if (absl::Status status = flags.etcd.password().status(); !status.ok()) return status;
  }
  if (absl::Status status = LoadPrecision(overlay).status(); !status.ok()) return status;
  return ChooseStatePlace(overlay, flags.state_directory, flags.forgetful, state_home);
}

// Says what RunScheduler would do.
absl::Status Check(const SchedulerFlags& flags, const OverlayConfig& overlay, const StatePlace& place,
                   std::ostream& out) {
  const NetworkView view = MakeNetworkView(overlay);
  absl::StatusOr<PlannerConfig> config = MakePlannerConfig(overlay, view);
  if (!config.ok()) return config.status();
  const absl::StatusOr<Policy> policy = MakePolicy(view, *config);
  if (!policy.ok()) return policy.status();
  out << "job " << overlay.job << " of " << overlay.nodes.size() << " nodes; training starts with "
      << overlay.membership.start_with.value_or(static_cast<int>(overlay.nodes.size())) << " of them\n"
      << "would listen on " << (flags.listen.empty() ? overlay.scheduler.address : flags.listen) << "\n"
      << "would keep the state " << place.Describe(overlay) << "\n"
      << "would plan " << policy->trees.size() << " trees by " << overlay.topology.planner << " for "
      << absl::StrFormat("%.1f", policy->rate_bps / 1e6) << " Mbit/s; see banyan plan " << flags.overlay << "\n";
  return absl::OkStatus();
}

}  // namespace

int SchedulerCommand(absl::Span<const std::string> arguments, const std::string& state_home, std::ostream& out,
                     std::ostream& err) {
  SchedulerFlags flags;
  const CommandLine line = MakeCommandLine(flags);
  if (const std::optional<int> code = line.Parse(arguments, out, err); code.has_value()) return *code;
  if (!flags.listen.empty()) {
    if (const absl::Status status = CheckListenAddress(flags.listen); !status.ok()) {
      return line.UsageError(absl::StrCat("--listen: ", status.message()), err);
    }
  }
  flags.keys.BelongTo("scheduler", flags.overlay);
  absl::StatusOr<OverlayConfig> overlay = LoadJob(flags);
  absl::Status status = overlay.status();
  absl::StatusOr<std::optional<SecurityOptions>> security = flags.keys.Read();
  status.Update(security.status());
  status.Update(CheckPageAccess(flags));
  if (status.ok()) {
    flags.security = *std::move(security);
    const absl::StatusOr<StatePlace> place = CheckTogether(flags, *overlay, state_home);
    if (!place.ok()) return line.UsageError(place.status().message(), err);
    if (!flags.check) return RunScheduler(flags, *overlay, *place, out, err);
    status = Check(flags, *overlay, *place, out);
  }
  if (status.ok()) return kExitSuccess;
  PrintFailure(status, err);
  return kExitFailure;
}

}  // namespace banyan
