#include "runtime/records/transcript_file.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/transcript/transcript_wire.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class TranscriptFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string directory = testing::TempDir() + "/transcript_XXXXXX";
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    path_ = directory + "/n1.transcript";
  }
  // Writes two records of a node that has joined.
  void Write() {
    TranscriptStart start;
    start.node = "n1";
    JoinAccepted joined;
    joined.term = Term(1);
    joined.node = NodeId(4);
    joined.start = StartId(1);
    joined.config.job = "job";
    joined.config.aggregation.fixed_order = true;
    TranscriptFile file(path_);
    ASSERT_TRUE(file.Open().ok());
    ASSERT_TRUE(file.Append({EncodeTranscript({start, joined})}).ok());
    ASSERT_TRUE(file.Append({EncodeTranscript({TranscriptComplete{KeyId(1), Round(0), 7}})}).ok());
  }
  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }
  void SetBytes(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string Error() const { return std::string(ReadTranscriptFile(path_).status().message()); }

  std::string path_;
};

TEST_F(TranscriptFileTest, ReadsWhatWasWritten) {
  Write();
  const auto transcript = ReadTranscriptFile(path_);
  ASSERT_TRUE(transcript.ok()) << transcript.status();
  EXPECT_EQ((*transcript)->start.node, "n1");
  EXPECT_EQ((*transcript)->joined.node, NodeId(4));
  EXPECT_EQ((*transcript)->events.size(), 1u);
}

TEST_F(TranscriptFileTest, LeavesOutATornEnd) {
  Write();
  SetBytes(Bytes().substr(0, Bytes().size() - 3));
  const auto transcript = ReadTranscriptFile(path_);
  ASSERT_TRUE(transcript.ok()) << transcript.status();
  EXPECT_EQ((*transcript)->events.size(), 0u);
}

TEST_F(TranscriptFileTest, NamesTheFileThatIsDamagedOrNone) {
  EXPECT_THAT(Error(), HasSubstr(path_));
  Write();
  std::string bytes = Bytes();
  bytes[40] ^= 1;
  SetBytes(bytes);
  EXPECT_EQ(ReadTranscriptFile(path_).status().code(), absl::StatusCode::kDataLoss);
  SetBytes("not a transcript at all, but something else");
  EXPECT_THAT(Error(), HasSubstr(path_ + ": "));
}

TEST_F(TranscriptFileTest, WritesOverNoOtherTranscript) {
  Write();
  TranscriptFile again(path_);
  EXPECT_EQ(again.Open().status().code(), absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace banyan
