// Tests the service over real sockets, with a fake core-api.
#include "services/authn-authz/server.h"

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/credentials/jwt.h"
#include "lib/credentials/service_account_token.h"
#include "lib/credentials/test_keys.h"
#include "lib/http/test_certificates.h"
#include "lib/testing/system_clock.h"
#include "proto/envoy/v3/external_auth.grpc.pb.h"
#include "proto/mesh/v1/authn.grpc.pb.h"
#include "proto/mesh/v1/authz.grpc.pb.h"
#include "services/authn-authz/authenticators/serviceaccount/flags.h"
#include "services/authn-authz/authenticators/tokenfile/flags.h"
#include "services/authn-authz/testing/fake_core_api.h"

namespace apimesh::authn_authz {
namespace {

namespace v1 = mesh::v1;
constexpr char kBindings[] = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
constexpr char kRoles[] = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    char folder[] = "/tmp/authn-authz-test-XXXXXX";
    folder_ = mkdtemp(folder);
    Write("tokens.csv", "admin-token,admin,1,\"system:masters\"\njoe-token,joe,2\n");
    Write("sa.pem", credentials::test_keys::kEcPem);
    Write("ca.pem", ca_.certificate_pem);
    options_.common.listen = {"unix:" + folder_ + "/authn"};
    options_.core_api = {"unix:" + folder_ + "/core"};
    options_.authentication.extensions.Get<TokenFileFlags>().file = folder_ + "/tokens.csv";
    options_.authentication.client_ca_file = folder_ + "/ca.pem";
    options_.authentication.extensions.Get<ServiceAccountFlags>().key_files = {folder_ + "/sa.pem"};
    options_.authentication.service_account_issuers = {"https://iss"};
    options_.authorization.modes = {"Node", "RBAC"};
  }
  ~ServerTest() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ + "/" + name) << text; }

  void StartServer() {
    server_ = std::make_unique<Server>(options_, metrics_, apimesh::testing::SystemClock());
    channel_ = ::grpc::CreateChannel(options_.common.listen[0], ::grpc::InsecureChannelCredentials());
    authn_ = v1::Authenticator::NewStub(channel_);
    authz_ = v1::Authorizer::NewStub(channel_);
  }
  std::unique_ptr<fake::FakeCoreApi> StartCoreApi() {
    auto core = std::make_unique<fake::FakeCoreApi>(options_.core_api[0]);
    core->Put(kRoles,
              R"({"metadata":{"name":"info"},"rules":[{"verbs":["get"],"nonResourceURLs":["/healthz","/version"]}]})");
    core->Put(kBindings, R"({"metadata":{"name":"info"},"roleRef":{"kind":"ClusterRole","name":"info"},
      "subjects":[{"kind":"Group","name":"system:unauthenticated"}]})");
    core->Put(kRoles,
              R"({"metadata":{"name":"view"},"rules":[{"verbs":["list"],"apiGroups":[""],"resources":["pods"]}]})");
    core->Put(kBindings, R"({"metadata":{"name":"joe"},"roleRef":{"kind":"ClusterRole","name":"view"},
      "subjects":[{"kind":"User","name":"joe"}]})");
    core->Put("/api/v1/serviceaccounts", R"({"metadata":{"name":"sa","namespace":"default","uid":"u1"}})");
    return core;
  }
  void WaitUntilReady() {
    ASSERT_TRUE(apimesh::testing::Eventually([this] { return server_->WhyNotReady().empty(); }))
        << server_->WhyNotReady();
  }
  v1::AuthenticateResponse Authenticate(const std::string& token, const std::string& certificate = "") {
    ::grpc::ClientContext context;
    v1::AuthenticateRequest request;
    if (!token.empty()) {
      auto* header = request.add_headers();
      header->set_name("authorization");
      header->set_value("Bearer " + token);
    }
    if (!certificate.empty()) request.add_peer_certificates(certificate);
    v1::AuthenticateResponse response;
    EXPECT_TRUE(authn_->Authenticate(&context, request, &response).ok());
    return response;
  }
  v1::Decision Authorize(const v1::User& user, const std::string& path) {
    ::grpc::ClientContext context;
    v1::AuthorizeRequest request;
    auto* attributes = request.add_attributes();
    *attributes->mutable_user() = user;
    if (path == "pods") {
      attributes->mutable_info()->set_is_resource_request(true);
      attributes->mutable_info()->set_verb("list");
      attributes->mutable_info()->set_resource("pods");
    } else {
      attributes->mutable_info()->set_verb("get");
      attributes->set_path(path);
    }
    v1::AuthorizeResponse response;
    EXPECT_TRUE(authz_->Authorize(&context, request, &response).ok());
    return response.decisions_size() == 1 ? response.decisions(0) : v1::Decision();
  }
  std::string ServiceAccountToken() {
    const credentials::BoundTokenClaims claims{.issuer = "https://iss",
                                               .ns = "default",
                                               .service_account = {"sa", "u1"},
                                               .pod = {},
                                               .secret = {},
                                               .node = {},
                                               .audiences = {"https://iss"}};
    return credentials::SignJwt(credentials::PrivateKey::FromPem(credentials::test_keys::kEcPem).value(),
                                credentials::ToClaims(claims, apimesh::testing::SystemClock().Now()));
  }

  const http::TestCertificate ca_ = http::MakeCertificate({.common_name = "ca", .is_ca = true});
  std::string folder_;
  Options options_;
  service::Metrics metrics_{apimesh::testing::SystemClock()};
  std::unique_ptr<Server> server_;
  std::shared_ptr<::grpc::Channel> channel_;
  std::unique_ptr<v1::Authenticator::Stub> authn_;
  std::unique_ptr<v1::Authorizer::Stub> authz_;
};

TEST_F(ServerTest, OnlyMastersPassBeforeTheStateIsThere) {
  StartServer();
  const auto admin = Authenticate("admin-token"), joe = Authenticate("joe-token");
  ASSERT_EQ(admin.outcome(), v1::AuthenticateResponse::AUTHENTICATED);
  EXPECT_EQ(Authorize(admin.user(), "pods").verdict(), v1::Decision::ALLOW);
  const auto leaf =
      http::MakeCertificate({.common_name = "root", .organizations = {"system:masters"}, .usage = "clientAuth"}, &ca_);
  EXPECT_EQ(Authorize(Authenticate("", leaf.certificate_der).user(), "pods").verdict(), v1::Decision::ALLOW);
  const v1::Decision denied = Authorize(joe.user(), "pods");
  EXPECT_EQ(denied.verdict(), v1::Decision::NO_OPINION);
  EXPECT_THAT(denied.reason(), ::testing::HasSubstr("not loaded yet"));
  EXPECT_EQ(denied.cache_milliseconds(), 0u);
  EXPECT_THAT(server_->WhyNotReady(), ::testing::HasSubstr("clusterroles"));
  EXPECT_EQ(Authenticate("nonsense").outcome(), v1::AuthenticateResponse::REFUSED);
}

TEST_F(ServerTest, AnonymousGetsWhatTheRolesGive) {
  const auto core = StartCoreApi();
  StartServer();
  WaitUntilReady();
  const auto anonymous = Authenticate("");
  EXPECT_EQ(anonymous.user().name(), "system:anonymous");
  EXPECT_EQ(Authorize(anonymous.user(), "/healthz").verdict(), v1::Decision::ALLOW);
  EXPECT_EQ(Authorize(anonymous.user(), "/metrics").verdict(), v1::Decision::NO_OPINION);
  EXPECT_EQ(Authorize(anonymous.user(), "pods").verdict(), v1::Decision::NO_OPINION);
}

// Reads the Invalidations stream like the aggregator.
class Subscriber {
 public:
  explicit Subscriber(v1::Authorizer::Stub& stub)
      : reader_(stub.Invalidations(&context_, {})), thread_([this] { Read(); }) {}
  ~Subscriber() {
    context_.TryCancel();
    thread_.join();
  }
  /// Returns the time from `since` until a message with this flag arrived.
  std::chrono::milliseconds WaitFor(bool authentication, SteadyTime since) {
    std::unique_lock lock(mutex_);
    auto& when = authentication ? authentication_ : authorization_;
    changed_.wait_for(lock, std::chrono::seconds(5), [&] { return when >= since; });
    return when < since ? std::chrono::hours(1) : std::chrono::duration_cast<std::chrono::milliseconds>(when - since);
  }

 private:
  void Read() {
    v1::Invalidation message;
    while (reader_->Read(&message)) {
      const std::lock_guard lock(mutex_);
      if (message.authentication()) authentication_ = apimesh::testing::SystemClock().Steady();
      if (message.authorization()) authorization_ = apimesh::testing::SystemClock().Steady();
      changed_.notify_all();
    }
  }
  ::grpc::ClientContext context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  SteadyTime authentication_, authorization_;
  std::unique_ptr<::grpc::ClientReader<v1::Invalidation>> reader_;
  std::thread thread_;
};

TEST_F(ServerTest, RevocationReachesSubscribersWithin100Milliseconds) {
  const auto core = StartCoreApi();
  StartServer();
  WaitUntilReady();
  Subscriber subscriber(*authz_);
  subscriber.WaitFor(true, SteadyTime(std::chrono::nanoseconds(1)));  // the first message to every subscriber
  const v1::User joe = Authenticate("joe-token").user();
  ASSERT_EQ(Authorize(joe, "pods").verdict(), v1::Decision::ALLOW);

  auto begin = apimesh::testing::SystemClock().Steady();
  core->Delete(kBindings, "joe");
  EXPECT_LT(subscriber.WaitFor(false, begin).count(), 100);
  EXPECT_EQ(Authorize(joe, "pods").verdict(), v1::Decision::NO_OPINION);

  const std::string token = ServiceAccountToken();
  const auto first = Authenticate(token);
  ASSERT_EQ(first.outcome(), v1::AuthenticateResponse::AUTHENTICATED) << first.reason();
  EXPECT_EQ(first.user().name(), "system:serviceaccount:default:sa");
  begin = apimesh::testing::SystemClock().Steady();
  core->Delete("/api/v1/serviceaccounts", "sa");
  EXPECT_LT(subscriber.WaitFor(true, begin).count(), 100);
  const auto after = Authenticate(token);
  EXPECT_EQ(after.outcome(), v1::AuthenticateResponse::REFUSED);
  EXPECT_GT(after.revision(), first.revision());
}

TEST_F(ServerTest, EnvoyGetsTheSameAnswers) {
  namespace v3 = envoy::service::auth::v3;
  const auto core = StartCoreApi();
  StartServer();
  WaitUntilReady();
  const auto stub = v3::Authorization::NewStub(channel_);
  const auto check = [&](const std::string& path, const std::string& token) {
    ::grpc::ClientContext context;
    v3::CheckRequest request;
    auto* http = request.mutable_attributes()->mutable_request()->mutable_http();
    http->set_method("GET");
    http->set_path(path);
    if (!token.empty()) (*http->mutable_headers())["authorization"] = "Bearer " + token;
    v3::CheckResponse response;
    EXPECT_TRUE(stub->Check(&context, request, &response).ok());
    return response;
  };
  EXPECT_EQ(check("/api/v1/pods?limit=1", "joe-token").status().code(), 0);
  EXPECT_TRUE(check("/healthz", "").has_ok_response());
  EXPECT_EQ(check("/healthz", "wrong").denied_response().status().code(), 401);
  const auto denied = check("/api/v1/nodes", "joe-token").denied_response();
  EXPECT_EQ(denied.status().code(), 403);
  EXPECT_THAT(
      denied.body(),
      ::testing::HasSubstr(R"(User \"joe\" cannot list resource \"nodes\" in API group \"\" at the cluster scope)"));
}

TEST_F(ServerTest, RefusesBadFlagsWithAClearText) {
  options_.authorization.modes = {"RBAK"};
  EXPECT_THROW(Server(options_, metrics_, apimesh::testing::SystemClock()), std::runtime_error);
  options_.authorization.modes = {"RBAC"};
  options_.authentication.client_ca_file = folder_ + "/tokens.csv";
  EXPECT_THROW(Server(options_, metrics_, apimesh::testing::SystemClock()), std::runtime_error);
}

}  // namespace
}  // namespace apimesh::authn_authz
