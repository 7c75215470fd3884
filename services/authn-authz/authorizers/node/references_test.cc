#include "services/authn-authz/authorizers/node/references.h"

#include <ctime>
#include <set>

#include <gtest/gtest.h>

#include "lib/codec/json/json_parts.h"

namespace apimesh::authn_authz {
namespace {

/// A pod with every kind of reference.
constexpr std::string_view kPod =
    R"({"metadata":{"name":"p","namespace":"ns","annotations":{"a":"b"},"managedFields":[{"manager":"m"}]},
"spec":{"nodeName":"n","serviceAccountName":"sa","imagePullSecrets":[{"name":"pull"}],
"initContainers":[{"name":"i","envFrom":[{"secretRef":{"name":"s-init"}}]}],
"containers":[{"name":"c","image":"x","envFrom":[{"configMapRef":{"name":"cm-from"}}],"env":[{"name":"A","value":"1"},
  {"name":"B","valueFrom":{"secretKeyRef":{"name":"s-env","key":"k"}}},{"name":"C","valueFrom":{"configMapKeyRef":{"name":"cm-env","key":"k"}}}]}],
"ephemeralContainers":[{"name":"e","env":[{"name":"D","valueFrom":{"secretKeyRef":{"name":"s-eph","key":"k"}}}]}],
"volumes":[{"name":"v1","secret":{"secretName":"s-vol"}},{"name":"v2","configMap":{"name":"cm-vol"}},{"name":"v3","persistentVolumeClaim":{"claimName":"claim"}},
  {"name":"v4","ephemeral":{}},{"name":"v5","projected":{"sources":[{"secret":{"name":"s-proj"}},{"configMap":{"name":"cm-proj"}}]}},
  {"name":"v6","csi":{"nodePublishSecretRef":{"name":"s-csi"}}},{"name":"v7","rbd":{"secretRef":{"name":"s-rbd"}}},{"name":"v8","azureFile":{"secretName":"s-azure"}}],
"resourceClaims":[{"name":"r1","resourceClaimName":"rc"},{"name":"r2","resourceClaimTemplateName":"t"}]},
"status":{"phase":"Running","resourceClaimStatuses":[{"name":"r2","resourceClaimName":"rc-made"}],"extendedResourceClaimStatus":{"resourceClaimName":"rc-ext"}}})";

std::set<std::pair<GraphKind, std::string>> References(const boost::json::value& pod) {
  std::set<std::pair<GraphKind, std::string>> found;
  VisitPodReferences(pod.as_object(), [&](GraphKind kind, std::string_view name) {
    if (!name.empty()) found.emplace(kind, name);
  });
  return found;
}

TEST(References, AreAllFoundInThePartsThatAWatchReads) {
  meta::FieldMask parts{"metadata.name", "metadata.namespace"};
  for (const std::string& path : PodReferencePaths()) parts.Add(path);
  const auto of_all = References(*codec::ParseJsonParts(kPod, {}, {}));
  const boost::json::value read = *codec::ParseJsonParts(kPod, parts, {});
  EXPECT_EQ(of_all.size(), 19u);
  EXPECT_EQ(References(read), of_all);
  EXPECT_EQ(meta::FindString(read.as_object(), "spec", "nodeName"), "n");
  EXPECT_TRUE(meta::Find(read.as_object(), "metadata", "annotations", "a"));
  EXPECT_FALSE(meta::Find(read.as_object(), "metadata", "managedFields"));
}

// If each claim were compared with each status, this would take minutes.
TEST(References, ManyClaimsFromTemplatesTakeLinearTime) {
  constexpr int kClaims = 40'000;
  boost::json::array claims, statuses;
  for (int i = 0; i < kClaims; ++i) {
    claims.push_back({{"name", fmt::format("c{}", i)}, {"resourceClaimTemplateName", "t"}});
    statuses.push_back({{"name", fmt::format("c{}", i)}, {"resourceClaimName", fmt::format("made-{}", i)}});
  }
  const boost::json::value pod = {{"spec", {{"resourceClaims", std::move(claims)}}},
                                  {"status", {{"resourceClaimStatuses", std::move(statuses)}}}};
  const std::clock_t begin = std::clock();
  EXPECT_EQ(References(pod).size(), static_cast<std::size_t>(kClaims));
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 5);
}

}  // namespace
}  // namespace apimesh::authn_authz
