// Measures the CPU time of one RBAC decision with 10,000 bindings; prints microseconds. Built by `ninja rbac_bench`:
// see bench/micro.
#include <cstdio>
#include <ctime>

#include "services/authn-authz/authorizers/rbac/rbac_index.h"

using namespace apimesh::authn_authz;

namespace {

Attributes Question(std::string user, std::string ns, std::string resource, std::string name) {
  Attributes a;
  a.user = {std::move(user), "", {"system:authenticated", "devs", "team-7"}, {}};
  a.is_resource_request = true;
  a.verb = meta::Verb::kGet;
  a.ns = std::move(ns);
  a.resource = std::move(resource);
  a.name = std::move(name);
  return a;
}

void Measure(const char* what, const RbacIndex& index, const std::vector<Attributes>& questions) {
  constexpr int kRounds = 200'000;
  std::size_t allowed = 0;
  for (const Attributes& question : questions) index.Decide(question);  // builds indexes
  const std::clock_t begin = std::clock();
  for (int i = 0; i < kRounds; ++i) {
    allowed +=
        index.Decide(questions[static_cast<std::size_t>(i) % questions.size()]).verdict == Decision::Verdict::kAllow;
  }
  const double microseconds = 1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%-58s %6.2f us  (%zu%% allowed)\n", what, microseconds / kRounds, allowed * 100 / kRounds);
}

}  // namespace

int main() {
  RbacIndex index;
  std::vector<PolicyRule> admin;
  for (int i = 0; i < 20; ++i) {
    std::vector<std::string> resources;
    for (int j = 0; j < 10; ++j) resources.push_back("kind" + std::to_string(i * 10 + j));
    admin.push_back({{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
                     {"", "apps"},
                     resources,
                     {},
                     {}});
  }
  index.SetRole("", "admin", admin);
  index.SetRole("", "discovery",
                {{{{"get"}, {}, {}, {}, {"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/version"}}}});
  index.SetBinding({"", "discovery", {"ClusterRole", "discovery"}, {{"Group", "", "system:authenticated"}}});
  // 5,000 users with one namespace each, 2,500 secrets granted individually to one user, 2,499 cluster bindings of one
  // group.
  for (int i = 0; i < 5000; ++i) {
    const std::string n = std::to_string(i);
    index.SetBinding({"ns" + n, "admin", {"ClusterRole", "admin"}, {{"User", "", "user" + n}}});
  }
  for (int i = 0; i < 2500; ++i) {
    const std::string n = std::to_string(i);
    index.SetRole("vault", "secret" + n, {{{{"get"}, {""}, {"secrets"}, {"s" + n}, {}}}});
    index.SetBinding({"vault", "secret" + n, {"Role", "secret" + n}, {{"User", "", "user1"}}});
    index.SetRole("", "crd" + n, {{{{"get", "list"}, {"group" + n}, {"things"}, {}, {}}}});
    index.SetBinding({"", "crd" + n, {"ClusterRole", "crd" + n}, {{"Group", "", "devs"}}});
  }
  std::vector<Attributes> own, foreign, secrets, no_secrets;
  for (int i = 0; i < 1000; ++i) {
    const std::string n = std::to_string(i);
    own.push_back(Question("user" + n, "ns" + n, "kind" + std::to_string(i % 200), "x"));
    foreign.push_back(Question("user" + n, "ns" + std::to_string(i + 1), "kind3", "x"));
    secrets.push_back(Question("user1", "vault", "secrets", "s" + n));
    no_secrets.push_back(Question("user1", "vault", "secrets", "t" + n));
  }
  Measure("a user in its own namespace", index, own);
  Measure("a user in somebody else's namespace (denied)", index, foreign);
  Measure("one of 2,500 secrets granted by name", index, secrets);
  Measure("a secret not granted, with 5,000 bindings that concern it", index, no_secrets);
}
