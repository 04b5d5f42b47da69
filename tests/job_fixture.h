// A job of real daemons on this machine, for tests: `banyan scheduler` (one, or several with etcd) and `banyan node`s
// as processes on free loopback ports. Workers are sessions of the test process, or processes of their own.
// Thread-compatible; the thread that makes it must outlive it.
//
// What cannot go on throws: GoogleTest reports it and ends the test. Daemons that still run at the end are killed;
// their logs are shown when the test has failed.
#ifndef BANYAN_TESTS_JOB_FIXTURE_H_
#define BANYAN_TESTS_JOB_FIXTURE_H_

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "posix/child_process.h"
#include "posix/port_reservation.h"
#include "posix/work_directory.h"
#include "runtime/session/session.h"

namespace banyan {

// Whether AddressSanitizer watches this build: all is slower then, and uses more memory.
bool IsSanitized();

// For whatever must happen, on a machine that does other things as well.
inline constexpr absl::Duration kPatience = absl::Seconds(120);

// Throws what is wrong.
void Require(const absl::Status& status, absl::string_view what);

template <typename T>
T Require(absl::StatusOr<T> value, absl::string_view what) {
  Require(value.status(), what);
  return *std::move(value);
}

struct JobSpec {
  int nodes = 3;                   // n1, n2, ...
  int workers = 1;                 // of each node
  std::string job = "test";        // its name
  std::string links = {};          // the overlay's section `links`; empty: a link between every two nodes
  std::string more = {};           // further sections
  std::string http = {};           // host:port of the scheduler's metrics; empty: none
  std::string etcd = {};           // where schedulers keep their state, http://host:port; empty: nowhere
  int schedulers = 1;              // with etcd, of which one leads
  int lease_seconds = 3;           // of the one that leads
  bool stays = true;               // daemons outlive their job, so that a test can look at it, and end when asked to
  bool keeps_state = false;        // in a directory of the job's own; without etcd and this its end is the job's
  bool has_keys = false;           // of the scheduler, the nodes and an operator, by `banyan keygen`
  double heartbeat_seconds = 0.5;  // and silence for so long that only a dead process is silent:
  double lost_after_seconds = 30;
  int scheduler_lost_after_seconds = 3600;
};

class JobFixture {
 public:
  explicit JobFixture(const JobSpec& spec);
  JobFixture(const JobFixture&) = delete;
  JobFixture& operator=(const JobFixture&) = delete;
  ~JobFixture();

  // Nodes and schedulers count from 0: node 0 is n1, and the log of scheduler 1 is scheduler-2. `flags` are added to
  // the command.
  void StartScheduler(size_t index = 0, const std::vector<std::string>& flags = {});
  void StartNode(size_t node, const std::vector<std::string>& flags = {});
  // Where nodes that are started from now on look for schedulers, as --scheduler has it; before that for the first one.
  void ReachSchedulersAt(const std::string& addresses) { reached_schedulers_ = addresses; }
  void StartAll();
  // A `banyan` process beside those of the job. Its log can be waited for by `name`.
  std::unique_ptr<ChildProcess> StartCommand(const std::string& name, std::vector<std::string> arguments);
  // tests/worker_process.cc, attached to a node.
  std::unique_ptr<ChildProcess> StartWorkerProcess(size_t node, uint32_t worker);

  size_t nodes() const { return nodes_.size(); }
  size_t workers() const { return nodes() * static_cast<size_t>(spec_.workers); }
  ChildProcess& scheduler(size_t index = 0) { return *schedulers_[index]; }
  ChildProcess& node(size_t node) { return *nodes_[node]; }
  static std::string NameOf(size_t node);
  static std::string SchedulerName(size_t index);
  std::string scheduler_address(size_t index = 0) const;
  int scheduler_port() const { return ports_.ports()[0]; }
  // Where the node listens.
  std::string AddressOf(size_t node) const { return ports_.Address(static_cast<int>(node) + 1); }
  int PortOf(size_t node) const { return ports_.ports()[node + 1]; }
  std::string SocketPathOf(size_t node) const;

  std::unique_ptr<Session> Open(size_t node, uint32_t worker = 0) const;
  // In the order of nodes, then of workers.
  std::vector<std::unique_ptr<Session>> OpenAll() const;

  // Writes the job's overlay with `more` in place of the spec's further sections; returns the file's path.
  std::string WriteOverlay(const std::string& name, const std::string& more) const;

  // With keys: the file of the process's secret key, and that of the overlay with the public ones.
  std::string KeyPathOf(const std::string& name) const;
  std::string OverlayPath() const;

  // The lines that a process has logged so far.
  std::string LogOf(const std::string& process) const;
  // Waits until the process has logged this; throws when it has not in time.
  void WaitForLog(const std::string& process, absl::string_view text) const;
  // Where the process says in its log that its metrics are.
  int MetricsPortOf(const std::string& process) const;
  // Of a scheduler that keeps its state.
  std::string StatePath() const { return directory_->File("state"); }
  // `banyan status --json`.
  std::string StatusJson(size_t scheduler = 0);

  // Sends the signal to all daemons that run; expects that each of them ends with AskedToEnd(signal).
  void StopAll(int signal = SIGTERM);
  // How ChildProcess::failure() tells of a daemon that has ended because it was asked to.
  static std::string AskedToEnd(int signal);
  // SIGKILL, and gone when it returns.
  static void Kill(ChildProcess& process);

 private:
  void MakeKeys();
  // Gives the process its key, if there are any.
  void AddKey(const std::string& name, std::vector<std::string>& arguments) const;
  std::string LogPath(const std::string& process) const;
  std::string Overlay(const std::string& more) const;
  std::string SchedulerSection() const;
  std::unique_ptr<ChildProcess> Start(const std::string& name, std::vector<std::string> arguments);

  const JobSpec spec_;
  const std::unique_ptr<WorkDirectory> directory_;
  const PortReservation ports_;
  std::string reached_schedulers_;
  std::vector<std::unique_ptr<ChildProcess>> schedulers_;
  std::vector<std::unique_ptr<ChildProcess>> nodes_;
};

}  // namespace banyan

#endif  // BANYAN_TESTS_JOB_FIXTURE_H_
