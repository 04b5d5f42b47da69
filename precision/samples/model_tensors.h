// The tensors of models that the paper of NEURON-Fabric trains, in order of the forward pass: transformers as the
// Hugging Face library names them, ResNet as torchvision does. Pure functions.
#ifndef BANYAN_PRECISION_SAMPLES_MODEL_TENSORS_H_
#define BANYAN_PRECISION_SAMPLES_MODEL_TENSORS_H_

#include <cstdint>
#include <vector>

#include "precision/profile/binding_proposal.h"

namespace banyan {

// ResNet-18 (He, Zhang, Ren and Sun, 2016) as it is used for small pictures: its first convolution is 3x3.
std::vector<NamedShape> ResNet18Tensors(int64_t classes);

// With the head for two classes.
std::vector<NamedShape> DistilBertTensors();
std::vector<NamedShape> BertBaseTensors();

// Of the GPT-NeoX family: 12 layers of 768 make Pythia-160M, 24 layers of 2,048 make Pythia-1.4B, 32 layers of 4,096
// make Pythia-6.9B.
std::vector<NamedShape> PythiaTensors(int64_t layers, int64_t width, int64_t vocabulary);

}  // namespace banyan

#endif  // BANYAN_PRECISION_SAMPLES_MODEL_TENSORS_H_
