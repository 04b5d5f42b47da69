// The readers of a web server's event streams. Each gets what is new as fast as it reads, and waits without costing
// anything while there is nothing. Owned by the server. Wake is for any thread, the rest for the server's.
// Invariants:
// - A reader holds one piece of its source at a time: who reads slowly misses what was overtaken, and grows no queue.
// - A waiting reader is suspended in the server, and `waits` says so; both change under `mutex_`.
#ifndef BANYAN_RUNTIME_HTTP_EVENT_STREAMS_H_
#define BANYAN_RUNTIME_HTTP_EVENT_STREAMS_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "runtime/http/http_route.h"

struct MHD_Connection;
struct MHD_Response;

namespace banyan {

class EventStreams {
 public:
  // So many leave connections to those who ask for something else.
  static constexpr size_t kMostReaders = 8;

  EventStreams() = default;
  EventStreams(const EventStreams&) = delete;
  EventStreams& operator=(const EventStreams&) = delete;

  // Makes the endless body of an answer; nullptr when there are too many readers. `source` outlives the connection.
  MHD_Response* Open(MHD_Connection* connection, const EventSource* source);
  // Makes all readers look for what is new.
  void Wake();
  // Ends all streams, those too that open later.
  void End();
  size_t readers() const;

 private:
  struct Reader {
    EventStreams* streams = nullptr;
    MHD_Connection* connection = nullptr;
    const EventSource* source = nullptr;
    uint64_t place = 0;
    std::string piece;
    size_t sent_bytes = 0;  // of the piece
    bool waits = false;
  };

  // Called by the server for the next bytes, and when a reader has gone.
  static long Read(void* reader, uint64_t position, char* out, size_t size);
  static void Close(void* reader);
  long ReadNext(Reader& reader, char* out, size_t size);
  void WakeAll();  // REQUIRES: mutex_

  mutable std::mutex mutex_;
  std::set<Reader*> readers_;  // guarded by mutex_, as are the readers; each is owned by its answer
  bool has_ended_ = false;     // guarded by mutex_
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_HTTP_EVENT_STREAMS_H_
