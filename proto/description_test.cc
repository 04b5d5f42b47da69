// The descriptions of messages: they say what the published .proto files say, and every limit that they name is kept.
#include <google/protobuf/descriptor.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/envelope.pb.h"
#include "proto/field_wire.h"
#include "proto/session.pb.h"
#include "proto/session_codec.h"
#include "proto/testing/wire_samples.h"
#include "proto/wire.h"

namespace banyan {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using ::testing::HasSubstr;

// ---- the published files ----

// Compares a description with the message of a .proto file.
class ProtoComparison {
 public:
  static constexpr bool kReads = false;

  explicit ProtoComparison(const Descriptor* file) : file_(file) {}
  ~ProtoComparison() {
    EXPECT_EQ(static_cast<int>(seen_.size()), file_->field_count()) << file_->full_name() << " has other fields";
  }

  WireLimits limits() const { return {}; }

  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, Member&, Limits... limits) {
    Compare<Member>(number, name);
    (CompareLast(number, limits), ...);
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, Fixed<Member>, Limits...) {
    const FieldDescriptor* const field = Find(number, name);
    if (field == nullptr) return;
    EXPECT_TRUE(field->type() == FieldDescriptor::TYPE_FIXED64 || field->type() == FieldDescriptor::TYPE_SFIXED64)
        << field->full_name();
    EXPECT_EQ(field->is_repeated(), kIsList<Member>) << field->full_name();
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, ZigZag<Member>, Limits...) {
    const FieldDescriptor* const field = Find(number, name);
    if (field == nullptr) return;
    EXPECT_TRUE(field->type() == FieldDescriptor::TYPE_SINT32 || field->type() == FieldDescriptor::TYPE_SINT64)
        << field->full_name();
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, Explicit<Member>, Limits...) {
    Compare<Member>(number, name);
    EXPECT_TRUE(file_->FindFieldByNumber(number)->has_presence()) << name;
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, UnlessDefault<Member>, Limits...) {
    Compare<Member>(number, name);
  }
  template <typename Entry, typename Describe, typename... Limits>
  void List(int number, const char* name, std::vector<Entry>&, Describe describe, Limits...) {
    const FieldDescriptor* const field = Find(number, name);
    if (field == nullptr) return;
    EXPECT_TRUE(field->is_repeated()) << field->full_name();
    ASSERT_EQ(field->type(), FieldDescriptor::TYPE_MESSAGE) << field->full_name();
    Entry entry;
    ProtoComparison within(field->message_type());
    describe(within, entry);
  }
  template <typename Entry>
  void Runs(int number, const char* name, std::vector<Entry>& entries) {
    List(number, name, entries, [](ProtoComparison& v, Entry& entry) { Fields(v, entry); });
  }
  void MoreKeys(int number) { Find(number, "more_keys"); }
  template <typename Function>
  void Check(Function) {}

 private:
  const FieldDescriptor* Find(int number, absl::string_view name) {
    const FieldDescriptor* const field = file_->FindFieldByNumber(number);
    EXPECT_NE(field, nullptr) << file_->full_name() << " has no field " << number;
    EXPECT_TRUE(seen_.empty() || *seen_.rbegin() < number) << name << " comes after a higher number";
    seen_.insert(number);
    if (field != nullptr) {
      EXPECT_TRUE(field->name() == name || field->name() == absl::StrCat(name, "_ns"))
          << field->full_name() << " is described as " << name;
    }
    return field;
  }

  template <typename T>
  static bool Fits(FieldDescriptor::Type type) {
    using F = FieldDescriptor;
    if constexpr (std::is_same_v<T, bool>) return type == F::TYPE_BOOL;
    if constexpr (std::is_same_v<T, double>) return type == F::TYPE_DOUBLE;
    if constexpr (std::is_same_v<T, Timestamp>) return type == F::TYPE_SFIXED64;
    if constexpr (std::is_same_v<T, absl::Duration>) return type == F::TYPE_INT64;
    if constexpr (std::is_same_v<T, std::string>) return type == F::TYPE_BYTES;
    if constexpr (std::is_enum_v<T>) return type == F::TYPE_ENUM || type == F::TYPE_UINT32;
    if constexpr (kIsId<T>) {
      if (KindOf<T>() == WireKind::kFixed64) return type == F::TYPE_FIXED64;
      return type == (sizeof(T) == 4 ? F::TYPE_UINT32 : F::TYPE_UINT64);
    }
    if constexpr (std::is_same_v<T, int64_t>) return type == F::TYPE_INT64 || type == F::TYPE_UINT64;
    if constexpr (std::is_same_v<T, uint64_t>) return type == F::TYPE_UINT64;
    return type == F::TYPE_UINT32 && sizeof(T) == 4;
  }

  template <typename Member>
  void Compare(int number, const char* name) {
    const FieldDescriptor* const field = Find(number, name);
    if (field == nullptr) return;
    if constexpr (kIsList<Member>) {
      using Entry = typename Member::value_type;
      EXPECT_TRUE(field->is_repeated()) << field->full_name();
      CompareType<Entry>(*field);
    } else if constexpr (kIsOptional<Member>) {
      EXPECT_TRUE(field->has_presence()) << field->full_name();
      CompareType<typename Member::value_type>(*field);
    } else {
      EXPECT_FALSE(field->is_repeated()) << field->full_name();
      CompareType<Member>(*field);
    }
  }

  template <typename T>
  void CompareType(const FieldDescriptor& field) {
    if constexpr (kIsScalar<T> || std::is_same_v<T, std::string>) {
      EXPECT_TRUE(Fits<T>(field.type())) << field.full_name() << " is " << field.type_name();
    } else {
      ASSERT_EQ(field.type(), FieldDescriptor::TYPE_MESSAGE) << field.full_name();
      T value;
      ProtoComparison within(field.message_type());
      Fields(within, value);
    }
  }

  // The last number of an enum is that of the file. A codec that is not known yet is let through.
  template <typename Enum>
  void CompareLast(int number, UpTo<Enum> enums) {
    const FieldDescriptor* const field = file_->FindFieldByNumber(number);
    if (field == nullptr || field->type() != FieldDescriptor::TYPE_ENUM || std::is_same_v<Enum, CodecId>) return;
    const auto* const type = field->enum_type();
    EXPECT_EQ(static_cast<int>(enums.last), type->value(type->value_count() - 1)->number()) << field->full_name();
  }
  template <typename Limit>
  void CompareLast(int, Limit) {}

  const Descriptor* const file_;
  std::set<int> seen_;
};

// Compares each alternative with the field of the envelope under whose number it is sent.
template <typename Variant, typename Encode>
void CompareEnvelope(const Descriptor* envelope, Encode encode) {
  std::set<int> numbers;
  const auto compare = [&]<size_t i>(std::integral_constant<size_t, i>) {
    using Alternative = std::variant_alternative_t<i, Variant>;
    Alternative message;
    const int number = OpenEnvelope(encode(message)).number;
    EXPECT_TRUE(numbers.insert(number).second) << number << " stands for two messages";
    const FieldDescriptor* const field = envelope->FindFieldByNumber(number);
    ASSERT_NE(field, nullptr) << number;
    ProtoComparison comparison(field->message_type());
    Fields(comparison, message);
  };
  [&]<size_t... i>(std::index_sequence<i...>) { (compare(std::integral_constant<size_t, i>()), ...); }
  (std::make_index_sequence<std::variant_size_v<Variant>>());
  EXPECT_EQ(static_cast<int>(numbers.size()), envelope->field_count());
}

TEST(DescriptionTest, DescriptionsSayWhatThePublishedFilesSay) {
  CompareEnvelope<AnyMessage>(wire::Envelope::descriptor(), [](auto m) { return EncodeMessage(m); });
  CompareEnvelope<WorkerMessage>(session::WorkerMessage::descriptor(), [](auto m) { return EncodeWorkerMessage(m); });
  CompareEnvelope<WorkerReply>(session::WorkerReply::descriptor(), [](auto m) { return EncodeWorkerReply(m); });
}

// ---- enums: what a number means ----

static_assert(static_cast<int>(Half::kBroadcast) == wire::HALF_BROADCAST);
static_assert(static_cast<int>(RoundKind::kFlush) == wire::ROUND_KIND_FLUSH);
static_assert(static_cast<int>(CodecId::kTopK) == wire::CODEC_ID_TOP_K);
static_assert(static_cast<int>(CodecId::kOneBitRht) == wire::CODEC_ID_ONE_BIT_RHT);
static_assert(static_cast<int>(CodecId::kTrimTopK) == wire::CODEC_ID_TRIM_TOP_K);
static_assert(static_cast<int>(CodecId::kVoteDecision) == wire::CODEC_ID_VOTE_DECISION);
static_assert(static_cast<int>(CodecId::kInt64) == wire::CODEC_ID_INT64);
static_assert(static_cast<int>(AggregationOp::kMomentum) == wire::AGGREGATION_OP_MOMENTUM);
static_assert(static_cast<int>(NotFiniteRule::kSkip) == wire::NOT_FINITE_RULE_SKIP);
static_assert(static_cast<int>(RatioControllerKind::kNetSense) == wire::RATIO_CONTROLLER_NET_SENSE);
static_assert(static_cast<int>(RatioControllerKind::kDa3) == wire::RATIO_CONTROLLER_DA3);
static_assert(static_cast<int>(TopKSelection::kSampled) == wire::SELECTION_SAMPLED);
static_assert(static_cast<int>(TrimPolicyKind::kQueue) == wire::TRIM_POLICY_QUEUE);
static_assert(static_cast<int>(LowBitFamily::kTernary) == wire::LOW_BIT_FAMILY_TERNARY);
static_assert(static_cast<int>(ZeroGate::kResult) == wire::ZERO_GATE_RESULT);
static_assert(static_cast<int>(VoteAggregate::kMean) == wire::VOTE_AGGREGATE_MEAN);
static_assert(static_cast<int>(TieRule::kPositive) == wire::TIE_RULE_POSITIVE);
static_assert(static_cast<int>(RateEstimator::kOneWayDelay) == wire::RATE_ESTIMATOR_ONE_WAY_DELAY);
static_assert(static_cast<int>(PrecisionRoute::kLowBit) == wire::PRECISION_ROUTE_LOW_BIT);
static_assert(static_cast<int>(LinkMeasurement::Source::kAuxiliary) == wire::MEASUREMENT_SOURCE_AUXILIARY);

// ---- limits ----

// Walks through a message and puts a value beyond one of its limits into it: the `target`-th that there is to choose.
class Spoiler {
 public:
  static constexpr bool kReads = false;

  explicit Spoiler(int target) : target_(target) {}

  // The path of what was spoilt; empty when there are fewer limits than `target`.
  const std::string& path() const { return path_; }
  WireLimits limits() const { return {}; }

  template <typename Member, typename... Limits>
  void operator()(int, const char* name, Member& member, Limits... limits) {
    if constexpr (kIsOptional<Member>) {
      if (member.has_value()) (*this)(0, name, *member, limits...);
    } else if constexpr (kIsList<Member>) {
      using Entry = typename Member::value_type;
      (SpoilLength(name, member, limits), ...);
      if constexpr (std::is_same_v<Member, std::vector<Entry>>) {
        if (member.empty()) return;
        if constexpr (kIsScalar<Entry> || std::is_same_v<Entry, std::string>) {
          Entry first = member.front();
          (*this)(0, name, first, limits...);
          member.front() = first;
        } else {
          Within(absl::StrCat(name, "[0]"), [&](Spoiler& v) { Fields(v, member.front()); });
        }
      }
    } else if constexpr (kIsScalar<Member> || std::is_same_v<Member, std::string>) {
      (Spoil(name, member, limits), ...);
    } else {
      Within(name, [&](Spoiler& v) { Fields(v, member); });
    }
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, Fixed<Member> wrapped, Limits... limits) {
    (*this)(number, name, wrapped.member, limits...);
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, ZigZag<Member> wrapped, Limits... limits) {
    (*this)(number, name, wrapped.member, limits...);
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, Explicit<Member> wrapped, Limits... limits) {
    (*this)(number, name, wrapped.member, limits...);
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, UnlessDefault<Member> wrapped, Limits... limits) {
    (*this)(number, name, wrapped.member, limits...);
  }
  template <typename Entry, typename Describe, typename... Limits>
  void List(int, const char* name, std::vector<Entry>& entries, Describe describe, Limits... limits) {
    (SpoilLength(name, entries, limits), ...);
    if (!entries.empty()) Within(absl::StrCat(name, "[0]"), [&](Spoiler& v) { describe(v, entries.front()); });
  }
  template <typename Entry>
  void Runs(int, const char* name, std::vector<Entry>& entries) {
    if (!entries.empty()) Within(absl::StrCat(name, "[0]"), [&](Spoiler& v) { Fields(v, entries.front()); });
  }
  void MoreKeys(int) {}
  template <typename Function>
  void Check(Function) {}

 private:
  template <typename Visit>
  void Within(const std::string& name, Visit visit) {
    const std::string outside = prefix_;
    absl::StrAppend(&prefix_, name, ".");
    visit(*this);
    prefix_ = outside;
  }

  // Says whether it is the turn of a limit of this field, and notes that then.
  bool IsChosen(const char* name) {
    if (target_-- != 0) return false;
    path_ = prefix_ + name;
    return true;
  }

  template <typename T>
  void Spoil(const char* name, T& member, NonZero) {
    if (IsChosen(name)) member = T();
  }
  template <typename T, typename Number>
  void Spoil(const char* name, T& member, Range<Number> range) {
    if constexpr (std::is_enum_v<Number>) {
      if (IsChosen(name)) member = static_cast<T>(static_cast<int>(range.high) + 1);
    } else if constexpr (std::is_same_v<Number, double>) {
      if (IsChosen(name)) member = std::nextafter(range.low, -std::numeric_limits<double>::infinity());
      if (range.high < std::numeric_limits<double>::max() && IsChosen(name)) member = range.high * (1 + 1e-9) + 1e-9;
      if (IsChosen(name)) member = std::numeric_limits<double>::quiet_NaN();
    } else if constexpr (!std::is_same_v<T, absl::Duration>) {
      if (range.low > std::numeric_limits<Number>::min() && IsChosen(name)) member = static_cast<T>(range.low - 1);
      if (range.high < std::numeric_limits<Number>::max() && IsChosen(name)) member = static_cast<T>(range.high + 1);
    }
  }
  template <typename T>
  void Spoil(const char* name, T& member, UpTo<T> enums) {
    const int beyond = static_cast<int>(enums.last) + 1;
    if (beyond > std::numeric_limits<std::underlying_type_t<T>>::max()) return;
    if (IsChosen(name)) member = static_cast<T>(beyond);
  }
  void Spoil(const char* name, double& member, Finite) {
    if (IsChosen(name)) member = std::numeric_limits<double>::infinity();
  }
  void Spoil(const char* name, absl::Duration& member, AtLeast least) {
    if (IsChosen(name)) member = least.low - absl::Nanoseconds(1);
    if (IsChosen(name)) member = kMaxWireDuration + absl::Nanoseconds(1);
  }
  void Spoil(const char* name, std::string& member, TextRule rule) {
    if (rule == TextRule::kReason) return;
    if (IsChosen(name)) member = std::string(limits().max_name_bytes + 1, 'x');
    if (rule == TextRule::kName && IsChosen(name)) member = "";
    if (rule == TextRule::kName && IsChosen(name)) member = "tab\tbed";
  }
  template <typename T>
  void Spoil(const char*, T&, Entries) {}
  template <typename T>
  void Spoil(const char*, T&, Metric) {}

  template <typename List>
  void SpoilLength(const char* name, List& list, Entries entries) {
    if (list.empty()) return;
    if (entries.high < limits().max_entries && IsChosen(name)) list.resize(entries.high + 1, list.front());
    if (entries.low > 0 && IsChosen(name)) list.resize(entries.low - 1);
  }
  template <typename List, typename Limit>
  void SpoilLength(const char*, List&, Limit) {}

  int target_;
  std::string prefix_;
  std::string path_;
};

TEST(DescriptionTest, EveryLimitThatAMessageHasIsKept) {
  int refused = 0;
  int unsendable = 0;
  for (const WireSample& sample : WireSamples()) {
    const std::string intact = EncodeMessage(sample.message);
    for (int target = 0;; ++target) {
      Message message = sample.message;
      Spoiler spoiler(target);
      std::visit([&spoiler](auto& m) { Fields(spoiler, m); }, static_cast<AnyMessage&>(message));
      if (spoiler.path().empty()) break;
      const std::string bytes = EncodeMessage(message);
      // Some limits the sender keeps by itself, whatever it is told to send.
      if (bytes == intact) {
        ++unsendable;
        continue;
      }
      const absl::Status status = DecodeMessage(bytes, sample.payload).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << spoiler.path();
      EXPECT_THAT(std::string(status.message()), HasSubstr(spoiler.path()))
          << "of a message of " << sample.message.index();
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
  EXPECT_LT(unsendable, 20);
}

}  // namespace
}  // namespace banyan
