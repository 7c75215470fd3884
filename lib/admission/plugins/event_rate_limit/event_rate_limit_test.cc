#include "lib/admission/plugins/event_rate_limit/event_rate_limit.h"

#include "lib/admission/testing_cluster.h"
#include "lib/testing/manual_clock.h"

namespace apimesh::admission {
namespace {

class EventRates : public ::testing::Test {
 protected:
  void Limit(const std::string& limits) { plugin_ = Make(limits); }
  std::unique_ptr<Plugin> Make(const std::string& limits) {
    PluginInputs inputs;
    inputs.clock = &clock_;
    inputs.section = fmt::format(
        R"({{"apiVersion":"eventratelimit.admission.k8s.io/v1alpha1","kind":"Configuration","limits":[{}]}})", limits);
    return MakeEventRateLimit(inputs);
  }
  std::string StartError(const std::string& limits) {
    try {
      (void)Make(limits);
      return "";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  }
  std::string Send(const std::string& ns = "ns", const std::string& user = "jane", const std::string& object = "{}",
                   const std::string& resource = "events", bool dry_run = false) {
    return TestCluster::Run(
               *plugin_, {.resource = resource, .object = object, .ns = ns, .user = {.name = user}, .dry_run = dry_run})
        .error;
  }
  testing::ManualClock clock_;
  std::unique_ptr<Plugin> plugin_;
};

TEST_F(EventRates, OfTheServer) {
  Limit(R"({"type":"Server","qps":1,"burst":2})");
  EXPECT_EQ(Send("a", "x"), "");
  EXPECT_EQ(Send("b", "y"), "");
  EXPECT_EQ(Send("c", "z"), "429 Too many requests: limit reached on type Server for key ");
  EXPECT_EQ(Send("c", "z", "{}", "events", true), "") << "dry runs store nothing";
  EXPECT_EQ(Send("c", "z", "{}", "pods"), "");
  EXPECT_EQ(Send("c", "z", "{}", "events.events.k8s.io"), "") << "as in kube-apiserver, only events of the core group";
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Send(), "");
  EXPECT_NE(Send(), "");
}

TEST_F(EventRates, OfNamespacesAndUsers) {
  Limit(R"({"type":"Namespace","qps":1,"burst":1},{"type":"User","qps":1,"burst":2})");
  EXPECT_EQ(Send("a", "x"), "");
  EXPECT_EQ(Send("b", "x"), "");
  EXPECT_EQ(Send("b", "y"), "429 Too many requests: limit reached on type Namespace for key b");
  EXPECT_EQ(Send("c", "x"), "429 Too many requests: limit reached on type User for key x");
  EXPECT_EQ(Send("a", "x"),
            "429 Too many requests: [limit reached on type Namespace for key a, limit reached on type User for key x]");
}

TEST_F(EventRates, OfSourcesAndObjects) {
  Limit(R"({"type":"SourceAndObject","qps":1,"burst":1})");
  const std::string event = R"({"source":{"component":"k","host":"h"},"involvedObject":{"kind":"Pod","name":"p"}})";
  EXPECT_EQ(Send("ns", "x", event), "");
  EXPECT_EQ(Send("ns", "x", event), "429 Too many requests: limit reached on type SourceAndObject for key khPodp");
  EXPECT_EQ(Send("ns", "x", R"({"source":{"component":"k","host":"h"},"involvedObject":{"kind":"Pod","name":"q"}})"),
            "");
}

TEST_F(EventRates, TheCacheForgetsTheOldestKey) {
  Limit(R"({"type":"Namespace","qps":1,"burst":1,"cacheSize":2})");
  EXPECT_EQ(Send("a"), "");
  EXPECT_EQ(Send("b"), "");
  EXPECT_NE(Send("a"), "");
  EXPECT_EQ(Send("c"), "") << "b is forgotten";
  EXPECT_NE(Send("a"), "");
  EXPECT_EQ(Send("b"), "");
}

TEST_F(EventRates, RefusesWrongConfigurations) {
  EXPECT_EQ(StartError(R"({"type":"User","qps":5,"burst":10,"cacheSize":0})"), "");
  EXPECT_EQ(StartError(""), "limits: Invalid value: []: must not be empty");
  EXPECT_EQ(StartError(R"({"type":"Server","qps":1})"), "limits[0].burst: Invalid value: 0: must be positive");
  EXPECT_EQ(StartError(R"({"type":"Server","burst":1,"qps":-1})"),
            "limits[0].qps: Invalid value: -1: must be positive");
  EXPECT_EQ(StartError(R"({"type":"User","burst":1,"qps":1,"cacheSize":-1})"),
            "limits[0].cacheSize: Invalid value: -1: must not be negative");
  EXPECT_THAT(StartError(R"({"type":"Pod","burst":1,"qps":1})"),
              ::testing::HasSubstr(R"(limits[0].type: Unsupported value: "Pod")"));
  EXPECT_THROW((void)MakeEventRateLimit({}), std::invalid_argument);
}

}  // namespace
}  // namespace apimesh::admission
