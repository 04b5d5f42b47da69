#include "sim/encoding_checker.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/wire.h"
#include "sim/message_facts.h"

namespace banyan {

void EncodingChecker::OnSent(const Traffic& traffic) {
  const absl::StatusOr<Message> decoded = DecodeMessage(EncodeMessage(traffic.message), traffic.payload);
  if (decoded.ok() && *decoded == traffic.message) return;
  violations_->Add(traffic.now, "encoding",
                   absl::StrCat("node ", traffic.from.value(), " to node ", traffic.to.value(), ": ",
                                DescribeMessage(traffic.message), ": ",
                                decoded.ok() ? "differs after decoding" : decoded.status().ToString()));
}

}  // namespace banyan
