// Bytes that tests hold fast: a file of the repository with a line of hexadecimal digits for each sample, after
// comments that begin with '#'.
#ifndef BANYAN_PROTO_TESTING_GOLDEN_H_
#define BANYAN_PROTO_TESTING_GOLDEN_H_

#include <fstream>
#include <string>
#include <vector>

namespace banyan {

// Returns the lines of the file, a path from the repository's root that the test has among its `data`.
inline std::vector<std::string> GoldenLines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) lines.push_back(line);
  }
  return lines;
}

}  // namespace banyan

#endif  // BANYAN_PROTO_TESTING_GOLDEN_H_
