#include "lib/admission/plugins/certificates/certificates.h"

#include <set>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "lib/base/text/base64.h"
#include "lib/credentials/test_requests.h"
#include "lib/testing/run.h"

namespace apimesh::admission {
namespace {

/// Allows "VERB NAME" pairs on signers.
class FakeAuthorizer final : public service::AuthClient {
 public:
  Task<meta::Result<service::TokenIdentity>> ReviewToken(std::string, std::vector<std::string>, SteadyTime) override {
    co_return meta::InternalError("unused");
  }
  Task<meta::Result<service::AccessDecision>> Authorize(service::AccessQuestion question, SteadyTime) override {
    EXPECT_EQ(question.info.api_group, "certificates.k8s.io");
    EXPECT_EQ(question.info.resource, "signers");
    EXPECT_TRUE(question.info.is_resource_request && question.info.ns.empty());
    EXPECT_EQ(question.user.name, "jane");
    if (broken) co_return meta::InternalError("down");
    service::AccessDecision decision;
    decision.allowed = allowed.contains(std::string(question.info.verb.Text()) + " " + question.info.name);
    co_return decision;
  }
  Task<meta::Result<service::AccessRules>> Rules(meta::UserInfo, std::string, SteadyTime) override {
    co_return meta::InternalError("unused");
  }

  std::set<std::string> allowed;
  bool broken = false;
};

meta::Object Request(std::string_view signer, std::string_view status = "{}",
                     std::string_view pem = credentials::test_requests::kDevs) {
  meta::Object request(boost::json::parse(R"({"metadata":{"name":"r"},"spec":{}})").as_object());
  request.Root()["spec"].as_object()["signerName"] = signer;
  request.Root()["spec"].as_object()["request"] = EncodeBase64(pem);
  request.Root()["status"] = boost::json::parse(status);
  return request;
}

class Certificates : public ::testing::Test {
 protected:
  /// Returns the message of the rejection, or "" if the request is allowed.
  std::string Ask(std::unique_ptr<Plugin> (*make)(const PluginInputs&), Operation operation, const char* subresource,
                  meta::Object object, const meta::Object* old) {
    PluginInputs inputs;
    inputs.auth = authorizer;
    const std::unique_ptr<Plugin> plugin = make(inputs);
    Attributes attributes;
    attributes.operation = operation;
    attributes.resource = {"certificates.k8s.io", "v1", "certificatesigningrequests"};
    attributes.subresource = subresource;
    attributes.name = "r";
    attributes.object = &object;
    attributes.old_object = old;
    EXPECT_FALSE(plugin->Handles(Phase::kMutate, attributes));
    if (!plugin->Handles(Phase::kValidate, attributes)) return "";
    meta::RequestContext::State state;
    state.user.name = "jane";
    const meta::Result<> result = testing::RunTask(plugin->Validate(meta::RequestContext(state), attributes));
    if (!result) {
      EXPECT_EQ(result.error().Code(), 403);
    }
    return result ? "" : result.error().Message();
  }
  std::shared_ptr<FakeAuthorizer> authorizer = std::make_shared<FakeAuthorizer>();
};

TEST_F(Certificates, ApprovalNeedsTheSigner) {
  const meta::Object old = Request("example.com/a");
  const auto approve = [&](const char* subresource, std::string_view signer) {
    return Ask(&MakeCertificateApproval, Operation::kUpdate, subresource, Request(signer), &old);
  };
  EXPECT_EQ(approve("approval", "example.com/a"),
            "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not permitted to approve requests "
            "with signerName \"example.com/a\"");
  EXPECT_EQ(approve("", "example.com/a"), "");
  authorizer->allowed = {"approve example.com/b", "sign example.com/a", "approve other.com/*"};
  EXPECT_NE(approve("approval", "example.com/b"), "") << "the stored signer counts";
  authorizer->allowed = {"approve example.com/a"};
  EXPECT_EQ(approve("approval", "example.com/b"), "");
  authorizer->allowed = {"approve example.com/*"};
  EXPECT_EQ(approve("approval", "example.com/a"), "");
  authorizer->broken = true;
  EXPECT_NE(approve("approval", "example.com/a"), "");
  authorizer = nullptr;
  EXPECT_NE(approve("approval", "example.com/a"), "");
}

TEST_F(Certificates, SigningNeedsTheSigner) {
  const meta::Object old = Request("example.com/a", R"({"conditions":[]})");
  const auto sign = [&](const char* subresource, std::string_view status) {
    return Ask(&MakeCertificateSigning, Operation::kUpdate, subresource, Request("example.com/b", status), &old);
  };
  EXPECT_EQ(sign("status", R"({"certificate":"eA=="})"),
            "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not permitted to sign requests "
            "with signerName \"example.com/a\"");
  EXPECT_NE(sign("status", R"({"conditions":[{"type":"Failed","status":"True"}]})"), "");
  EXPECT_EQ(sign("status", R"({})"), "") << "nothing changes";
  EXPECT_EQ(sign("approval", R"({"certificate":"eA=="})"), "");
  authorizer->allowed = {"approve example.com/a", "sign example.com/b"};
  EXPECT_NE(sign("status", R"({"certificate":"eA=="})"), "");
  authorizer->allowed = {"sign example.com/*"};
  EXPECT_EQ(sign("status", R"({"certificate":"eA=="})"), "");
}

TEST_F(Certificates, NobodyAsksForSystemMasters) {
  const auto create = [&](std::string_view signer, std::string_view pem) {
    return Ask(&MakeCertificateSubjectRestriction, Operation::kCreate, "", Request(signer, "{}", pem), nullptr);
  };
  const std::string about = "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: ";
  EXPECT_EQ(create("kubernetes.io/kube-apiserver-client", credentials::test_requests::kMasters),
            about + "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed");
  EXPECT_EQ(create("kubernetes.io/kube-apiserver-client", "hello"),
            about + "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST");
  EXPECT_EQ(create("kubernetes.io/kube-apiserver-client", credentials::test_requests::kDevs), "");
  EXPECT_EQ(create("example.com/a", credentials::test_requests::kMasters), "");
}

TEST_F(Certificates, AttestingNeedsTheSigner) {
  const auto bundle = [](std::string_view signer, std::string_view metadata, std::string_view pem) {
    return meta::Object(
        boost::json::parse(fmt::format(R"({{"metadata":{{{}}},"spec":{{"signerName":"{}","trustBundle":"{}"}}}})",
                                       metadata, signer, pem))
            .as_object());
  };
  const auto write = [&](Operation operation, meta::Object object, const meta::Object* old) {
    PluginInputs inputs;
    inputs.auth = authorizer;
    Attributes attributes;
    attributes.operation = operation;
    attributes.resource = {"certificates.k8s.io", "v1beta1", "clustertrustbundles"};
    attributes.name = "b";
    attributes.object = &object;
    attributes.old_object = old;
    const std::unique_ptr<Plugin> plugin = MakeClusterTrustBundleAttest(inputs);
    EXPECT_TRUE(plugin->Handles(Phase::kValidate, attributes));
    meta::RequestContext::State state;
    state.user.name = "jane";
    const meta::Result<> result = testing::RunTask(plugin->Validate(meta::RequestContext(state), attributes));
    return result ? "" : result.error().Message();
  };
  const std::string refused =
      R"(clustertrustbundles.certificates.k8s.io "b" is forbidden: user not permitted to attest for signerName )"
      R"("example.com/a")";
  const meta::Object old = bundle("example.com/a", R"("name":"b")", "x");
  const meta::Object other_owner = bundle("example.com/a", R"("name":"b","finalizers":["f"])", "x");
  EXPECT_EQ(write(Operation::kCreate, old, nullptr), refused);
  EXPECT_EQ(write(Operation::kUpdate, bundle("example.com/a", R"("name":"b")", "y"), &old), refused);
  EXPECT_EQ(write(Operation::kUpdate, bundle("example.com/a", R"("name":"b","labels":{"l":"v"})", "x"), &old), refused);
  EXPECT_EQ(write(Operation::kUpdate, other_owner, &old), "") << "only the garbage collector's fields change";
  EXPECT_EQ(write(Operation::kCreate, bundle("", R"("name":"b")", "x"), nullptr), "") << "bundles without a signer";
  authorizer->allowed = {"attest example.com/b", "sign example.com/a"};
  EXPECT_EQ(write(Operation::kCreate, old, nullptr), refused);
  authorizer->allowed = {"attest example.com/a"};
  EXPECT_EQ(write(Operation::kCreate, old, nullptr), "");
  authorizer->allowed = {"attest example.com/*"};
  EXPECT_EQ(write(Operation::kCreate, old, nullptr), "");
  authorizer->broken = true;
  EXPECT_EQ(write(Operation::kCreate, old, nullptr), refused);
}

}  // namespace
}  // namespace apimesh::admission
