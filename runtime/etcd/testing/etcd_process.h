// An etcd of one member as a process on a loopback port, with a directory of its own, for tests. Needs Debian's package
// etcd-server. Thread-compatible.
#ifndef BANYAN_RUNTIME_ETCD_TESTING_ETCD_PROCESS_H_
#define BANYAN_RUNTIME_ETCD_TESTING_ETCD_PROCESS_H_

#include <memory>
#include <string>
#include <vector>

#include "posix/child_process.h"
#include "posix/port_reservation.h"
#include "posix/work_directory.h"
#include "runtime/etcd/etcd_api.h"

namespace banyan {

class EtcdProcess {
 public:
  // `flags` are added to the command. Throws std::runtime_error when it cannot be started.
  explicit EtcdProcess(std::vector<std::string> flags = {});

  // http://127.0.0.1:port, the same after a restart.
  const std::string& url() const { return url_; }
  int port() const { return ports_.ports()[0]; }
  std::unique_ptr<EtcdApi> NewApi() const;
  ChildProcess& process() { return *process_; }

  // SIGKILL, and gone when it returns.
  void Kill();
  // Starts it again with what it had stored, and waits until it answers.
  void Start();

 private:
  const std::vector<std::string> flags_;
  const std::unique_ptr<WorkDirectory> directory_;
  const PortReservation ports_;
  const std::string url_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_ETCD_TESTING_ETCD_PROCESS_H_
