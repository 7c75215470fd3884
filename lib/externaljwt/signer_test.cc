#include "lib/externaljwt/signer.h"

#include <gmock/gmock.h>

#include "lib/base/async/run_all.h"
#include "lib/base/async/wakeup.h"
#include "lib/credentials/jwt.h"
#include "lib/externaljwt/testing_signer.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"

namespace apimesh::externaljwt {
namespace {

using ::testing::HasSubstr;

class ExternalSigner : public ::testing::Test {
 protected:
  ExternalSigner() { signer_ = MakeSigner(); }
  ~ExternalSigner() override { signer_->Stop(); }

  std::shared_ptr<Signer> MakeSigner() {
    return std::make_shared<Signer>(service_, service_->Keys(), 7200, testing::SystemClock(),
                                    std::make_shared<CallMetrics>());
  }
  void Start() { signer_->Start(metrics_, io_.get_executor()); }
  std::size_t Find(std::string id) { return testing::RunTask(io_, signer_->Keys().Find(std::move(id))).size(); }
  std::string Sign() {
    boost::json::object claims{{"iss", "https://iss"}};
    const auto token = testing::RunTask(io_, signer_->Sign(claims, SteadyTime::max()));
    return token ? *token : "error: " + token.error().message;
  }

  boost::asio::io_context io_{1};
  service::Metrics metrics_{testing::SystemClock()};
  std::shared_ptr<FakeSigner> service_ = std::make_shared<FakeSigner>(testing::SystemClock());
  std::shared_ptr<Signer> signer_;
};

TEST_F(ExternalSigner, FindsKeysThatAreNewAtTheSigner) {
  Start();
  int changes = 0;
  signer_->Keys().OnChange([&] { ++changes; });
  EXPECT_EQ(Find("a"), 1u);
  EXPECT_EQ(Find(""), 1u);
  EXPECT_EQ(service_->fetches, 0);
  service_->ids["b"] = true;
  EXPECT_EQ(Find("b"), 1u);
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(Find("unknown"), 0u);
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(service_->fetches, 2);
  service_->ids.erase("a");  // rotated away
  EXPECT_EQ(Find("a"), 1u) << "a known key needs no fetch";
  EXPECT_EQ(Find("unknown"), 0u);
  EXPECT_EQ(Find(""), 1u);
  EXPECT_EQ(changes, 2);
}

TEST_F(ExternalSigner, KeepsItsKeysWhileTheSignerFails) {
  Start();
  service_->problem = "it is down";
  EXPECT_EQ(Find("b"), 0u);
  EXPECT_EQ(Find("a"), 1u);
  EXPECT_THAT(metrics_.Text(), HasSubstr(R"(apiserver_externaljwt_fetch_keys_request_total{code="Unavailable"} 1)"));
}

TEST_F(ExternalSigner, ManyUnknownKeysShareAFetch) {
  Start();
  std::vector<Task<>> tasks;
  const auto find = [](KeyCache* keys) -> Task<> { co_await keys->Find("unknown"); };
  for (int i = 0; i < 100; ++i) tasks.push_back(find(&signer_->Keys()));
  testing::RunTask(io_, RunAll(std::move(tasks)));
  EXPECT_LE(service_->fetches, 2);
}

TEST_F(ExternalSigner, FetchesAgainWhenTheSignerHintsAt) {
  service_->refresh = std::chrono::milliseconds(1);
  signer_ = MakeSigner();
  Start();
  const auto wait = [](FakeSigner* service) -> Task<> {
    for (int i = 0; i < 2000 && service->fetches < 3; ++i) co_await SleepFor(std::chrono::milliseconds(10));
  };
  testing::RunTask(io_, wait(service_.get()));
  EXPECT_GE(service_->fetches, 3);
  EXPECT_EQ(signer_->Keys().SecondsToRefresh(), 0);
}

TEST_F(ExternalSigner, StopEndsTheLoopAndTheWaitOfCallers) {
  Start();
  signer_->Stop();
  EXPECT_EQ(Find("unknown"), 0u);
  io_.restart();
  io_.run();  // ends, because nothing runs any more
  EXPECT_EQ(service_->fetches, 0);
}

TEST_F(ExternalSigner, SignsTokens) {
  const auto token = credentials::Jwt::Parse(Sign());
  ASSERT_TRUE(token);
  EXPECT_TRUE(token->Verify(service_->signing.Public()));
  EXPECT_EQ(token->KeyId(), "a");
  EXPECT_EQ(token->Issuer(), "https://iss");
}

TEST_F(ExternalSigner, RefusesWhatIsNoToken) {
  Start();
  service_->damage = "A";
  EXPECT_EQ(Sign(), "error: invalid signature returned for the key a");
  service_->damage.clear();
  service_->signing = credentials::PrivateKey::FromPem(credentials::test_keys::kEcPem).value();
  EXPECT_EQ(Sign(), "error: invalid signature returned for the key a");
  service_->ids = {{"a", true}, {"hidden", false}};
  service_->header = R"({"alg":"ES256","kid":"hidden","typ":"JWT"})";
  EXPECT_EQ(
      Sign(),
      "error: while validating header: key used for signing JWT (kid: hidden) is excluded from OIDC discovery docs");
  service_->header = "[]";
  EXPECT_THAT(Sign(), HasSubstr("while validating header: while parsing header JSON"));
  EXPECT_THAT(metrics_.Text(), HasSubstr(R"(apiserver_externaljwt_sign_request_total{code="unknown-non-grpc"} 4)"));
}

struct HeaderCase {
  const char* name;
  std::string json, want;  // "" for a good header
};
class Headers : public ::testing::TestWithParam<HeaderCase> {};

TEST_P(Headers, AreChecked) {
  const auto id = CheckHeader(EncodeBase64Url(GetParam().json));
  EXPECT_EQ(id ? "" : id.error().message, GetParam().want.empty() ? "" : "while validating header: " + GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Headers,
    ::testing::Values(
        HeaderCase{"Good", R"({"alg":"ES512","kid":"k","typ":"JWT"})", ""},
        HeaderCase{"NoType", R"({"alg":"RS256","kid":"k"})", "bad type"},
        HeaderCase{"OtherType", R"({"alg":"RS256","kid":"k","typ":"jwt"})", "bad type"},
        HeaderCase{"NoId", R"({"alg":"RS256","typ":"JWT"})", "key id missing"},
        HeaderCase{"LongId", R"({"alg":"RS256","typ":"JWT","kid":")" + std::string(1025, 'k') + "\"}",
                   "key id longer than 1 kb"},
        HeaderCase{"Unsigned", R"({"alg":"none","kid":"k","typ":"JWT"})", R"(bad signing algorithm "none")"},
        HeaderCase{"SharedSecret", R"({"alg":"HS256","kid":"k","typ":"JWT"})", R"(bad signing algorithm "HS256")"},
        HeaderCase{"MoreFields", R"({"alg":"RS256","kid":"k","typ":"JWT","crit":["b64"]})",
                   R"(while parsing header JSON: json: unknown field "crit")"},
        HeaderCase{"WrongKind", R"({"alg":"RS256","kid":1,"typ":"JWT"})",
                   "while parsing header JSON: kid is not a string"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(HeaderText, MustBeBase64OfAnObject) {
  EXPECT_FALSE(CheckHeader("{}"));
  EXPECT_FALSE(CheckHeader(""));
  EXPECT_FALSE(CheckHeader("AAAA"));
  EXPECT_FALSE(CheckHeader(std::string(100'000, 'A')));
}

}  // namespace
}  // namespace apimesh::externaljwt
