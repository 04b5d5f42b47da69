// Averages numbers with all other sites of a job, over banyan.h, in C99: average NODE KEY NUMBER...
//
// NODE is the worker socket of this site's node, unix:/path. All sites name the same key and equally many numbers.
//
//   cc -std=c99 average.c $(pkg-config --cflags --libs banyan-c) -o average
//   ./average unix:/run/banyan/n1 grades 1 2 3
#include <banyan/banyan.h>
#include <stdio.h>
#include <stdlib.h>

// Waits for an operation, releases its ticket, and returns whether it went well.
static int finish(banyan_ticket* ticket) {
  const int code = banyan_ticket_wait(ticket, 60);
  banyan_ticket_release(ticket);
  return code == BANYAN_OK;
}

static int average(banyan_session* session, const char* key, float* numbers, size_t count) {
  const banyan_call_options options = {.size = sizeof options, .priority = 1};
  banyan_ticket* ticket = NULL;
  if (banyan_init(session, key, numbers, NULL, count, NULL, &ticket) != BANYAN_OK || !finish(ticket)) return 0;
  if (banyan_push_pull(session, key, numbers, numbers, count, &options, &ticket) != BANYAN_OK) return 0;
  return finish(ticket);
}

int main(int argc, char** argv) {
  banyan_session_options options = {.size = sizeof options, .open_seconds = 60};
  banyan_session* session = NULL;
  const size_t count = argc > 3 ? (size_t)(argc - 3) : 0;
  float* const numbers = malloc((count + 1) * sizeof(float));
  int done = 0;
  if (count == 0 || numbers == NULL) {
    fprintf(stderr, "usage: average NODE KEY NUMBER...\n");
    free(numbers);
    return 2;
  }
  for (size_t i = 0; i < count; ++i) numbers[i] = strtof(argv[i + 3], NULL);
  options.node = argv[1];
  done = banyan_session_open(&options, &session) == BANYAN_OK && average(session, argv[2], numbers, count);
  if (!done) fprintf(stderr, "average: %s\n", banyan_last_error());
  for (size_t i = 0; done && i < count; ++i) printf("%g\n", numbers[i]);
  banyan_session_free(session);
  free(numbers);
  return done ? 0 : 1;
}
