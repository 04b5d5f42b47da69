#include "tests/tidy/source_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace banyan {
namespace {

namespace fs = std::filesystem;

bool IsWritten(const fs::path& path) {
  static const std::set<std::string> kExtensions = {".h",  ".cc", ".proto", ".bzl", ".BUILD",   ".sh", ".yaml",
                                                    ".ts", ".md", ".cu",    ".cuh", ".service", ".py", ".c"};
  static const std::set<std::string> kNames = {"BUILD", "WORKSPACE", "banyan"};
  return kExtensions.contains(path.extension().string()) || kNames.contains(path.filename().string());
}

bool IsForeign(const fs::directory_entry& entry) {
  std::string name = entry.path().filename().string();
  return entry.is_symlink() || name.starts_with(".");
}

}  // namespace

std::string SourceFile::Folder() const {
  size_t slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool SourceFile::EndsWith(const std::string& suffix) const { return path.ends_with(suffix); }

bool SourceFile::IsCode() const { return EndsWith(".h") || EndsWith(".cc") || EndsWith(".cu") || EndsWith(".cuh"); }

bool SourceFile::IsBuildFile() const { return path == "BUILD" || EndsWith("/BUILD"); }

std::string Finding(const SourceFile& file, int line, const std::string& message) {
  return file.path + ":" + std::to_string(line) + ": " + message;
}

std::string ParentFolder(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string Stem(const std::string& path) {
  for (const char* ending : {".h", ".cc", ".cu", ".cuh"}) {
    if (path.ends_with(ending)) return path.substr(0, path.rfind('.'));
  }
  return path;
}

bool IsTest(const std::string& path) {
  return path.ends_with("_test.cc") || path.find("/testing/") != std::string::npos;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<SourceFile> ReadSourceTree(const fs::path& root) {
  std::vector<SourceFile> files;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator(); ++it) {
    if (IsForeign(*it)) {
      if (it->is_directory()) it.disable_recursion_pending();
      continue;
    }
    if (!it->is_regular_file() || !IsWritten(it->path())) continue;
    std::ifstream in(it->path());
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    files.push_back({fs::relative(it->path(), root).generic_string(), std::move(text)});
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace banyan
