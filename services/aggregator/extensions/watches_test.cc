#include "services/aggregator/extensions/watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/testing/run.h"
#include "proto/mesh/v1/delegate.pb.h"

namespace apimesh::aggregator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Records what is written: "head 200", "event <position>[ bookmark]: <bytes>", "write: <bytes>".
class Recorder final : public mesh::ResponseStream {
 public:
  std::vector<std::string> seen;
  mesh::Headers headers;

  Task<bool> WriteHead(int code, mesh::Headers head) override {
    headers = std::move(head);
    seen.push_back(fmt::format("head {}", code));
    co_return true;
  }
  Task<bool> Write(std::vector<SharedBytes> pieces) override {
    seen.push_back("write: " + Join(pieces));
    co_return true;
  }
  Task<bool> WriteEvents(std::vector<SharedBytes> pieces, mesh::ResumePosition position) override {
    seen.push_back(
        fmt::format("event {}{}: {}", position.revision, position.bookmark ? " bookmark" : "", Join(pieces)));
    co_return true;
  }
  void OnCancel(std::function<void()>) override {}
  void Abort() override { seen.emplace_back("abort"); }

 private:
  static std::string Join(const std::vector<SharedBytes>& pieces) {
    std::string text;
    for (const SharedBytes& piece : pieces) text += piece.View();
    return text;
  }
};

std::string Event(const std::string& type, const std::string& version) {
  return R"({"type":")" + type + R"(","object":{"metadata":{"resourceVersion":")" + version + "\"}}}\n";
}

struct Followed {
  Recorder out;
  FollowedWatch watch{5, out};

  Followed() {
    mesh::Headers none;
    testing::RunTask(watch.WriteHead(200, std::move(none)));
  }
  bool Write(std::string text) {
    return testing::RunTask(watch.Write(std::vector<SharedBytes>(1, SharedBytes(std::move(text)))));
  }
};

TEST(FollowedWatch, FindsThePositionsOfEvents) {
  Followed followed;
  const std::string six = Event("ADDED", "6"), nine = Event("DELETED", "9"), mark = Event("BOOKMARK", "9");
  EXPECT_TRUE(followed.Write(six + nine.substr(0, 20)));
  EXPECT_TRUE(followed.Write(nine.substr(20)));
  EXPECT_TRUE(followed.Write("\n" + mark));
  EXPECT_THAT(followed.out.seen,
              ElementsAre("head 200", "event 6: " + six, "event 9: " + nine, "event 9 bookmark: " + mark));
}

TEST(FollowedWatch, EndsIfVersionsDoNotIncrease) {
  for (const std::string& bad :
       {Event("ADDED", "5"), Event("ADDED", "4"), Event("BOOKMARK", "4"), Event("ADDED", "x"), Event("ADDED", ""),
        std::string("{}\n"), std::string("nonsense\n"), std::string("[1]\n")}) {
    Followed followed;
    EXPECT_FALSE(followed.Write(bad + Event("ADDED", "8")));
    EXPECT_THAT(followed.out.seen,
                ElementsAre("head 200", HasSubstr(R"(write: {"type":"ERROR","object":{"kind":"Status")")))
        << bad;
    EXPECT_FALSE(followed.Write(Event("ADDED", "9")));
  }
}

TEST(FollowedWatch, PassesErrorsOn) {
  Followed followed;
  const std::string error = R"({"type":"ERROR","object":{"kind":"Status","code":410}})"
                            "\n";
  EXPECT_FALSE(followed.Write(error));
  EXPECT_THAT(followed.out.seen, ElementsAre("head 200", "write: " + error));
}

TEST(FollowedWatch, TurnsAnErrorIntoAnEvent) {
  for (const auto& [body, want] :
       {std::pair<std::string, std::string>{R"({"kind":"Status","code":410,"reason":"Expired"})",
                                            R"("object":{"kind":"Status","code":410,"reason":"Expired"}})"},
        {"<html>", R"("message":"the extension server answered with 410")"}}) {
    Recorder out;
    FollowedWatch watch(5, out);
    mesh::Response response;
    response.code = 410;
    response.body.emplace_back(body);
    testing::RunTask(watch.WriteComplete(std::move(response)));
    testing::RunTask(watch.Finish());
    EXPECT_THAT(out.seen, ElementsAre("head 200", HasSubstr(want)));
  }
}

TEST(CatchUp, ContinuesFromTheStart) {
  mesh::Request request;
  request.query = "watch=true&resourceVersion=12&timeoutSeconds=7";
  request.watch_phase = mesh::v1::WATCH_PHASE_CATCH_UP;
  Recorder out;
  testing::RunTask(CatchUp(request, 12, "Note", out));
  EXPECT_THAT(out.seen, ElementsAre("head 200", "event 12: "));
  EXPECT_THAT(out.headers, ::testing::Contains(std::pair<std::string, std::string>(mesh::kWatchTimeoutHeader, "7000")));
  request.watch_phase = mesh::v1::WATCH_PHASE_FINAL_BOOKMARK;
  request.info.api_group = "g";
  request.info.api_version = "v1";
  Recorder last;
  testing::RunTask(CatchUp(request, 12, "Note", last));
  EXPECT_THAT(
      last.seen,
      ElementsAre(
          "head 200",
          "write: "
          R"({"type":"BOOKMARK","object":{"kind":"Note","apiVersion":"g/v1","metadata":{"resourceVersion":"12"}}})"
          "\n"));
}

TEST(StartOf, IsAPositiveNumber) {
  const auto start = [](const char* query) {
    mesh::Request request;
    request.query = query;
    return StartOf(request);
  };
  EXPECT_EQ(start("resourceVersion=12"), 12u);
  for (const char* query : {"", "resourceVersion=", "resourceVersion=0", "resourceVersion=x1",
                            "resourceVersion=99999999999999999999", "resourceVersion=12&sendInitialEvents=true"})
    EXPECT_EQ(start(query), std::nullopt) << query;
}

}  // namespace
}  // namespace apimesh::aggregator
