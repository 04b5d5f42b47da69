#include "examples/precision/text_corpus.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "posix/child_process.h"
#include "posix/work_directory.h"
#include "runtime/records/durable_file.h"

namespace banyan {
namespace {

constexpr size_t kHeldOutPart = 20;
constexpr char kBible[] = "/usr/bin/bible";

// Returns what the program prints: the whole text, a verse a line.
absl::StatusOr<std::string> PrintBible() {
  const absl::StatusOr<std::unique_ptr<WorkDirectory>> directory = WorkDirectory::Make("banyan-text");
  if (!directory.ok()) return directory.status();
  const std::string path = (*directory)->File("text");
  const absl::StatusOr<std::unique_ptr<ChildProcess>> program =
      ChildProcess::Start({.name = "bible", .arguments = {kBible, "-f", "gen1:1-rev22:21"}, .log_path = path});
  if (!program.ok()) return program.status();
  (*program)->WaitUntilEnded(absl::InfiniteDuration());
  if (!(*program)->failure().empty()) {
    return absl::NotFoundError(absl::StrFormat(
        "expected %s to print its text, got %s; install Debian's package bible-kjv, or name a text by --data", kBible,
        (*program)->failure()));
  }
  return ReadFile(path);
}

}  // namespace

absl::StatusOr<TextCorpus> TextCorpus::Cut(absl::string_view text, int64_t workers, int64_t least) {
  TextCorpus corpus;
  std::map<char, int64_t> numbers;
  for (char letter : text) numbers.emplace(letter, 0);
  for (auto& [letter, number] : numbers) number = corpus.characters_++;
  std::vector<int64_t> numbered(text.size());
  std::transform(text.begin(), text.end(), numbered.begin(), [&](char letter) { return numbers.at(letter); });

  const size_t held_out = numbered.size() / kHeldOutPart;
  const size_t size = (numbered.size() - held_out) / static_cast<size_t>(workers);
  if (static_cast<int64_t>(std::min(size, held_out)) < least) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "expected a text of which each of %d workers gets %d characters, and as many are held out, got %d in all",
        workers, least, text.size()));
  }
  for (int64_t worker = 0; worker < workers; ++worker) {
    const auto begin = numbered.begin() + static_cast<int64_t>(size) * worker;
    corpus.parts_.emplace_back(begin, begin + static_cast<int64_t>(size));
  }
  corpus.held_out_.assign(numbered.end() - static_cast<int64_t>(held_out), numbered.end());
  return corpus;
}

absl::StatusOr<std::string> ReadText(const std::string& path) { return path.empty() ? PrintBible() : ReadFile(path); }

}  // namespace banyan
