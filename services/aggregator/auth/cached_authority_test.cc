#include "services/aggregator/auth/cached_authority.h"

#include <gtest/gtest.h>

#include "lib/testing/manual_clock.h"
#include "services/aggregator/test_peers.h"

namespace apimesh::aggregator {
namespace {

class CachedAuthorityTest : public ::testing::Test {
 protected:
  CachedAuthorityTest() {
    source_->cache_for = std::chrono::seconds(10);
    Notice(0);
  }
  void Notice(std::int64_t revision, bool authentication = false, bool authorization = false) {
    cached_.Apply(InvalidationNotice{revision, authentication, authorization, std::chrono::seconds(10)});
  }
  UserPtr Authenticate(const std::string& token) {
    AuthenticationQuestion question;
    question.headers.emplace_back("authorization", "Bearer " + token);
    return Wait(cached_.Authenticate(question)).user;
  }
  AuthorizationAnswer::Verdict Authorize(UserPtr user, const std::string& verb) {
    AuthorizationQuestion question;
    question.user = std::move(user);
    question.info.verb = verb;
    return Wait(cached_.Authorize(question)).verdict;
  }
  AuthorizationAnswer::Verdict AuthorizePath(UserPtr user, const std::string& path) {
    AuthorizationQuestion question;
    question.user = std::move(user);
    question.info.path = path;
    return Wait(cached_.Authorize(question)).verdict;
  }
  AuthorizationAnswer::Verdict AuthorizeName(UserPtr user, const std::string& name) {
    AuthorizationQuestion question;
    question.user = std::move(user);
    question.info.is_resource_request = true;
    question.info.resource = "things";
    question.info.name = name;
    return Wait(cached_.Authorize(question)).verdict;
  }
  template <class T>
  static T Wait(Task<T> task) {
    boost::asio::io_context io;
    T result;
    boost::asio::co_spawn(io, std::move(task), [&result](std::exception_ptr, T value) { result = std::move(value); });
    io.run();
    return result;
  }

  testing::ManualClock clock_;
  std::shared_ptr<FakeAuthority> source_ = std::make_shared<FakeAuthority>();
  CachedAuthority cached_{source_, clock_};
};

TEST_F(CachedAuthorityTest, AsksOnceForAsLongAsAllowed) {
  const UserPtr user = Authenticate("admin");
  EXPECT_EQ(Authenticate("admin"), user);
  EXPECT_EQ(source_->authentications, 1);
  Authenticate("other");
  EXPECT_EQ(source_->authentications, 2);
  clock_.Advance(std::chrono::seconds(11));
  Notice(0);
  Authenticate("admin");
  EXPECT_EQ(source_->authentications, 3);
}

TEST_F(CachedAuthorityTest, InvalidationVoidsOlderAnswersOfItsKind) {
  const UserPtr user = Authenticate("admin");
  Authorize(user, "get");
  Notice(2, false, true);
  Authenticate("admin");
  Authorize(user, "get");
  EXPECT_EQ(source_->authentications, 1);
  EXPECT_EQ(source_->authorizations, 2);
  source_->revision = 2;
  Authorize(user, "get");  // an answer of revision 1 that arrives after the notice is not cached
  Authorize(user, "get");
  EXPECT_EQ(source_->authorizations, 3);
}

TEST_F(CachedAuthorityTest, FailsClosedWhenNothingIsHeard) {
  Authenticate("admin");
  source_->available = false;
  cached_.Apply(std::nullopt);
  EXPECT_NE(Authenticate("admin"), nullptr) << "a short silence is bridged";
  EXPECT_FALSE(cached_.Connected());
  source_->cache_for = std::chrono::hours(1);
  clock_.Advance(std::chrono::seconds(31));
  EXPECT_EQ(Authenticate("admin"), nullptr);
}

TEST_F(CachedAuthorityTest, MadeUpPathsTakeNoMemory) {
  const UserPtr user = Authenticate("nobody");
  const std::size_t before = cached_.RememberedBytes();
  for (int i = 0; i < 100; ++i) {
    const std::string path = fmt::format("/{}{}", std::string(100'000, 'x'), i);
    EXPECT_EQ(AuthorizePath(user, path), AuthorizationAnswer::Verdict::kDeny);
  }
  EXPECT_EQ(cached_.RememberedBytes(), before);
}

TEST_F(CachedAuthorityTest, DenialsOfResourcesAreBoundedAndPushOutNothingElse) {
  const UserPtr admin = Authenticate("admin"), nobody = Authenticate("nobody");
  Authorize(admin, "get");
  const std::size_t before = cached_.RememberedBytes();
  for (int i = 0; i < 50'000; ++i) AuthorizeName(nobody, std::string(1000, 'x') + std::to_string(i));
  EXPECT_GT(cached_.RememberedBytes(), before);
  EXPECT_LT(cached_.RememberedBytes(), before + (3u << 20));
  const int asked = source_->authorizations;
  Authorize(admin, "get");
  EXPECT_EQ(source_->authorizations, asked) << "what was allowed is still remembered";
}

TEST_F(CachedAuthorityTest, WhatIsAllowedIsBounded) {
  const UserPtr admin = Authenticate("admin");
  for (int i = 0; i < 100'000; ++i) AuthorizeName(admin, std::to_string(i));
  EXPECT_LT(cached_.RememberedBytes(), 9u << 20);
  const int asked = source_->authorizations;
  AuthorizeName(admin, "99999");
  EXPECT_EQ(source_->authorizations, asked) << "the newest answers are kept";
}

TEST_F(CachedAuthorityTest, ExpiredAnswersAreDroppedWithTheHeartbeat) {
  const UserPtr admin = Authenticate("admin");
  for (int i = 0; i < 100; ++i) AuthorizeName(admin, std::to_string(i));
  EXPECT_GT(cached_.RememberedBytes(), 0u);
  clock_.Advance(std::chrono::seconds(11));
  Notice(0);
  EXPECT_EQ(cached_.RememberedBytes(), 0u);
}

TEST_F(CachedAuthorityTest, AnonymousUsersAreRememberedOnlyWithoutCredentials) {
  const auto ask = [this](std::vector<std::pair<std::string, std::string>> headers) {
    AuthenticationQuestion question;
    question.headers = std::move(headers);
    return Wait(cached_.Authenticate(question)).user->info.name;
  };
  EXPECT_EQ(ask({}), "system:anonymous");
  EXPECT_EQ(ask({}), "system:anonymous");
  EXPECT_EQ(source_->authentications, 1);
  const std::size_t before = cached_.RememberedBytes();
  EXPECT_EQ(ask({{"x-remote-user", "somebody"}}), "system:anonymous");
  EXPECT_EQ(cached_.RememberedBytes(), before);
}

TEST_F(CachedAuthorityTest, HeadersAndCertificatesAreKeptApart) {
  AuthenticationQuestion header;
  header.headers.emplace_back("authorization", "Bearer admin");
  AuthenticationQuestion certificates;
  certificates.certificates_der = {"authorization", "Bearer admin"};
  EXPECT_EQ(Wait(cached_.Authenticate(header)).user->info.name, "admin");
  EXPECT_EQ(Wait(cached_.Authenticate(certificates)).user->info.name, "system:anonymous");
}

TEST_F(CachedAuthorityTest, RefusalsOfCredentialsAreNotKept) {
  Authenticate("bad");
  Authenticate("bad");
  EXPECT_EQ(source_->authentications, 2);
}

}  // namespace
}  // namespace apimesh::aggregator
