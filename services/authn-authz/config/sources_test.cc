#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/service/webhook/kubeconfig.h"
#include "lib/testing/temp_path.h"
#include "services/authn-authz/authenticators/oidc/flags.h"
#include "services/authn-authz/authenticators/requestheader/flags.h"
#include "services/authn-authz/authenticators/serviceaccount/flags.h"
#include "services/authn-authz/authorizers/webhook/flags.h"
#include "services/authn-authz/config/authentication_config.h"
#include "services/authn-authz/config/authorization_config.h"

namespace apimesh::authn_authz {
namespace {

using ::testing::ElementsAre;

TEST(Config, ReadsKubeconfigs) {
  const auto endpoint = service::ParseKubeconfig(
      "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
      "clusters: [{name: k, cluster: {server: 'https://hook:8443/review', certificate-authority: ca.crt}}]\n"
      "users: [{name: u, user: {token: secret}}]\n",
      "/etc/x");
  ASSERT_TRUE(endpoint) << endpoint.error().Message();
  EXPECT_EQ(endpoint->url, "https://hook:8443/review");
  EXPECT_EQ(endpoint->tls.ca_file, "/etc/x/ca.crt");
  EXPECT_EQ(endpoint->authorization, "Bearer secret");
  const auto inline_pair = service::ParseKubeconfig(
      "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: "
      "{server: 'https://hook'}}]\n"
      "users: [{name: u, user: {client-certificate-data: Y2VydA==, client-key-data: a2V5, client-certificate: "
      "ignored}}]",
      "/folder");
  ASSERT_TRUE(inline_pair) << inline_pair.error().Message();
  EXPECT_EQ(inline_pair->tls.cert_pem, "cert");
  EXPECT_EQ(inline_pair->tls.key_pem, "key");
  EXPECT_EQ(inline_pair->tls.cert_file, "");
  EXPECT_FALSE(service::ParseKubeconfig("a: [", ""));
  EXPECT_FALSE(service::ParseKubeconfig("kind: Config", ""));
}

TEST(Config, ReadsAuthenticationFiles) {
  const std::string head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n";
  const auto config = ParseAuthenticationConfig(head +
                                                    "anonymous: {enabled: true, conditions: [{path: /livez}]}\n"
                                                    "jwt:\n- issuer: {url: 'https://a', audiences: [x]}\n  "
                                                    "claimMappings: {username: {claim: sub, prefix: 'p:'}}\n",
                                                {});
  ASSERT_TRUE(config) << config.error().Message();
  EXPECT_EQ(config->issuers.at(0).username_prefix, "p:");
  EXPECT_THAT(config->anonymous_paths, ElementsAre("/livez"));
  for (const char* bad :
       {"jwt:\n- issuer: {url: 'http://a', audiences: [x]}\n", "jwt:\n- issuer: {url: 'https://a'}\n",
        "jwt:\n- issuer: {url: 'https://a', audiences: [x]}\n  claimMappings: {username: {expression: x}}\n"}) {
    EXPECT_FALSE(ParseAuthenticationConfig(head + bad, {})) << bad;
  }
}

TEST(Config, ReadsAuthorizationFiles) {
  const std::string head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n";
  const std::string file = testing::TempPath("webhook-kubeconfig");
  std::ofstream(file) << "kind: Config\n";  // the file must exist
  const auto config =
      ParseAuthorizationConfig(head +
                               "- type: Webhook\n  name: w\n  webhook:\n    timeout: 3s\n    unauthorizedTTL: 10s\n    "
                               "subjectAccessReviewVersion: v1\n"
                               "    failurePolicy: Deny\n    connectionInfo: {type: KubeConfigFile, kubeConfigFile: " +
                               file + "}\n- type: RBAC\n  name: rbac\n");
  ASSERT_TRUE(config) << config.error().Message();
  EXPECT_EQ(config->at(0).webhook.timeout, std::chrono::seconds(3));
  EXPECT_TRUE(config->at(0).webhook.deny_on_error);
  EXPECT_EQ(config->at(1).type, "RBAC");
  EXPECT_FALSE(ParseAuthorizationConfig(head + "[]"));
}

TEST(Config, ReadsTheCommandLine) {
  const char* arguments[] = {"authn-authz",
                             "--listen=unix:/a",
                             "--core-api=unix:/b",
                             "--anonymous-auth=false",
                             "--service-account-key-file=k1",
                             "--service-account-key-file=k2",
                             "--authorization-mode=Node,RBAC",
                             "--service-account-issuer=https://a",
                             "--authorization-webhook-cache-authorized-ttl=1m0s",
                             "--oidc-required-claim=a=b",
                             "--requestheader-group-headers=X-Group,X-Team"};
  Options options;
  EXPECT_EQ(ParseCommandLine(std::size(arguments), const_cast<char**>(arguments), options), std::nullopt);
  EXPECT_FALSE(options.authentication.anonymous_auth);
  EXPECT_THAT(options.authentication.extensions.Get<ServiceAccountFlags>().key_files, ElementsAre("k1", "k2"));
  EXPECT_THAT(options.authorization.modes, ElementsAre("Node", "RBAC"));
  EXPECT_EQ(options.authorization.extensions.Get<AuthorizationWebhookFlags>().authorized_ttl, std::chrono::minutes(1));
  EXPECT_THAT(options.authentication.extensions.Get<RequestHeaderFlags>().group_headers,
              ElementsAre("X-Group", "X-Team"));
  EXPECT_THAT(options.authentication.extensions.Get<OidcFlags>().required_claims, ElementsAre("a=b"));
}

}  // namespace
}  // namespace apimesh::authn_authz
