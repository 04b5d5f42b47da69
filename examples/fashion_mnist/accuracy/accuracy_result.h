// What one training of `banyan bench accuracy` gave. Value.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_RESULT_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_RESULT_H_

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace banyan {

struct AccuracyResult {
  double accuracy = 0;  // after the last round, in [0, 1]
  // Accuracies while it trained, with the simulated seconds after which they were measured.
  std::vector<std::pair<double, double>> course;
  double sent_bytes = 0;
  double seconds = 0;                       // simulated
  std::optional<double> seconds_to_target;  // empty: not reached
  double samples_per_second = 0;            // images, of all workers
  double volume = 1;                        // bytes of encoded values over those as float32
  bool replicas_identical = false;
  // Images per second while links stood for so many Mbit/s, where that changes for all links alike.
  std::map<double, double> pace_at_mbps;
};

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_ACCURACY_ACCURACY_RESULT_H_
