#include "runtime/etcd/etcd_api.h"

namespace banyan {
namespace {

std::string Bytes(absl::string_view text) { return std::string(text); }

}  // namespace

etcd::RangeRequest EtcdRead(absl::string_view key) {
  etcd::RangeRequest request;
  request.set_key(Bytes(key));
  return request;
}

etcd::RequestOp EtcdReadOp(absl::string_view key) {
  etcd::RequestOp op;
  *op.mutable_request_range() = EtcdRead(key);
  return op;
}

etcd::RequestOp EtcdPutOp(absl::string_view key, absl::string_view value) {
  etcd::RequestOp op;
  op.mutable_request_put()->set_key(Bytes(key));
  op.mutable_request_put()->set_value(Bytes(value));
  return op;
}

etcd::RequestOp EtcdDeleteOp(absl::string_view first, absl::string_view end) {
  etcd::RequestOp op;
  op.mutable_request_delete_range()->set_key(Bytes(first));
  op.mutable_request_delete_range()->set_range_end(Bytes(end));
  return op;
}

etcd::Compare EtcdCreatedIn(absl::string_view key, int64_t revision) {
  etcd::Compare compare;
  compare.set_target(etcd::Compare::CREATE);
  compare.set_key(Bytes(key));
  compare.set_create_revision(revision);
  return compare;
}

etcd::Compare EtcdHasValue(absl::string_view key, absl::string_view value) {
  etcd::Compare compare;
  compare.set_target(etcd::Compare::VALUE);
  compare.set_key(Bytes(key));
  compare.set_value(Bytes(value));
  return compare;
}

}  // namespace banyan
