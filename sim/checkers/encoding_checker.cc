#include "sim/checkers/encoding_checker.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/wire.h"
#include "sim/message_facts.h"

namespace banyan {

void EncodingChecker::OnSent(const SentMessage& sent) {
  const absl::StatusOr<Message> decoded = DecodeMessage(EncodeMessage(sent.message), sent.payload);
  if (decoded.ok() && *decoded == sent.message) return;
  violations_->Add(
      sent.now, "encoding",
      absl::StrCat("node ", sent.from.value(), " to node ", sent.to.value(), ": ", DescribeMessage(sent.message), ": ",
                   decoded.ok() ? "differs after decoding" : decoded.status().ToString()));
}

}  // namespace banyan
