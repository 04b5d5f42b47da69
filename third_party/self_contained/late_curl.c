// libcurl where it is installed, for programs that must start without: loaded by the first who wants a handle, which is
// a scheduler with etcd. Thread-safe.
#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#undef curl_easy_getinfo
#undef curl_easy_setopt

static void* Library(void) {
  // Debian's and most others' name; that of Debian's variant with GnuTLS.
  void* library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  return library != NULL ? library : dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
}

static void* Find(const char* name) {
  void* const library = Library();  // counted and kept; opened again, it is the same
  void* const found = library == NULL ? NULL : dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "banyan: scheduler.etcd needs libcurl.so.4, which this machine does not have (%s)\n", dlerror());
    exit(1);
  }
  return found;
}

#define FIND(name) ((__typeof__(&name))Find(#name))

CURL* curl_easy_init(void) { return FIND(curl_easy_init)(); }
void curl_easy_cleanup(CURL* handle) { FIND(curl_easy_cleanup)(handle); }
CURLcode curl_easy_perform(CURL* handle) { return FIND(curl_easy_perform)(handle); }
const char* curl_easy_strerror(CURLcode code) { return FIND(curl_easy_strerror)(code); }
struct curl_slist* curl_slist_append(struct curl_slist* list, const char* text) {
  return FIND(curl_slist_append)(list, text);
}
void curl_slist_free_all(struct curl_slist* list) {
  if (list != NULL) FIND(curl_slist_free_all)(list);
}

// Each takes one value, a pointer or a number as wide as one.
CURLcode curl_easy_setopt(CURL* handle, CURLoption option, ...) {
  va_list values;
  va_start(values, option);
  void* const value = va_arg(values, void*);
  va_end(values);
  return FIND(curl_easy_setopt)(handle, option, value);
}
CURLcode curl_easy_getinfo(CURL* handle, CURLINFO info, ...) {
  va_list values;
  va_start(values, info);
  void* const value = va_arg(values, void*);
  va_end(values);
  return FIND(curl_easy_getinfo)(handle, info, value);
}
