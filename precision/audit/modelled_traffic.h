// The modelled gradient-communication traffic ratio, MGTR (NEURON-Fabric, Wang, Huang and Lung, 2026, section 3.2):
// bits of the routes that were taken over bits of FP32. It counts payload alone; the bytes that were really sent are
// told beside it. Pure functions.
#ifndef BANYAN_PRECISION_AUDIT_MODELLED_TRAFFIC_H_
#define BANYAN_PRECISION_AUDIT_MODELLED_TRAFFIC_H_

namespace banyan {

inline constexpr double kFullPrecisionBits = 32;

// Returns the ratio where `low_bit_share` of the rounds are low-bit for `candidate_share` of the elements, with
// `bits_per_element` each. The paper takes log2(3) for DistilBERT and BERT and 2 for the Pythias.
inline double TrafficRatio(double low_bit_share, double candidate_share, double bits_per_element) {
  return 1 - low_bit_share * candidate_share * (1 - bits_per_element / kFullPrecisionBits);
}

}  // namespace banyan

#endif  // BANYAN_PRECISION_AUDIT_MODELLED_TRAFFIC_H_
