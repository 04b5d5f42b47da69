// libFuzzer's entry points. `fuzzer --target=NAME CORPUS [libFuzzer's flags]` looks for bytes that break a target;
// `--list` prints the targets, and `--seeds=FOLDER` writes what the target takes to begin with.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "fuzz/fuzz_target.h"

namespace banyan {
namespace {

const FuzzTarget*& Chosen() {
  static const FuzzTarget* chosen = nullptr;
  return chosen;
}

void List() {
  for (const FuzzTarget& target : FuzzTargets()) std::cout << target.name << "\n";
}

void WriteSeeds(const FuzzTarget& target, absl::string_view folder) {
  int number = 0;
  for (const std::string& seed : target.seeds()) {
    std::ofstream(absl::StrCat(folder, "/seed-", ++number), std::ios::binary) << seed;
  }
}

[[noreturn]] void Refuse(absl::string_view what) {
  std::cerr << "fuzzer: " << what << "\n";
  std::exit(2);
}

// Reads this program's own flags, which libFuzzer leaves alone as they begin with two dashes.
void ReadFlags(int count, char** words) {
  absl::string_view seeds;
  for (int i = 1; i < count; ++i) {
    absl::string_view word = words[i];
    if (word == "--list") {
      List();
      std::exit(0);
    }
    if (absl::ConsumePrefix(&word, "--target=")) Chosen() = FindFuzzTarget(word);
    if (absl::ConsumePrefix(&word, "--seeds=")) seeds = word;
  }
  if (Chosen() == nullptr) Refuse("expected --target=NAME, one of those that --list prints");
  if (seeds.empty()) return;
  WriteSeeds(*Chosen(), seeds);
  std::exit(0);
}

}  // namespace
}  // namespace banyan

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  banyan::ReadFlags(*count, *words);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  banyan::Chosen()->run(absl::string_view(reinterpret_cast<const char*>(bytes), size));
  return 0;
}
