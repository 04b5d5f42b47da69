// What a node chose for one chunk before it encoded it, beyond what the job's rules say. Value; thread-compatible.
#ifndef BANYAN_PROTO_COMPRESSION_ENCODING_CHOICE_H_
#define BANYAN_PROTO_COMPRESSION_ENCODING_CHOICE_H_

namespace banyan {

struct EncodingChoice {
  double ratio = 1;       // of a sparse codec
  double share = 1;       // of an encoding in levels: so much of it is sent
  bool is_light = false;  // the rule's light codec in place of its own

  friend bool operator==(const EncodingChoice&, const EncodingChoice&) = default;
};

}  // namespace banyan

#endif  // BANYAN_PROTO_COMPRESSION_ENCODING_CHOICE_H_
