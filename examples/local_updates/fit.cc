// Fits eight weights to what this site alone sees, together with all other sites of a job, by local updates:
// fit NODE diloco|streaming|local-sgd|weighted
//
// NODE is the worker socket of this site's node, unix:/path. All sites name the same way. Each prints the same weights.
//
//   g++ -std=c++20 fit.cc $(pkg-config --cflags --libs banyan) -o fit
//   ./fit unix:/run/banyan/n1 diloco
#include <banyan/local_updates.h>
#include <banyan/session.h>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr int kSteps = 200;

// Names as a site with banyan.torch would have them: with the shape.
struct Model {
  std::vector<float> first = std::vector<float>(4);
  std::vector<float> second = std::vector<float>(4);
};

float& WeightOf(Model& model, int i) { return i < 4 ? model.first[i] : model.second[i - 4]; }

// One step of SGD along the squared error of one sample; the right weights are 0.1, 0.2 and so on.
void Train(Model& model, int site, int step) {
  float inputs[8];
  float error = 0;
  for (int i = 0; i < 8; ++i) {
    inputs[i] = static_cast<float>(std::sin(1.7 * step * (i + 1) + site));
    error += inputs[i] * (WeightOf(model, i) - 0.1f * static_cast<float>(i + 1));
  }
  for (int i = 0; i < 8; ++i) WeightOf(model, i) -= 0.1f * error * inputs[i];
}

absl::Status Fit(banyan::Session& session, const std::string& way, Model& model) {
  const banyan::ModelTensor first = {"first.w(4)", absl::MakeSpan(model.first)};
  const banyan::ModelTensor second = {"second.w(4)", absl::MakeSpan(model.second)};
  banyan::LocalUpdateOptions options = banyan::DiLoCo(10);
  std::vector<std::vector<banyan::ModelTensor>> fragments = {{first, second}};
  if (way == "local-sgd") options = banyan::LocalSgd(10);
  if (way == "streaming" || way == "weighted") {
    options = banyan::StreamingDiLoCo(10);
    options.is_weighted = way == "weighted";
    options.fragment_sync_delay = 2;
    fragments = {{first}, {second}};
  }
  const auto updates = banyan::LocalUpdates::Begin(session, fragments, options, absl::Seconds(60));
  if (!updates.ok()) return updates.status();
  if (options.is_weighted) {
    // As if each sample stood for three.
    if (absl::Status status = (*updates)->set_weight(3); !status.ok()) return status;
  }
  const std::string& name = session.node_name();  // each site has samples of its own
  const int site = std::accumulate(name.begin(), name.end(), 0);
  for (int step = 1; step <= kSteps; ++step) {
    Train(model, site, step);
    if (absl::Status status = (*updates)->Step(absl::Seconds(60)); !status.ok()) return status;
  }
  if (absl::Status status = (*updates)->Flush(absl::Seconds(60)); !status.ok()) return status;
  (*updates)->Load();  // what all have, without what this site has learned since
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: fit NODE diloco|streaming|local-sgd|weighted\n");
    return 2;
  }
  Model model;
  const auto session = banyan::Session::Open({.node = argv[1], .open_timeout = absl::Seconds(60)});
  const absl::Status status = session.ok() ? Fit(**session, argv[2], model) : session.status();
  if (!status.ok()) {
    if (session.ok()) (*session)->Abandon();  // the training is not done
    std::fprintf(stderr, "fit: %s\n", status.ToString().c_str());
    return 1;
  }
  for (int i = 0; i < 8; ++i) std::printf("%.9g\n", WeightOf(model, i));
  return 0;
}
