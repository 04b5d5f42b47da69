#include "runtime/transport/dialler.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace banyan {

// Shared with the thread, which may outlive the Dialler. Thread-safe.
class Dialler::Thread {
 public:
  // Answers of one kind, by question.
  template <typename Value>
  class Answers {
   public:
    // Returns whether the question is to be asked now.
    bool Ask(const std::string& question, Timestamp now) {
      Answer& answer = answers_[question];
      if (answer.is_under_way || (answer.value.has_value() && now - answer.asked_at < kFresh)) return false;
      answer = {std::nullopt, now, true};
      return true;
    }
    void Set(const std::string& question, Value value) {
      Answer& answer = answers_[question];
      answer.value = std::move(value);
      answer.is_under_way = false;
    }
    std::optional<Value> Get(const std::string& question) const {
      const auto found = answers_.find(question);
      return found == answers_.end() ? std::nullopt : found->second.value;
    }

   private:
    struct Answer {
      std::optional<Value> value;
      Timestamp asked_at;
      bool is_under_way = false;
    };
    std::map<std::string, Answer> answers_;
  };

  void Do(std::function<void()> work) {
    waiting_.push_back(std::move(work));
    changed_.notify_one();
  }
  void Work() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
      if (is_over_) return;
      const std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }
  void End() {
    const std::lock_guard<std::mutex> lock(mutex);
    is_over_ = true;
    changed_.notify_one();
  }

  std::mutex mutex;  // guards all below
  Answers<Endpoints> found;
  Answers<std::string> diagnoses;

 private:
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool is_over_ = false;
};

Dialler::Dialler() : thread_(std::make_shared<Thread>()) {
  std::thread([thread = thread_] { thread->Work(); }).detach();
}

Dialler::~Dialler() { thread_->End(); }

void Dialler::LookUp(const std::string& address, Timestamp now) {
  const std::lock_guard<std::mutex> lock(thread_->mutex);
  if (!thread_->found.Ask(address, now)) return;
  thread_->Do([thread = thread_.get(), address] {
    Endpoints endpoints = LookUpEndpoints(address);
    const std::lock_guard<std::mutex> done(thread->mutex);
    thread->found.Set(address, std::move(endpoints));
  });
}

std::optional<Dialler::Endpoints> Dialler::Found(const std::string& address) const {
  const std::lock_guard<std::mutex> lock(thread_->mutex);
  return thread_->found.Get(address);
}

void Dialler::Diagnose(const TcpEndpoint& endpoint, Timestamp now) {
  const std::lock_guard<std::mutex> lock(thread_->mutex);
  if (!thread_->diagnoses.Ask(endpoint.Address(), now)) return;
  thread_->Do([thread = thread_.get(), endpoint] {
    std::string reason = WhyUnreachable(endpoint, kPatience);
    const std::lock_guard<std::mutex> done(thread->mutex);
    thread->diagnoses.Set(endpoint.Address(), std::move(reason));
  });
}

std::optional<std::string> Dialler::Diagnosis(const TcpEndpoint& endpoint) const {
  const std::lock_guard<std::mutex> lock(thread_->mutex);
  return thread_->diagnoses.Get(endpoint.Address());
}

}  // namespace banyan
