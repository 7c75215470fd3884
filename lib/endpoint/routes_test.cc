#include "lib/endpoint/routes.h"

#include <gtest/gtest.h>

#include "lib/endpoint/input/options.h"
#include "lib/endpoint/request.h"
#include "lib/meta/request/request_info.h"

namespace apimesh::endpoint {
namespace {

ServedResourcePtr Serve(const char* group, const char* plural, registry::Scope scope, meta::VerbSet verbs,
                        bool custom = false) {
  auto served = std::make_shared<ServedResource>();
  served->resource.gvk = {group, "v1", plural};
  served->resource.plural = plural;
  served->resource.scope = scope;
  served->resource.verbs = verbs;
  served->custom = custom;
  for (const char* name : {"status", "proxy"}) {
    registry::Subresource subresource;
    subresource.name = name;
    subresource.takes_path = subresource.name == "proxy";
    served->resource.subresources.push_back(subresource);
  }
  return served;
}

struct Case {
  const char* method;
  const char* target;
  bool in_scope;
};

void Check(const ServedResource& served, const Case& c) {
  mesh::Request request;
  const std::string target = c.target;
  const std::size_t mark = target.find('?');
  request.method = c.method;
  request.path = target.substr(0, mark);
  request.query = mark == std::string::npos ? "" : target.substr(mark + 1);
  request.info = meta::ParseRequestInfo(request.method, request.path, request.query);
  EXPECT_EQ(InScope(served, request), c.in_scope) << c.method << " " << c.target;
}

TEST(Routes, ClusterScoped) {
  const ServedResourcePtr nodes = Serve("", "nodes", registry::Scope::kCluster, meta::kStoredResourceVerbs);
  const Case cases[] = {
      {"GET", "/api/v1/nodes", true},
      {"GET", "/api/v1/nodes/", true},
      {"POST", "/api/v1/nodes", true},
      {"DELETE", "/api/v1/nodes", true},
      {"GET", "/api/v1/nodes/a", true},
      {"PUT", "/api/v1/nodes/a/status", true},
      {"GET", "/api/v1/nodes/a/status/more", false},
      {"GET", "/api/v1/nodes/a/proxy/any/path", true},
      {"GET", "/api/v1/watch/nodes", true},
      {"GET", "/api/v1/watch/nodes/a", true},
      {"GET", "/api/v1/watch/nodes/a/status", false},
      {"GET", "/api/v1/proxy/nodes/a", false},
      {"GET", "/api/v1/namespaces/x/nodes", false},
      {"GET", "/api/v1/namespaces/x/nodes?watch=true", false},
      {"GET", "/api/v1/namespaces/x/nodes?fieldSelector=metadata.name=x", false},
      {"POST", "/api/v1/namespaces/x/nodes", false},
      {"DELETE", "/api/v1/namespaces/x/nodes", false},
      {"GET", "/api/v1/namespaces/x/nodes/a", false},
      {"GET", "/api/v1/namespaces/x/nodes/x", false},
      {"PUT", "/api/v1/namespaces/x/nodes/a", false},
      {"PATCH", "/api/v1/namespaces/x/nodes/a/status", false},
      {"GET", "/api/v1/namespaces/x/nodes/a/proxy/any/path", false},
      {"GET", "/api/v1/watch/namespaces/x/nodes", false},
      {"GET", "/api/v1/watch/namespaces/x/nodes/a", false},
  };
  for (const Case& c : cases) Check(*nodes, c);
}

TEST(Routes, Namespaced) {
  const ServedResourcePtr pods = Serve("", "pods", registry::Scope::kNamespaced, meta::kStoredResourceVerbs);
  const Case cases[] = {
      {"GET", "/api/v1/namespaces/x/pods", true},
      {"GET", "/api/v1/namespaces/x/pods/a", true},
      {"GET", "/api/v1/namespaces/x/pods/a/status", true},
      {"GET", "/api/v1/namespaces/x/pods/a/status/more", false},
      {"GET", "/api/v1/namespaces/x/pods/a/proxy/any/path", true},
      {"GET", "/api/v1/watch/namespaces/x/pods", true},
      {"GET", "/api/v1/watch/namespaces/x/pods/a", true},
      {"GET", "/api/v1/watch/namespaces/x/pods/a/status", false},
      {"GET", "/api/v1/pods", true},
      {"GET", "/api/v1/pods?watch=true", true},
      {"GET", "/api/v1/watch/pods", true},
      {"DELETE", "/api/v1/pods", true},  // the path exists; the method is refused later
      {"GET", "/api/v1/pods/a", false},
      {"PUT", "/api/v1/pods/a", false},
      {"DELETE", "/api/v1/pods/a", false},
      {"PATCH", "/api/v1/pods/a/status", false},
      {"GET", "/api/v1/pods/a/proxy/any/path", false},
      {"GET", "/api/v1/watch/pods/a", false},
  };
  for (const Case& c : cases) Check(*pods, c);
}

TEST(Routes, NamespacesContainThemselvesOnlyAsObjects) {
  const ServedResourcePtr namespaces = Serve("", "namespaces", registry::Scope::kCluster, meta::kStoredResourceVerbs);
  const Case cases[] = {
      {"GET", "/api/v1/namespaces", true},
      {"GET", "/api/v1/namespaces?watch=true&fieldSelector=metadata.name=x", true},
      {"GET", "/api/v1/namespaces/x", true},
      {"PUT", "/api/v1/namespaces/x/status", true},
      {"PUT", "/api/v1/namespaces/x/finalize", true},
      {"GET", "/api/v1/watch/namespaces", true},
      {"GET", "/api/v1/watch/namespaces/x", true},
      {"GET", "/api/v1/watch/namespaces/x/status", false},
      {"GET", "/api/v1/namespaces/x/namespaces", false},
      {"GET", "/api/v1/namespaces/x/namespaces?fieldSelector=metadata.name=x", false},
      {"GET", "/api/v1/namespaces/x/namespaces?watch=true&fieldSelector=metadata.name=x", false},
      {"POST", "/api/v1/namespaces/x/namespaces", false},
      {"GET", "/api/v1/namespaces/x/namespaces/x", false},
      {"GET", "/api/v1/namespaces/x/namespaces/y", false},
      {"PUT", "/api/v1/namespaces/x/namespaces/x/status", false},
      {"GET", "/api/v1/watch/namespaces/x/namespaces/x", false},
      {"GET", "/api/v1/namespaces/x/status/more", false},
  };
  for (const Case& c : cases) Check(*namespaces, c);
}

TEST(Routes, PathsWithoutAnyVerbAreNone) {
  const ServedResourcePtr reviews = Serve("g", "reviews", registry::Scope::kCluster, {meta::Verb::kCreate});
  const ServedResourcePtr bindings = Serve("", "bindings", registry::Scope::kNamespaced, {meta::Verb::kCreate});
  for (const Case& c : {Case{"POST", "/apis/g/v1/reviews", true}, Case{"GET", "/apis/g/v1/reviews", true},
                        Case{"GET", "/apis/g/v1/reviews/a", false}, Case{"GET", "/apis/g/v1/watch/reviews", false},
                        Case{"POST", "/apis/g/v1/namespaces/x/reviews", false}}) {
    Check(*reviews, c);
  }
  for (const Case& c : {Case{"POST", "/api/v1/namespaces/x/bindings", true}, Case{"POST", "/api/v1/bindings", false},
                        Case{"GET", "/api/v1/namespaces/x/bindings/a", false}}) {
    Check(*bindings, c);
  }
}

TEST(Routes, CustomResourcesDecideByTheVerb) {
  const ServedResourcePtr cluster = Serve("g", "widgets", registry::Scope::kCluster, meta::kStoredResourceVerbs, true);
  const ServedResourcePtr namespaced =
      Serve("g", "widgets", registry::Scope::kNamespaced, meta::kStoredResourceVerbs, true);
  EXPECT_TRUE(cluster->custom);
  for (const Case& c :
       {Case{"GET", "/apis/g/v1/widgets/a", true}, Case{"GET", "/apis/g/v1/namespaces/x/widgets", false},
        Case{"PUT", "/apis/g/v1/namespaces/x/widgets/a/status", false}}) {
    Check(*cluster, c);
  }
  for (const Case& c : {Case{"GET", "/apis/g/v1/namespaces/x/widgets/a", true}, Case{"GET", "/apis/g/v1/widgets", true},
                        Case{"GET", "/apis/g/v1/watch/widgets", true}, Case{"GET", "/apis/g/v1/widgets/a", false},
                        Case{"POST", "/apis/g/v1/widgets", false}, Case{"DELETE", "/apis/g/v1/widgets", false}}) {
    Check(*namespaced, c);
  }
}

/// If a request passes the routes by mistake, a cluster-scoped resource in a namespace still has no key and no list.
TEST(Routes, RequestsOfClusterScopedObjectsInANamespaceHaveNoKey) {
  const auto key = [](const char* plural, const std::string& path) {
    mesh::Request request;
    request.path = path;
    request.info = meta::ParseRequestInfo("GET", path, "");
    const std::string name = request.info.name;
    const ResourceRequest parsed(nullptr, Serve("", plural, registry::Scope::kCluster, meta::kStoredResourceVerbs),
                                 std::move(request));
    return parsed.KeyOf(name);
  };
  EXPECT_EQ(key("nodes", "/api/v1/nodes/a")->text, "a");
  EXPECT_EQ(key("namespaces", "/api/v1/namespaces/a")->text, "a");
  EXPECT_EQ(key("nodes", "/api/v1/namespaces/x/nodes/a").error().Code(), 500);
  EXPECT_EQ(key("nodes", "/api/v1/namespaces/x/nodes/x").error().Code(), 500);
  EXPECT_EQ(key("namespaces", "/api/v1/namespaces/x/namespaces/a").error().Code(), 500);

  registry::Resource nodes;
  nodes.gvk = {"", "v1", "Node"};
  nodes.plural = "nodes";
  nodes.scope = registry::Scope::kCluster;
  EXPECT_EQ(ParseListQuery(Query(""), nodes, "x", "").error().Code(), 500);
  EXPECT_TRUE(ParseListQuery(Query(""), nodes, "", ""));
}

TEST(ParseListQuery, InitialEventsNeedTheWatchListFeature) {
  registry::Resource pods;
  pods.gvk = {"", "v1", "Pod"};
  pods.plural = "pods";
  const auto initial = [&pods](const char* query, bool watch_list) {
    const meta::Result<ListQuery> parsed = ParseListQuery(Query(query), pods, "x", "", watch_list);
    return parsed ? parsed->watch.send_initial_events.has_value() ? "yes" : "no" : parsed.error().Message();
  };
  EXPECT_EQ(initial("watch=true", true), "yes");
  EXPECT_EQ(initial("watch=true", false), "yes") << "a watch without a version always begins with the current state";
  constexpr const char* kExplicit = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  EXPECT_EQ(initial(kExplicit, true), "yes");
  EXPECT_EQ(initial(kExplicit, false),
            "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for "
            "watch unless the WatchList feature gate is enabled");
}

}  // namespace
}  // namespace apimesh::endpoint
