#include <memory>

#include "gtest/gtest.h"
#include "protocol/testing/record_store_conformance.h"
#include "sim/processes/simulated_process.h"

namespace banyan {
namespace {

struct MemoryStorage {
  std::unique_ptr<RecordStore> NewStore() { return std::make_unique<MemoryRecordStore>(&memory); }
  StoredRecords memory;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, RecordStoreConformance, MemoryStorage);

}  // namespace
}  // namespace banyan
