#include "lib/meta/request/request_info.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace apimesh::meta {
namespace {

struct Case {
  const char* method;
  const char* path;
  const char* query;
  const char* want;  // resource? verb prefix group version ns resource subresource name
};
const Case kCases[] = {
    {"GET", "/api/v1/namespaces", "", "true list api  v1  namespaces  "},
    {"GET", "/api/v1/namespaces/other", "", "true get api  v1 other namespaces  other"},
    {"GET", "/api/v1/namespaces/other/pods", "", "true list api  v1 other pods  "},
    {"HEAD", "/api/v1/namespaces/other/pods/foo", "", "true get api  v1 other pods  foo"},
    {"GET", "/api/v1/pods", "watch=true", "true watch api  v1  pods  "},
    {"GET", "/api/v1/pods", "watch", "true watch api  v1  pods  "},
    {"GET", "/api/v1/pods", "watch=0", "true list api  v1  pods  "},
    {"GET", "/api/v1/pods", "watch=False&limit=x", "true list api  v1  pods  "},
    {"GET", "/api/v1/namespaces/n/pods", "fieldSelector=metadata.name%3Dfoo", "true list api  v1 n pods  foo"},
    {"GET", "/api/v1/namespaces/n/pods", "fieldSelector=metadata.name%3Dfoo&watch=1", "true watch api  v1 n pods  foo"},
    {"GET", "/api/v1/namespaces/n/pods", "fieldSelector=metadata.name%3Dfoo&limit=x", "true list api  v1 n pods  "},
    {"GET", "/api/v1/namespaces/n/pods", "fieldSelector=metadata.name%3Da/b", "true list api  v1 n pods  "},
    {"DELETE", "/api/v1/namespaces/n/pods", "", "true deletecollection api  v1 n pods  "},
    {"DELETE", "/api/v1/namespaces/n/pods/p", "", "true delete api  v1 n pods  p"},
    {"POST", "/api/v1/namespaces/n/pods/p/binding", "", "true create api  v1 n pods binding p"},
    {"PUT", "/api/v1/namespaces/n/finalize", "", "true update api  v1 n namespaces finalize n"},
    {"PATCH", "/api/v1/namespaces/n/status", "", "true patch api  v1 n namespaces status n"},
    {"GET", "/api/v1/watch/pods", "", "true watch api  v1  pods  "},
    {"GET", "/api/v1/watch/namespaces/n/pods/p", "", "true watch api  v1 n pods  p"},
    {"GET", "/api/v1/proxy/namespaces/n/pods/p/x", "", "true proxy api  v1 n pods  p"},
    {"GET", "/api/v1/watch", "", "true get api  v1    "},
    {"GET", "/apis/apps/v1/namespaces/n/deployments/d/scale", "", "true get apis apps v1 n deployments scale d"},
    {"OPTIONS", "/api/v1/pods", "", "true  api  v1  pods  "},
    {"GET", "/apis/apps/v1", "", "false get apis      "},
    {"GET", "/apis/apps", "", "false get       "},
    {"GET", "/api/v1", "", "false get       "},
    {"GET", "/", "", "false get       "},
    {"POST", "/healthz/ping/x", "", "false post       "},
    {"GET", "/api/v1/namespaces/n/pods/p/proxy/a//b", "", "true get api  v1 n pods proxy p"},
};

TEST(RequestInfo, FollowsTheReference) {
  for (const Case& test : kCases) {
    const RequestInfo i = ParseRequestInfo(test.method, test.path, test.query);
    EXPECT_EQ(fmt::format("{} {} {} {} {} {} {} {} {}", i.is_resource_request, i.verb.Text(), i.api_prefix, i.api_group,
                          i.api_version, i.ns, i.resource, i.subresource, i.name),
              test.want)
        << test.method << " " << test.path << "?" << test.query;
  }
}

TEST(RequestInfo, KeepsSelectorsOfCollectionsOnly) {
  const RequestInfo list = ParseRequestInfo("GET", "/api/v1/pods", "labelSelector=a%3Db+c&fieldSelector=x");
  EXPECT_EQ(list.label_selector, "a=b c");
  EXPECT_EQ(list.field_selector, "x");
  EXPECT_EQ(ParseRequestInfo("GET", "/api/v1/namespaces/n/pods/p", "labelSelector=a").label_selector, "");
  EXPECT_EQ(ParseRequestInfo("GET", "/api/v1/watch/pods", "labelSelector=a").label_selector, "");
  EXPECT_EQ(ParseRequestInfo("DELETE", "/api/v1/namespaces/n/pods", "labelSelector=a").label_selector, "a");
}

TEST(RequestInfo, PartsStartAtTheResource) {
  const RequestInfo info = ParseRequestInfo("GET", "/api/v1/namespaces/n/pods/p/proxy/a//b", "");
  EXPECT_EQ(fmt::format("{}", fmt::join(info.parts, "|")), "pods|p|proxy|a||b");
}

}  // namespace
}  // namespace apimesh::meta
