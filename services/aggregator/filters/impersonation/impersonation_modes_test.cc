#include "services/aggregator/filters/impersonation/impersonation_modes.h"

#include <set>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

namespace apimesh::aggregator {
namespace {

/// Allows what a test lists, as "verb group/resource[/subresource] [namespace/]name", and records the questions.
class Rights final : public Authority {
 public:
  std::set<std::string> allowed;
  std::vector<std::string> asked;
  bool available = true;

  Task<AuthenticationAnswer> Authenticate(AuthenticationQuestion) override { co_return AuthenticationAnswer(); }
  Task<AuthorizationAnswer> Authorize(AuthorizationQuestion question) override {
    const meta::RequestInfo& info = question.info;
    std::string what = fmt::format("{} {}/{}", info.verb.Text(), info.api_group, info.resource);
    if (!info.subresource.empty()) what += "/" + info.subresource;
    what += " " + (info.ns.empty() ? "" : info.ns + "/") + info.name;
    asked.push_back(what);
    AuthorizationAnswer answer;
    if (!available) co_return answer;
    answer.verdict =
        allowed.contains(what) ? AuthorizationAnswer::Verdict::kAllow : AuthorizationAnswer::Verdict::kDeny;
    co_return answer;
  }
  Task<meta::Result<service::AccessRules>> Rules(meta::UserInfo, std::string, SteadyTime) override {
    co_return service::AccessRules();
  }
  Task<std::string> Metrics() override { co_return ""; }
  Task<mesh::Response> Diagnose(mesh::Request) override { co_return mesh::Response(); }
};

class ImpersonationModesTest : public ::testing::Test {
 protected:
  ImpersonationModesTest() : modes_(std::make_shared<ImpersonationModes>(rights_)) { requestor_.name = "actor"; }

  /// Returns "user groups via mode", or the message of the refusal.
  std::string Act(meta::UserInfo wanted) { return Act(std::move(wanted), modes_); }
  std::string Act(meta::UserInfo wanted, std::shared_ptr<ImpersonationModes> modes) {
    AuthorizationQuestion request;
    request.user = MakeUser(requestor_);
    request.info.is_resource_request = true;
    request.info.verb = meta::Verb::kList;
    request.info.resource = "pods";
    request.info.ns = "ns";
    boost::asio::io_context io;
    auto future =
        boost::asio::co_spawn(io, modes->Check(std::move(request), std::move(wanted)), boost::asio::use_future);
    io.run();
    const auto result = future.get();
    if (!result) return fmt::format("{} {}", result.error().Code(), result.error().Message());
    return fmt::format("{} [{}] via {}", result->user.name, fmt::join(result->user.groups, ","), result->mode);
  }
  static meta::UserInfo User(std::string name, std::vector<std::string> groups = {}) {
    return {.name = std::move(name), .uid = "", .groups = std::move(groups), .extra = {}};
  }
  void Allow(std::initializer_list<std::string> what) { rights_->allowed.insert(what.begin(), what.end()); }

  const std::shared_ptr<Rights> rights_ = std::make_shared<Rights>();
  const std::shared_ptr<ImpersonationModes> modes_;
  meta::UserInfo requestor_;
};

TEST_F(ImpersonationModesTest, ConstrainedNeedsBothRights) {
  Allow({"impersonate:user-info authentication.k8s.io/users ann"});
  EXPECT_EQ(
      Act(User("ann")),
      "403 pods is forbidden: User \"actor\" cannot impersonate-on:user-info:list resource \"pods\" in API group \"\" "
      "in the namespace \"ns\"");
  Allow({"impersonate-on:user-info:list /pods ns/"});
  EXPECT_EQ(Act(User("ann")), "ann [system:authenticated] via user-info");
  EXPECT_EQ(
      Act(User("bob")),
      "403 users.authentication.k8s.io \"bob\" is forbidden: User \"actor\" cannot impersonate:user-info resource "
      "\"users\" in API group \"authentication.k8s.io\" at the cluster scope");
}

TEST_F(ImpersonationModesTest, OnlyLegacyWithoutTheFeature) {
  const auto modes = std::make_shared<ImpersonationModes>(rights_, false);
  Allow({"impersonate:user-info authentication.k8s.io/users ann", "impersonate-on:user-info:list /pods ns/"});
  EXPECT_EQ(Act(User("ann")), "ann [system:authenticated] via user-info");
  EXPECT_EQ(Act(User("ann"), modes).substr(0, 3), "403");
  Allow({"impersonate /users ann"});
  EXPECT_EQ(Act(User("ann"), modes), "ann [system:authenticated] via legacy");
}

TEST_F(ImpersonationModesTest, LegacyComesLastAndThenFirst) {
  Allow({"impersonate /users ann", "impersonate /groups system:masters"});
  EXPECT_EQ(Act(User("ann", {"system:masters"})), "ann [system:masters,system:authenticated] via legacy");
  rights_->asked.clear();
  EXPECT_EQ(Act(User("ann")), "ann [system:authenticated] via legacy");
  EXPECT_EQ(rights_->asked, std::vector<std::string>{"impersonate /users ann"})
      << "the mode that worked is tried first";
  EXPECT_EQ(Act(User("bob")).substr(0, 31), "403 users \"bob\" is forbidden: U") << "and its refusal is the one told";
}

TEST_F(ImpersonationModesTest, ConstrainedNeverGivesMastersOrStrangeExtra) {
  Allow({"impersonate-on:user-info:list /pods ns/", "impersonate:user-info authentication.k8s.io/users ann",
         "impersonate:user-info authentication.k8s.io/groups system:masters"});
  EXPECT_EQ(
      Act(User("ann", {"system:masters"})),
      "403 groups.authentication.k8s.io \"system:masters\" is forbidden: User \"actor\" cannot impersonate:user-info "
      "resource \"groups\" in API group \"authentication.k8s.io\" at the cluster scope: impersonating the "
      "system:masters group is not allowed");
  meta::UserInfo odd = User("ann");
  odd.extra["scopes"] = {"view"};
  EXPECT_NE(Act(odd).find("must be a domain-prefixed path"), std::string::npos);
}

TEST_F(ImpersonationModesTest, NodesHaveFixedGroups) {
  Allow({"impersonate-on:arbitrary-node:list /pods ns/", "impersonate:arbitrary-node authentication.k8s.io/nodes n1"});
  EXPECT_EQ(Act(User("system:node:n1")), "system:node:n1 [system:nodes,system:authenticated] via arbitrary-node");
  EXPECT_EQ(Act(User("system:node:n1", {"g"})).substr(0, 3), "403") << "with groups it is no longer that node";
}

TEST_F(ImpersonationModesTest, AServiceAccountMayActAsItsOwnNode) {
  requestor_.name = "system:serviceaccount:kube-system:agent";
  requestor_.extra["authentication.kubernetes.io/node-name"] = {"n1"};
  Allow({"impersonate-on:associated-node:list /pods ns/", "impersonate:associated-node authentication.k8s.io/nodes *"});
  EXPECT_EQ(Act(User("system:node:n1")), "system:node:n1 [system:nodes,system:authenticated] via associated-node");
  EXPECT_EQ(Act(User("system:node:n2")).substr(0, 3), "403");
}

TEST_F(ImpersonationModesTest, ServiceAccountsHaveTheirGroups) {
  Allow({"impersonate-on:serviceaccount:list /pods ns/",
         "impersonate:serviceaccount authentication.k8s.io/serviceaccounts a/b"});
  EXPECT_EQ(Act(User("system:serviceaccount:a:b")),
            "system:serviceaccount:a:b [system:serviceaccounts,system:serviceaccounts:a,system:authenticated] via "
            "serviceaccount");
}

TEST_F(ImpersonationModesTest, OneQuestionForManyGroups) {
  Allow({"impersonate-on:user-info:list /pods ns/", "impersonate:user-info authentication.k8s.io/users ann",
         "impersonate:user-info authentication.k8s.io/groups *"});
  EXPECT_EQ(Act(User("ann", {"a", "b", "c", "d"})), "ann [a,b,c,d,system:authenticated] via user-info");
  EXPECT_EQ(rights_->asked.size(), 3u);
}

TEST_F(ImpersonationModesTest, UnavailableIsNotARefusal) {
  rights_->available = false;
  EXPECT_EQ(Act(User("ann")).substr(0, 3), "503");
}

}  // namespace
}  // namespace apimesh::aggregator
