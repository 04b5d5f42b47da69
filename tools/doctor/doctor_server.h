// Answers the doctors of other sites: how late it is here, that large blocks come through, and whether this site can
// call back. It listens where the site's daemon will, so that firewalls let it be reached as that. Owns its threads;
// other calls come from one thread.
//
// A conversation is of lines. It begins with "banyan-doctor 1 NAME ADDRESS", this site's name and where the caller is
// seen: what else may listen on a port is known by its first byte. Then the other side says:
// - "banyan-doctor 1 NAME", its own name, which has no answer.
// - "time"; the answer is "time NANOSECONDS", of this machine's clock.
// - "take N" and N bytes; the answer once all have come is "taken N".
// - "give N"; the answer is "giving N" and N bytes.
// - "report N" and N bytes, EncodeReport's, of what its own site has found; the answer is "reported".
// - "call"; the answer is "called ok", or "called" and why not, of a connection to the caller's address in the overlay.
//
// Invariants:
// - Nobody can make it call an address that is not in the overlay, nor hold more than kMostCallers connections.
// - Reports are taken of sites in the overlay, one of each, of at most kMostReportBytes.
// - A caller that says nothing for kPatience is forgotten.
#ifndef BANYAN_TOOLS_DOCTOR_DOCTOR_SERVER_H_
#define BANYAN_TOOLS_DOCTOR_DOCTOR_SERVER_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "posix/file_descriptor.h"
#include "tools/doctor/doctor_stream.h"
#include "tools/doctor/site_report.h"

namespace banyan {

inline constexpr char kDoctorGreeting[] = "banyan-doctor 1";

class DoctorServer {
 public:
  static constexpr size_t kMostCallers = 64;
  static constexpr int64_t kMostBlockBytes = int64_t{1} << 30;
  static constexpr absl::Duration kPatience = absl::Minutes(10);
  static constexpr absl::Duration kCallTimeout = absl::Seconds(3);

  struct Options {
    std::string listen;                            // tcp://host:port
    std::string name;                              // of this site
    std::map<std::string, std::string> addresses;  // of all sites, tcp://host:port, by name
  };

  // NOT_FOUND when `listen` has no address, and ListenOnTcp's errors.
  static absl::StatusOr<std::unique_ptr<DoctorServer>> Start(Options options);
  DoctorServer(const DoctorServer&) = delete;
  DoctorServer& operator=(const DoctorServer&) = delete;
  ~DoctorServer();

  // Until when sites are waited for of which nobody knows yet that they are there, and until when those that are.
  struct Deadlines {
    absl::Time absent;
    absl::Time present;
  };

  // Notes that `site` is there, and can call: its doctor was reached, and may call later.
  void NotePresent(const std::string& site);
  // Waits until each of `names` has called and hung up, or its deadline is over.
  void AwaitVisitors(const std::set<std::string>& names, const Deadlines& deadlines);
  // Waits until each of `names` has reported, or its deadline is over. Returns the reports by name.
  std::map<std::string, CheckResults> AwaitReports(const std::set<std::string>& names, const Deadlines& deadlines);

 private:
  struct Caller {
    int fd = -1;  // of its stream; -1 once that has ended
    std::thread thread;
  };

  explicit DoctorServer(Options options) : options_(std::move(options)) {}
  void Accept();
  void Take(FileDescriptor socket);
  // Joins the threads of callers that have gone.
  void Sweep();
  void Serve(uint64_t id, DoctorStream stream);
  absl::Status Answer(const std::string& line, std::string& caller, DoctorStream& stream);
  absl::Status TakeReport(int64_t size_bytes, const std::string& caller, DoctorStream& stream);
  // Waits until `is_done` says so of each of `names`.
  template <typename IsDone>
  void Await(const std::set<std::string>& names, const Deadlines& deadlines, IsDone is_done);
  // Connects to where the overlay says that `name` is, and says how that went.
  std::string CallBack(const std::string& name) const;

  const Options options_;
  std::vector<FileDescriptor> listeners_;
  FileDescriptor stop_;  // readable once this ends
  std::thread acceptor_;
  std::mutex mutex_;
  std::map<uint64_t, Caller> callers_;  // guarded by mutex_
  uint64_t next_caller_ = 0;            // guarded by mutex_
  std::set<std::string> present_;       // that are there: have said their names, or were reached; guarded by mutex_
  std::set<std::string> visitors_;      // of these, that have hung up; guarded by mutex_
  std::map<std::string, CheckResults> reports_;  // guarded by mutex_
  std::condition_variable visited_;              // one of these three has changed
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_DOCTOR_SERVER_H_
