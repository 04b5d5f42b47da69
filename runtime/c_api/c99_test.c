// Uses banyan.h from C99, without a job: what can be wrong with arguments.
#include <stdio.h>
#include <string.h>

#include "runtime/c_api/banyan.h"

#define EXPECT(condition)                                                                               \
  do {                                                                                                  \
    if (!(condition)) {                                                                                 \
      fprintf(stderr, "%s:%d: expected %s; %s\n", __FILE__, __LINE__, #condition, banyan_last_error()); \
      return 1;                                                                                         \
    }                                                                                                   \
  } while (0)

static int mentions(const char* text) { return strstr(banyan_last_error(), text) != NULL; }

static int check_sizes(void) {
  struct {
    banyan_session_options known;
    int newer;
  } options;
  banyan_session* session = NULL;
  memset(&options, 0, sizeof options);
  options.known.node = "unix:/nonexistent/node";
  options.known.open_seconds = 0.05;
  EXPECT(banyan_session_open(&options.known, &session) == BANYAN_INVALID_ARGUMENT);
  EXPECT(mentions("banyan_session_options.size"));
  options.known.size = sizeof options;
  EXPECT(banyan_session_open(&options.known, &session) == BANYAN_UNAVAILABLE ||
         banyan_session_open(&options.known, &session) == BANYAN_DEADLINE_EXCEEDED);
  EXPECT(mentions("/nonexistent/node"));
  options.newer = 1;
  EXPECT(banyan_session_open(&options.known, &session) == BANYAN_INVALID_ARGUMENT);
  EXPECT(mentions("install a newer one"));
  // As compiled with a header that has nothing behind `node` yet.
  options.known.size = offsetof(banyan_session_options, worker);
  options.known.node = "tcp://wrong";
  EXPECT(banyan_session_open(&options.known, &session) != BANYAN_OK);
  EXPECT(mentions("tcp://wrong"));
  EXPECT(session == NULL);
  return 0;
}

static int check_nulls(void) {
  banyan_node* node = NULL;
  banyan_node_options options = {.size = sizeof options};
  banyan_health health = {.size = sizeof health, .step = 1};
  float value = 0;
  EXPECT(banyan_session_open(NULL, NULL) == BANYAN_INVALID_ARGUMENT);
  EXPECT(banyan_node_start(&options, &node) == BANYAN_INVALID_ARGUMENT);
  EXPECT(mentions("options->scheduler"));
  EXPECT(banyan_push(NULL, "w", &value, 1, NULL, NULL) == BANYAN_INVALID_ARGUMENT);
  EXPECT(mentions("banyan_push: expected session"));
  EXPECT(banyan_report_health(NULL, &health, NULL, NULL) == BANYAN_INVALID_ARGUMENT);
  EXPECT(mentions("banyan_report_health: expected session, health"));
  EXPECT(banyan_ticket_wait(NULL, 0) == BANYAN_INVALID_ARGUMENT);
  EXPECT(banyan_session_close(NULL, 0) == BANYAN_INVALID_ARGUMENT);
  banyan_session_free(NULL);
  banyan_node_free(NULL);
  banyan_ticket_release(NULL);
  return 0;
}

static int check_node(void) {
  banyan_node* node = NULL;
  banyan_session* session = NULL;
  banyan_node_options options = {.size = sizeof options, .name = "n1", .scheduler = "tcp://127.0.0.1:1"};
  banyan_session_options worker = {.size = sizeof worker, .open_seconds = 0.05};
  EXPECT(banyan_node_start(&options, &node) == BANYAN_OK);
  EXPECT(strncmp(banyan_node_address(node), "tcp://127.0.0.1:", 16) == 0);
  EXPECT(banyan_node_open_session(node, &worker, &session) == BANYAN_DEADLINE_EXCEEDED);
  EXPECT(session == NULL);
  EXPECT(banyan_node_stop(node) == BANYAN_OK);
  banyan_node_free(node);
  return 0;
}

int main(void) {
  EXPECT(banyan_abi_version() == BANYAN_ABI_VERSION);
  EXPECT(strlen(banyan_version()) >= 5);
  return check_sizes() || check_nulls() || check_node();
}
