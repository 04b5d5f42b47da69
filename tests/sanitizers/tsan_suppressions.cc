// What ThreadSanitizer shall not report: libraries that are built without it synchronise in ways that it cannot see.

// Looked up by ThreadSanitizer's runtime when a program starts.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_options();

// Abseil counts a status's references within its library.
extern "C" const char* __tsan_default_suppressions() {
  return "race:libzmq.so\n"
         "race:absl::*Status::Unref\n";
}

// What those libraries copy and free among themselves is no access of ours.
extern "C" const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1"; }
