#include "runtime/http/event_streams.h"

#include <microhttpd.h>
#include <string.h>

#include <algorithm>
#include <memory>

namespace banyan {
namespace {

// Of the connection's memory at a time.
constexpr size_t kBlockBytes = 4096;

}  // namespace

MHD_Response* EventStreams::Open(MHD_Connection* connection, const EventSource* source) {
  auto reader = std::make_unique<Reader>();
  reader->streams = this;
  reader->connection = connection;
  reader->source = source;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (readers_.size() >= kMostReaders) return nullptr;
  MHD_Response* response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kBlockBytes, &Read, reader.get(), &Close);
  if (response != nullptr) readers_.insert(reader.release());
  return response;
}

long EventStreams::Read(void* reader, uint64_t, char* out, size_t size) {
  auto* const self = static_cast<Reader*>(reader);
  return self->streams->ReadNext(*self, out, size);
}

long EventStreams::ReadNext(Reader& reader, char* out, size_t size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (has_ended_) return MHD_CONTENT_READER_END_OF_STREAM;
  if (reader.sent_bytes == reader.piece.size()) {
    reader.piece = (*reader.source)(reader.place);
    reader.sent_bytes = 0;
  }
  if (reader.piece.empty()) {
    MHD_suspend_connection(reader.connection);
    reader.waits = true;
    return 0;
  }
  const size_t count = std::min(size, reader.piece.size() - reader.sent_bytes);
  memcpy(out, reader.piece.data() + reader.sent_bytes, count);
  reader.sent_bytes += count;
  return static_cast<long>(count);
}

void EventStreams::Close(void* reader) {
  const std::unique_ptr<Reader> self(static_cast<Reader*>(reader));
  const std::lock_guard<std::mutex> lock(self->streams->mutex_);
  self->streams->readers_.erase(self.get());
}

void EventStreams::WakeAll() {
  for (Reader* reader : readers_) {
    if (!reader->waits) continue;
    reader->waits = false;
    MHD_resume_connection(reader->connection);
  }
}

void EventStreams::Wake() {
  const std::lock_guard<std::mutex> lock(mutex_);
  WakeAll();
}

void EventStreams::End() {
  const std::lock_guard<std::mutex> lock(mutex_);
  has_ended_ = true;
  WakeAll();
}

size_t EventStreams::readers() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return readers_.size();
}

}  // namespace banyan
