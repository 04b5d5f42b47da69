// What ThreadSanitizer shall not report: libraries that are built without it synchronise in ways that it cannot see.

// Looked up by ThreadSanitizer's runtime when a program starts.
extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() { return "race:libzmq.so\n"; }
