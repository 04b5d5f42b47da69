// libFuzzer's entry points. `fuzzer --target=NAME CORPUS [libFuzzer's flags]` looks for bytes that break a target, with
// `--seeds=FOLDER` it writes what the target takes to begin with, and without a target it prints their names.
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

[[noreturn]] void Refuse(absl::string_view target) {
  std::cerr << "fuzzer: expected the name of a target, got '" << target << "'; called without any, it prints them\n";
  std::exit(2);
}

// Reads this program's own flags, which libFuzzer leaves alone as they begin with two dashes.
void ReadFlags(int count, char** words) {
  absl::string_view seeds;
  for (int i = 1; i < count; ++i) {
    absl::string_view word = words[i];
    if (absl::ConsumePrefix(&word, "--target=")) {
      Chosen() = FindFuzzTarget(word);
      if (Chosen() == nullptr) Refuse(word);
    }
    if (absl::ConsumePrefix(&word, "--seeds=")) seeds = word;
  }
  if (Chosen() != nullptr && seeds.empty()) return;
  if (Chosen() == nullptr) {
    List();
  } else {
    WriteSeeds(*Chosen(), seeds);
  }
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
