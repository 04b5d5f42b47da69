// The settings of jemalloc, which looks for them under this name.
extern "C" {

// Keeps the memory of freed chunks for the next rounds, large ones too: otherwise the kernel maps each anew and clears
// it page by page, and a round on loopback takes about twice as long. What no round needs for so long goes back.
extern const char* const malloc_conf;
const char* const malloc_conf = "dirty_decay_ms:30000,muzzy_decay_ms:30000,oversize_threshold:0";
}
