// One training of a model whose gradients, or weights, go through packets that are cut. All workers share the model,
// since replicas are the same bit by bit. A pure function of its arguments, on machines of one kind.
#ifndef BANYAN_EXAMPLES_PACKETS_PACKET_TRAINING_H_
#define BANYAN_EXAMPLES_PACKETS_PACKET_TRAINING_H_

#include <cstdint>
#include <string>

#include "examples/packets/packet_schemes.h"
#include "examples/precision/guided_model.h"

namespace banyan {

struct PacketTraining {
  std::string scheme;
  PacketCuts cuts;
  bool cuts_weights = false;  // on their way to each worker; gradients go whole
  int64_t rounds = 1;
  int64_t workers = 1;
  double learning_rate = 0.02;
  uint64_t seed = 1;  // of cuts and rotations
};

struct PacketOutcome {
  double accuracy = 0;
  // Of what is decoded, in means over messages; nothing is finite after a divergence.
  double error = 0;         // its square over that of what was sent
  double worst = 0;         // of a number, in root mean squares of what was sent
  double arrived_part = 0;  // of what uncut floats take
};

// REQUIRES: `model` has a batch of each worker for each round, and is as its seed made it.
PacketOutcome RunPacketTraining(const PacketTraining& training, GuidedModel& model);

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_PACKETS_PACKET_TRAINING_H_
