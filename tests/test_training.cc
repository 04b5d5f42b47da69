#include "tests/test_training.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "tests/job_fixture.h"

namespace banyan {
namespace {

// From -50 to 50.
float GradientOf(uint64_t worker, uint64_t round, uint64_t element) {
  return static_cast<float>((worker * 31 + round * 17 + element * 7) % 101) - 50.0f;
}

void WaitForAll(std::vector<Ticket> tickets) {
  for (Ticket& ticket : tickets) Require(ticket.Wait(kPatience), "a round");
}

// The mean is rounded once when it is divided, and once more when that is done by a product.
bool IsMean(float got, float sum, size_t workers) {
  const double exact = static_cast<double>(sum) / static_cast<double>(workers);
  return std::abs(static_cast<double>(got) - exact) <= std::abs(exact) / (1 << 22);
}

}  // namespace

TestTraining::TestTraining(std::vector<Session*> sessions, std::vector<Tensor> tensors)
    : sessions_(std::move(sessions)) {
  for (Tensor& tensor : tensors) {
    State state;
    const auto elements = static_cast<size_t>(tensor.elements);
    state.tensor = std::move(tensor);
    state.gradients.assign(sessions_.size(), std::vector<float>(elements));
    state.results.assign(sessions_.size(), std::vector<float>(elements));
    state.sum.resize(elements);
    states_.push_back(std::move(state));
  }
}

void TestTraining::MakeGradients() {
  ++round_;
  for (State& state : states_) {
    state.sum.assign(state.sum.size(), 0.0f);
    for (size_t worker = 0; worker < sessions_.size(); ++worker) {
      std::vector<float>& gradient = state.gradients[worker];
      for (size_t i = 0; i < gradient.size(); ++i) {
        gradient[i] = GradientOf(worker, round_, i);
        state.sum[i] += gradient[i];
      }
      state.results[worker].assign(gradient.size(), -1e9f);
    }
  }
}

bool TestTraining::IsRight(const State& state, size_t element, Expected expected) const {
  const float got = state.results.front()[element];
  switch (expected) {
    case Expected::kMean:
      return IsMean(got, state.sum[element], sessions_.size());
    case Expected::kSum:
      return got == state.sum[element];
    case Expected::kFirst:
      break;
  }
  return got == state.gradients.front()[element];
}

void TestTraining::Check(Expected expected) const {
  for (const State& state : states_) {
    SCOPED_TRACE(state.tensor.key);
    const std::vector<float>& result = state.results.front();
    for (size_t i = 0; i < result.size(); ++i) {
      if (IsRight(state, i, expected)) continue;
      FAIL() << "element " << i << " is " << result[i] << "; the sum is " << state.sum[i] << ", the first worker's "
             << state.gradients.front()[i];
    }
    for (size_t worker = 1; worker < sessions_.size(); ++worker) {
      ASSERT_EQ(std::memcmp(state.results[worker].data(), result.data(), result.size() * sizeof(float)), 0)
          << "worker " << worker << " has another result than worker 0";
    }
  }
}

void TestTraining::Init() {
  MakeGradients();
  std::vector<Ticket> tickets;
  for (size_t worker = 0; worker < sessions_.size(); ++worker) {
    for (State& state : states_) {
      tickets.push_back(
          sessions_[worker]->Init(state.tensor.key, state.gradients[worker], absl::MakeSpan(state.results[worker])));
    }
  }
  WaitForAll(std::move(tickets));
  Check(Expected::kFirst);
}

std::vector<Ticket> TestTraining::StartRound(size_t skipped) {
  MakeGradients();
  std::vector<Ticket> tickets;
  for (size_t worker = 0; worker + skipped < sessions_.size(); ++worker) {
    for (State& state : states_) {
      tickets.push_back(sessions_[worker]->PushPull(state.tensor.key, state.gradients[worker],
                                                    absl::MakeSpan(state.results[worker])));
    }
  }
  return tickets;
}

void TestTraining::PushPullRound() { FinishRound(StartRound()); }

void TestTraining::FinishRound(std::vector<Ticket> tickets) {
  WaitForAll(std::move(tickets));
  Check(Expected::kMean);
}

absl::Status TestTraining::TryRound() {
  std::vector<Ticket> tickets = StartRound();
  absl::Status status;
  for (Ticket& ticket : tickets) status.Update(ticket.Wait(kPatience));
  return status;
}

void TestTraining::PushThenPullRound(bool is_sum) {
  MakeGradients();
  std::vector<Ticket> pushes;
  std::vector<Ticket> pulls;
  for (size_t worker = 0; worker < sessions_.size(); ++worker) {
    for (State& state : states_) {
      pushes.push_back(sessions_[worker]->Push(state.tensor.key, state.gradients[worker]));
    }
  }
  WaitForAll(std::move(pushes));
  for (size_t worker = 0; worker < sessions_.size(); ++worker) {
    for (State& state : states_) {
      pulls.push_back(sessions_[worker]->Pull(state.tensor.key, absl::MakeSpan(state.results[worker])));
    }
  }
  WaitForAll(std::move(pulls));
  Check(is_sum ? Expected::kSum : Expected::kMean);
}

void TestTraining::BroadcastRound() {
  MakeGradients();
  std::vector<Ticket> tickets;
  for (size_t worker = 0; worker < sessions_.size(); ++worker) {
    for (State& state : states_) {
      tickets.push_back(sessions_[worker]->Broadcast(state.tensor.key, state.gradients[worker],
                                                     absl::MakeSpan(state.results[worker])));
    }
  }
  WaitForAll(std::move(tickets));
  Check(Expected::kFirst);
}

std::vector<Session*> Addresses(const std::vector<std::unique_ptr<Session>>& sessions) {
  std::vector<Session*> addresses;
  for (const std::unique_ptr<Session>& session : sessions) addresses.push_back(session.get());
  return addresses;
}

}  // namespace banyan
