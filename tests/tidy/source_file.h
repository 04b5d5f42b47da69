// A text file of the repository, and the repository as a list of them. Values; thread-compatible.
#ifndef BANYAN_TESTS_TIDY_SOURCE_FILE_H_
#define BANYAN_TESTS_TIDY_SOURCE_FILE_H_

#include <filesystem>
#include <string>
#include <vector>

namespace banyan {

struct SourceFile {
  std::string path;  // from the repository's root, with '/'
  std::string text;

  // The first folder of the path; empty for a file at the root.
  std::string Folder() const;
  bool EndsWith(const std::string& suffix) const;
  // A C++ file, of either kind.
  bool IsCode() const;
  bool IsBuildFile() const;
};

// One breach of a rule, as "path:line: what is wrong and what to do". Lines count from 1.
std::string Finding(const SourceFile& file, int line, const std::string& message);

// The folder around a file or folder; empty for what lies at the root.
std::string ParentFolder(const std::string& path);

// The path of a code file without its ending. A header and its sources have the same one.
std::string Stem(const std::string& path);

// Tells if a file exists for tests alone: a test, or a helper in a folder testing/.
bool IsTest(const std::string& path);

// The text's lines without their ends.
std::vector<std::string> Lines(const std::string& text);

// Every file that a person writes (code, build rules, scripts, schemas, pages, configurations), in order of the path.
// Leaves out hidden folders, Bazel's links, and files of other kinds.
std::vector<SourceFile> ReadSourceTree(const std::filesystem::path& root);

}  // namespace banyan

#endif  // BANYAN_TESTS_TIDY_SOURCE_FILE_H_
