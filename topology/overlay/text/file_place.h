// Where something stands in a text file. Plain values.
#ifndef BANYAN_TOPOLOGY_OVERLAY_TEXT_FILE_PLACE_H_
#define BANYAN_TOPOLOGY_OVERLAY_TEXT_FILE_PLACE_H_

namespace banyan {

struct FilePlace {
  int line = 1;  // both from 1
  int column = 1;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_TEXT_FILE_PLACE_H_
