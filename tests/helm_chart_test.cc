// The Helm chart, as far as it can be looked at without Helm, which Debian does not have: with its own values in the
// places of what it takes from them, and lists as their first entry, it must be the manifests of deploy/kubernetes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace banyan {
namespace {

using ::testing::UnorderedElementsAre;

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The value that a template names: of the file, or of the first site.
std::string ValueOf(std::string path, const YAML::Node& values) {
  constexpr char kOfFile[] = ".Values";
  const bool is_of_file = path.starts_with(kOfFile);
  YAML::Node at = YAML::Clone(is_of_file ? values : values["sites"][0]);
  std::istringstream names(is_of_file ? path.substr(sizeof(kOfFile)) : path.substr(1));
  for (std::string name; std::getline(names, name, '.');) at = YAML::Clone(at[name]);
  EXPECT_TRUE(at.IsDefined() && !at.IsNull()) << path << " is not in values.yaml";
  YAML::Emitter emitter;
  emitter << YAML::Flow << at;
  return emitter.c_str();
}

// Takes out `if`, `range` and `end`, and puts values in.
std::string Rendered(const std::string& text, const YAML::Node& values) {
  static const std::regex kControl(R"(\{\{- (if \.Values\.\S+|range \.Values\.sites|end) \}\}\n)");
  static const std::regex kValue(R"(\{\{ (?:toJson )?\$?(\.[A-Za-z.]+) \}\})");
  const std::string plain = std::regex_replace(text, kControl, "");
  std::string rendered;
  auto last = plain.cbegin();
  for (std::sregex_iterator it(plain.begin(), plain.end(), kValue), end; it != end; ++it) {
    rendered.append(last, (*it)[0].first).append(ValueOf((*it)[1], values));
    last = (*it)[0].second;
  }
  rendered.append(last, plain.cend());
  EXPECT_EQ(rendered.find("{{"), std::string::npos) << "a template that this test does not know";
  return rendered;
}

std::vector<YAML::Node> Chart(const std::string& name) {
  const YAML::Node values = YAML::LoadFile("deploy/helm/values.yaml");
  return YAML::LoadAll(Rendered(TextOf("deploy/helm/templates/" + name), values));
}

// Without empty documents.
std::vector<YAML::Node> Objects(std::vector<YAML::Node> documents) {
  std::erase_if(documents, [](const YAML::Node& document) { return !document.IsMap(); });
  return documents;
}

// However it is quoted.
std::string Plain(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  std::string text = node.IsMap() ? "{" : "[";
  for (const auto& entry : node) {
    text += node.IsMap() ? Plain(entry.first) + ": " + Plain(entry.second) + ", " : Plain(entry) + ", ";
  }
  return text + (node.IsMap() ? "}" : "]");
}

YAML::Node OfKind(const std::vector<YAML::Node>& objects, const std::string& kind) {
  for (const YAML::Node& object : objects) {
    if (object["kind"].as<std::string>() == kind) return object;
  }
  ADD_FAILURE() << "there is no " << kind;
  return YAML::Node();
}

TEST(HelmChartTest, TheSchedulerIsThatOfTheManifests) {
  const std::vector<YAML::Node> chart = Objects(Chart("scheduler.yaml"));
  const std::vector<YAML::Node> plain = Objects(YAML::LoadAll(TextOf("deploy/kubernetes/scheduler.yaml")));
  ASSERT_EQ(chart.size(), plain.size());
  for (size_t i = 0; i < chart.size(); ++i) EXPECT_EQ(Plain(chart[i]), Plain(plain[i]));
}

TEST(HelmChartTest, ASiteHasWhatTheManifestsHave) {
  const std::vector<YAML::Node> chart = Objects(Chart("site.yaml"));
  std::vector<std::string> kinds;
  for (const YAML::Node& object : chart) {
    kinds.push_back(object["kind"].as<std::string>());
    EXPECT_EQ(object["metadata"]["name"].as<std::string>(), "banyan-berlin");
  }
  EXPECT_THAT(kinds, UnorderedElementsAre("Service", "Job", "PodDisruptionBudget"));
  const std::vector<YAML::Node> plain = Objects(YAML::LoadAll(TextOf("deploy/kubernetes/node.yaml")));
  for (const char* kind : {"Service", "Job", "PodDisruptionBudget"}) {
    EXPECT_EQ(Plain(OfKind(chart, kind)), Plain(OfKind(plain, kind)));
  }
}

// A training that is done stays done, and takes its node along.
TEST(HelmChartTest, ATrainingThatIsDoneIsNotStartedAgain) {
  const YAML::Node pod = OfKind(Objects(Chart("site.yaml")), "Job")["spec"]["template"]["spec"];
  EXPECT_EQ(pod["restartPolicy"].as<std::string>(), "OnFailure");
  ASSERT_EQ(pod["containers"].size(), 1u);
  EXPECT_EQ(pod["containers"][0]["name"].as<std::string>(), "train");
  EXPECT_EQ(pod["initContainers"][0]["restartPolicy"].as<std::string>(), "Always");
  EXPECT_EQ(pod["initContainers"][0]["livenessProbe"]["httpGet"]["path"].as<std::string>(), "/healthz");
}

}  // namespace
}  // namespace banyan
