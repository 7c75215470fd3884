#include <gtest/gtest.h>

#include "lib/endpoint/testing_server.h"

namespace apimesh::endpoint {
namespace {

using namespace std::chrono_literals;

const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";

class Tables : public ::testing::Test {
 protected:
  void Make(const std::string& name) {
    const std::string body = R"({"metadata":{"name":")" + name + R"("},"spec":{"selector":{"matchLabels":{"a":"b"}},
        "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})";
    ASSERT_EQ(server.Send("POST", kDeployments, body).code, 201);
  }
  /// Returns the text between the brackets of "rows".
  std::string Rows(const std::string& target, const std::string& version = "v1") {
    const std::string body =
        server.Send("GET", target, "", {{"accept", "application/json;as=Table;v=" + version + ";g=meta.k8s.io"}}).body;
    const std::size_t begin = body.find("\"rows\":["), end = body.rfind("]}");
    if (begin == std::string::npos || end == std::string::npos) return "no table: " + body;
    return body.substr(begin + 8, end - begin - 8);
  }
  TestServer server;
};

TEST_F(Tables, KeptRowsAreWhatNewOnesWouldBe) {
  Make("a");
  server.clock.Advance(77777ms);
  Make("b");
  // The steps have different lengths, so that rows are requested at times of every unit of an age. Sometimes the clock
  // goes back.
  const std::chrono::milliseconds steps[] = {0ms,    400ms, 700ms,     1s,   -1500ms,   31s, 1min, 239s,
                                             400s,   1801s, 3599999ms, 1ms,  -1ms,      1ms, 2h,   10h,
                                             86399s, 1s,    25h,       168h, 24h * 365, 24h, -48h, 24h * 3650};
  for (const std::chrono::milliseconds step : steps) {
    server.clock.Advance(step);
    for (const char* include : {"Metadata", "None", "Object"}) {
      for (const char* version : {"v1", "v1beta1"}) {
        const std::string query = std::string("?includeObject=") + include;
        const std::string one_by_one =
            Rows(kDeployments + "/a" + query, version) + "," + Rows(kDeployments + "/b" + query, version);
        EXPECT_EQ(Rows(kDeployments + query, version), one_by_one) << step.count();
      }
    }
  }
}

TEST_F(Tables, RowsAreMadeAgainWhenAnAgeChanges) {
  Make("a");
  const auto made = [this](std::chrono::milliseconds step) {
    server.clock.Advance(step);
    const int before = server.cells_made;
    for (const char* query : {"", "?includeObject=None", "?includeObject=Object", ""}) Rows(kDeployments + query);
    return server.cells_made - before;
  };
  EXPECT_EQ(made(0ms), 1);
  EXPECT_EQ(made(999ms), 0);
  EXPECT_EQ(made(1ms), 1) << "1s";
  EXPECT_EQ(made(1h), 1) << "60m";
  EXPECT_EQ(made(58s), 0);
  EXPECT_EQ(made(1s), 1) << "61m";
  EXPECT_EQ(made(-1s), 1) << "the clock was set back";
}

TEST_F(Tables, ChangedObjectsHaveOtherRows) {
  Make("a");
  const std::string before = Rows(kDeployments);
  server.Send("PATCH", kDeployments + "/a", R"({"metadata":{"labels":{"x":"y"}}})",
              {{"content-type", "application/merge-patch+json"}});
  EXPECT_NE(Rows(kDeployments), before);
  EXPECT_NE(Rows(kDeployments).find(R"("labels":{"x":"y"})"), std::string::npos);
}

}  // namespace
}  // namespace apimesh::endpoint
