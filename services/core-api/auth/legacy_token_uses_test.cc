#include "services/core-api/auth/legacy_token_uses.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "lib/codec/codec.h"
#include "lib/meta/time.h"
#include "lib/testing/manual_clock.h"

namespace apimesh::core_api {
namespace {

constexpr const char* kPath = "/api/v1/namespaces/ns/secrets/token";

/// A server with one Secret.
class LegacyTokenUses : public ::testing::Test {
 protected:
  LegacyTokenUses() {
    Put("kubernetes.io/service-account-token", "{}");
    today_ = meta::FormatTime(clock_.Now()).substr(0, 10);
  }
  void Put(const std::string& type, const std::string& labels) {
    secret_ = codec::ParseJson(fmt::format(R"({{"metadata":{{"uid":"u","labels":{}}},"type":"{}"}})", labels, type), {})
                  ->as_object();
  }
  Task<meta::Result<meta::Object>> Read(std::string path) {
    if (path != kPath) co_return meta::NotFound(meta::GroupResource{"", "secrets"}, path);
    co_return meta::Object(secret_);
  }
  Task<meta::Result<meta::Object>> Send(std::string method, std::string path, std::string body) {
    EXPECT_EQ(method + path, std::string("PUT") + kPath);
    ++writes_;
    if (conflicts_ > 0) {
      --conflicts_;
      co_return meta::Conflict(meta::GroupResource{"", "secrets"}, "token", "changed");
    }
    secret_ = codec::ParseJson(body, {})->as_object();
    co_return meta::Object(secret_);
  }
  bool Record(LegacyTokenUse use) {
    OwnApi api;
    api.read = [this](std::string path) { return Read(std::move(path)); };
    api.send = [this](std::string method, std::string path, std::string body) {
      return Send(std::move(method), std::move(path), std::move(body));
    };
    boost::asio::io_context io;
    auto result = boost::asio::co_spawn(io, RecordLegacyTokenUse(api, std::move(use), clock_), boost::asio::use_future);
    io.run();
    return result.get();
  }
  std::string Label() const {
    return std::string(meta::FindString(secret_, "metadata", "labels", "kubernetes.io/legacy-token-last-used"));
  }

  testing::ManualClock clock_;
  std::string today_;
  meta::json::object secret_;
  int writes_ = 0, conflicts_ = 0;
};

TEST_F(LegacyTokenUses, AreWrittenOncePerDay) {
  EXPECT_TRUE(Record({"ns", "token", "u"}));
  EXPECT_EQ(Label(), today_);
  EXPECT_TRUE(Record({"ns", "token", "u"}));
  EXPECT_EQ(writes_, 1);
  clock_.Advance(std::chrono::hours(24));
  EXPECT_TRUE(Record({"ns", "token", "u"}));
  EXPECT_EQ(writes_, 2);
  EXPECT_GT(Label(), today_);
  clock_.Advance(-std::chrono::hours(24));  // another server's clock may be behind
  EXPECT_TRUE(Record({"ns", "token", "u"}));
  EXPECT_EQ(writes_, 2);
}

TEST_F(LegacyTokenUses, OnlySecretsOfTokensAreChanged) {
  EXPECT_TRUE(Record({"ns", "token", "other"}));
  EXPECT_TRUE(Record({"ns", "gone", "u"}));
  EXPECT_TRUE(Record({"ns", "../configmaps/x", "u"}));
  Put("Opaque", "{}");
  EXPECT_TRUE(Record({"ns", "token", "u"}));
  EXPECT_EQ(writes_, 0);
}

TEST_F(LegacyTokenUses, ConflictsAreRetriedAFewTimes) {
  conflicts_ = 1;
  EXPECT_TRUE(Record({"ns", "token", "u"}));
  EXPECT_EQ(Label(), today_);
  Put("kubernetes.io/service-account-token", "{}");
  conflicts_ = 100;
  EXPECT_FALSE(Record({"ns", "token", "u"}));
}

}  // namespace
}  // namespace apimesh::core_api
