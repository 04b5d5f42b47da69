// A web server of one answer, for tests of clients: each request on a connection of its own gets it, or silence.
// Thread-safe.
#ifndef BANYAN_RUNTIME_ETCD_TESTING_SCRIPTED_HTTP_SERVER_H_
#define BANYAN_RUNTIME_ETCD_TESTING_SCRIPTED_HTTP_SERVER_H_

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "posix/file_descriptor.h"

namespace banyan {

class ScriptedHttpServer {
 public:
  ScriptedHttpServer();
  ScriptedHttpServer(const ScriptedHttpServer&) = delete;
  ScriptedHttpServer& operator=(const ScriptedHttpServer&) = delete;
  ~ScriptedHttpServer();

  std::string url() const;
  // What each later request gets; a code of 0: nothing at all.
  void Answer(int code, const std::string& body);
  // "/path body" of all requests so far.
  std::vector<std::string> requests() const;

 private:
  void Serve();
  void ServeOne(int connection);

  FileDescriptor listener_;
  int port_ = 0;
  mutable std::mutex mutex_;
  int code_ = 0;                            // guarded by mutex_
  std::string body_;                        // guarded by mutex_
  std::vector<std::string> requests_;       // guarded by mutex_
  std::vector<FileDescriptor> unanswered_;  // the server thread's; they stay open
  std::thread thread_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_ETCD_TESTING_SCRIPTED_HTTP_SERVER_H_
