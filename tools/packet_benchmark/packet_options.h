// `banyan bench packets`, training with gradients in packets that switches cut: its arguments, and the command.
#ifndef BANYAN_TOOLS_PACKET_BENCHMARK_PACKET_OPTIONS_H_
#define BANYAN_TOOLS_PACKET_BENCHMARK_PACKET_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace banyan {

// How gradients are laid out in packets; examples/packets/packet_schemes.h says what the names mean.
std::vector<std::string> PacketSchemeNames();
// What stays with the sender joins its next message: for gradients, not for weights.
bool KeepsResidual(absl::string_view scheme);

struct PacketOptions {
  bool is_residual = false;          // the residual network, in place of the example's
  std::vector<std::string> schemes;  // never empty after parsing, like `trims`
  std::vector<double> trims;         // shares of the packets that are cut
  int64_t bits = 1;                  // that a cut leaves of each number
  bool cuts_weights = false;         // packets with weights on their way to workers, in place of gradients
  int64_t rounds = 600;
  int64_t workers = 2;
  int64_t batch = 64;  // images per worker and round
  int64_t seeds = 3;
  double learning_rate = 0;  // never 0 after parsing
  std::string data;          // the directory of images; empty: where Debian has them
  bool json = false;
};

// Fills `options`. Returns the exit code when the command ends here: after --help or a usage error.
std::optional<int> ParsePacketOptions(absl::Span<const std::string> arguments, PacketOptions& options,
                                      std::ostream& out, std::ostream& err);

// `arguments` come after the word `packets`. Goes over to the program that has LibTorch; returns the exit code where it
// does not get there.
int BenchPacketsCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_PACKET_BENCHMARK_PACKET_OPTIONS_H_
