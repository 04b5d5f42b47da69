// The files of a job's page, as the build bundles them (BUILD of this folder). Pure.
#ifndef BANYAN_TOOLS_PAGE_PAGE_FILES_H_
#define BANYAN_TOOLS_PAGE_PAGE_FILES_H_

#include <vector>

#include "absl/strings/string_view.h"

namespace banyan {

struct PageFile {
  const char* path;  // at which it is served
  const char* content_type;
  absl::string_view bytes;
};

std::vector<PageFile> PageFiles();

}  // namespace banyan

#endif  // BANYAN_TOOLS_PAGE_PAGE_FILES_H_
