// Settings of the process's heap for a program whose memory is chunks that come and go with each round. For main
// functions: it changes the whole process, before its threads start.
#ifndef BANYAN_RUNTIME_CHUNK_HEAP_H_
#define BANYAN_RUNTIME_CHUNK_HEAP_H_

namespace banyan {

// Keeps the memory of freed chunks for the next round. Without this the C library maps each larger chunk anew and the
// kernel clears it page by page: on loopback a round then takes about twice as long. The process keeps its peak, which
// each round reaches again. With `is_shared` a chunk that one thread frees is the next that another asks for; without,
// threads that hand each other nothing do not wait for each other.
void KeepChunksInHeap(bool is_shared = true);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_CHUNK_HEAP_H_
