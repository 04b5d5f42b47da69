#include <numeric>

#include "precision/samples/model_tensors.h"
#include "sim/reducer/reducer_replay.h"

namespace banyan {
namespace {

constexpr int64_t kFloatBytes = 4;
constexpr int64_t kFirstBucketBytes = int64_t{1} << 20;
constexpr int64_t kBucketBytes = int64_t{25} << 20;

}  // namespace

int64_t BucketSchedule::elements() const { return std::accumulate(buckets.begin(), buckets.end(), int64_t{0}); }

std::vector<int64_t> Buckets(const std::vector<NamedShape>& tensors) {
  std::vector<int64_t> buckets;
  int64_t open = 0;
  for (size_t i = tensors.size(); i-- > 0;) {
    open += tensors[i].elements();
    const int64_t limit_bytes = buckets.empty() ? kFirstBucketBytes : kBucketBytes;
    if (open * kFloatBytes < limit_bytes) continue;
    buckets.push_back(open);
    open = 0;
  }
  if (open > 0) buckets.push_back(open);
  return buckets;
}

std::vector<BucketSchedule> ModelSchedules() {
  return {{"ResNet-18, CIFAR-100", Buckets(ResNet18Tensors(100))},
          {"DistilBERT", Buckets(DistilBertTensors())},
          {"BERT-base", Buckets(BertBaseTensors())},
          {"Pythia-160M", Buckets(PythiaTensors(12, 768, 50304))}};
}

}  // namespace banyan
