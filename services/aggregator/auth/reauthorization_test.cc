#include "services/aggregator/auth/reauthorization.h"

#include <set>

#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"
#include "services/aggregator/test_peers.h"

namespace apimesh::aggregator {
namespace {

using std::chrono::seconds;

class ReauthorizationTest : public ::testing::Test {
 protected:
  ReauthorizationTest() {
    authority_->allowed = {"joe watch pods", "joe watch secrets"};
    Notice(1);
  }

  void Notice(std::int64_t revision, bool authentication = false, bool authorization = false, bool loading = false) {
    InvalidationNotice notice;
    notice.revision = revision;
    notice.authentication = authentication;
    notice.authorization = authorization;
    notice.loading = loading;
    reauthorization_->Apply(notice);
  }
  static AuthorizationQuestion Watch(const UserPtr& user, const std::string& resource) {
    AuthorizationQuestion question;
    question.user = user;
    question.info.is_resource_request = true;
    question.info.verb = meta::Verb::kWatch;
    question.info.resource = resource;
    return question;
  }
  std::shared_ptr<void> Open(const std::string& token, const std::string& resource, int* ended) {
    Grounds grounds;
    grounds.credentials.headers.emplace_back("authorization", "Bearer " + token);
    meta::UserInfo user;
    user.name = token;
    grounds.user = MakeUser(std::move(user));
    grounds.permissions.push_back(Watch(grounds.user, resource));
    return requests_->Add(std::move(grounds), [ended] { ++*ended; }, clock_.Steady());
  }
  void Ask() {
    boost::asio::io_context io;
    boost::asio::co_spawn(io, reauthorization_->AskOnce(), boost::asio::detached);
    io.run();
  }
  /// Advances the clock and reports a heartbeat.
  void Pass(seconds time) {
    clock_.Advance(time);
    Notice(last_revision_);
  }

  testing::ManualClock clock_;
  std::int64_t last_revision_ = 1;
  const std::shared_ptr<FakeAuthority> authority_ = std::make_shared<FakeAuthority>();
  const std::shared_ptr<OpenRequests> requests_ = std::make_shared<OpenRequests>();
  const std::shared_ptr<Reauthorization> reauthorization_ =
      std::make_shared<Reauthorization>(authority_, requests_, clock_);
};

TEST_F(ReauthorizationTest, AsksOnceForAllThatShareAnIdentityAndAPermission) {
  int ended = 0;
  std::vector<std::shared_ptr<void>> open;
  for (int i = 0; i < 1000; ++i) open.push_back(Open("joe", i % 2 == 0 ? "pods" : "secrets", &ended));
  Ask();
  EXPECT_EQ(authority_->authentications, 0) << "what was just asked is not asked again";
  Pass(seconds(6));
  Ask();
  EXPECT_EQ(authority_->authentications, 1);
  EXPECT_EQ(authority_->authorizations, 2);
  EXPECT_EQ(ended, 0);
}

TEST_F(ReauthorizationTest, ALostPermissionEndsWhatNeedsIt) {
  int pods = 0, secrets = 0;
  const auto first = Open("joe", "pods", &pods), second = Open("joe", "secrets", &secrets);
  authority_->allowed.erase("joe watch pods");
  Ask();
  EXPECT_EQ(pods, 0) << "no invalidation has arrived, and the interval has not passed";
  clock_.Advance(seconds(2));
  Notice(1, false, true);
  Ask();
  EXPECT_EQ(pods, 1);
  EXPECT_EQ(secrets, 0);
  Pass(seconds(6));
  Ask();
  EXPECT_EQ(pods, 1) << "a request is ended once";
}

TEST_F(ReauthorizationTest, RefusedCredentialsEndAllRequestsOfTheUser) {
  int bad = 0, joe = 0;
  const auto first = Open("bad", "pods", &bad), second = Open("joe", "pods", &joe);
  clock_.Advance(seconds(2));
  Notice(1, true, false);
  Ask();
  EXPECT_EQ(bad, 1);
  EXPECT_EQ(joe, 0);
}

TEST_F(ReauthorizationTest, CredentialsThatProveAnotherUserEndTheRequest) {
  int ended = 0;
  Grounds grounds;
  grounds.credentials.headers.emplace_back("authorization", "Bearer joe");
  meta::UserInfo user;
  user.name = "joe";
  user.groups = {"wheel"};  // FakeAuthority no longer reports this group
  grounds.user = MakeUser(std::move(user));
  const auto open = requests_->Add(std::move(grounds), [&ended] { ++ended; }, clock_.Steady());
  Pass(seconds(6));
  Ask();
  EXPECT_EQ(ended, 1);
}

TEST_F(ReauthorizationTest, AnOutageIsBridgedForThirtySeconds) {
  int ended = 0;
  const auto open = Open("joe", "pods", &ended);
  authority_->available = false;
  for (int i = 0; i < 5; ++i) {
    Pass(seconds(6));
    Ask();
  }
  EXPECT_EQ(ended, 0);
  Pass(seconds(6));
  Ask();
  EXPECT_EQ(ended, 1);
}

TEST_F(ReauthorizationTest, ALostStreamIsBridgedForThirtySeconds) {
  int ended = 0;
  const auto open = Open("joe", "pods", &ended);
  reauthorization_->Apply(std::nullopt);
  clock_.Advance(seconds(29));
  Ask();
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(authority_->authentications, 0);
  clock_.Advance(seconds(2));
  Ask();
  EXPECT_EQ(ended, 1);
}

TEST_F(ReauthorizationTest, SilenceCountsAsAnOutage) {
  int ended = 0;
  const auto open = Open("joe", "pods", &ended);
  clock_.Advance(seconds(31));  // no heartbeat arrives
  Ask();
  EXPECT_EQ(ended, 1);
}

TEST_F(ReauthorizationTest, RefusalsOfAProcessThatIsStillLoadingDoNotCount) {
  int ended = 0;
  const auto open = Open("joe", "pods", &ended);
  authority_->allowed.clear();
  // A new process answers before its invalidation stream is open.
  authority_->revision = 100;
  Pass(seconds(6));
  Ask();
  EXPECT_EQ(ended, 0);
  reauthorization_->Apply(std::nullopt);
  Notice(100, true, true, true);
  clock_.Advance(seconds(2));
  Ask();
  EXPECT_EQ(ended, 0);
  // An answer from before the state was loaded arrives late.
  Notice(101, true, true, false);
  Ask();
  EXPECT_EQ(ended, 0);
  authority_->revision = 101;
  clock_.Advance(seconds(2));
  Notice(101, true, true, false);
  Ask();
  EXPECT_EQ(ended, 1);
}

TEST_F(ReauthorizationTest, ARequestThatEndedByItselfIsNotEnded) {
  int ended = 0;
  auto open = Open("bad", "pods", &ended);
  EXPECT_EQ(requests_->Requests(), 1u);
  open.reset();
  EXPECT_EQ(requests_->Requests(), 0u);
  Pass(seconds(6));
  Ask();
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(authority_->authentications, 0) << "nobody depends on these credentials any more";
}

TEST_F(ReauthorizationTest, ImpersonationNeedsAllItsPermissions) {
  int ended = 0;
  meta::UserInfo joe, admin;
  joe.name = "joe";
  admin.name = "admin";
  Grounds grounds;
  grounds.credentials.headers.emplace_back("authorization", "Bearer joe");
  grounds.user = MakeUser(joe);
  grounds.permissions = {Watch(grounds.user, "users"), Watch(MakeUser(admin), "pods")};
  const auto open = requests_->Add(std::move(grounds), [&ended] { ++ended; }, clock_.Steady());
  Pass(seconds(6));
  Ask();
  EXPECT_EQ(ended, 1) << "joe may no longer act as admin, though admin may watch";
}

}  // namespace
}  // namespace apimesh::aggregator
