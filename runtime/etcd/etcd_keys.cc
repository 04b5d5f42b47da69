#include "runtime/etcd/etcd_keys.h"

#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

auto Number(uint64_t number) { return absl::Hex(number, absl::kZeroPad16); }

}  // namespace

EtcdKeys::EtcdKeys(absl::string_view job) : root_(absl::StrCat("/banyan/", job, "/")) {}

std::string EtcdKeys::SnapshotOf(uint64_t generation) const {
  return absl::StrCat(Snapshots(), Number(generation), "/");
}

std::string EtcdKeys::LogOf(uint64_t generation) const { return absl::StrCat(Logs(), Number(generation), "/"); }

std::string EtcdPartKey(absl::string_view prefix, uint64_t offset) { return absl::StrCat(prefix, Number(offset)); }

std::string EtcdRangeEnd(absl::string_view prefix) {
  std::string end(prefix);
  ++end.back();
  return end;
}

}  // namespace banyan
