#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/endpoint/testing_server.h"

namespace apimesh::endpoint {
namespace {

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";
const std::string kOne = std::string(kMaps) + "/a";
const mesh::Headers kMerge = {{"content-type", "application/merge-patch+json"}, {"user-agent", "test/1"}};

class Verbs : public ::testing::Test {
 protected:
  TestServer server;
  Reply Make(const std::string& body) { return server.Send("POST", kMaps, body); }
};

TEST_F(Verbs, CreateFillsWhatTheServerSets) {
  const Reply reply = Make(R"({"metadata":{"name":"a","uid":"mine"},"data":{"k":"v"}})");
  ASSERT_EQ(reply.code, 201) << reply.body;
  const boost::json::value made = reply.Json();
  EXPECT_EQ(made.at("metadata").at("namespace"), "default");
  EXPECT_EQ(made.at("metadata").at("creationTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_NE(made.at("metadata").at("uid"), "mine");
  EXPECT_EQ(made.at_pointer("/metadata/managedFields/0/manager"), "test");
  EXPECT_TRUE(reply.body.starts_with(
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":)"))
      << reply.body;
  EXPECT_EQ(server.Send("GET", kOne).body, reply.body);
}

TEST_F(Verbs, CreateRefuses) {
  Make(R"({"metadata":{"name":"a"}})");
  struct Case {
    const char* body;
    int code;
    const char* message;
  };
  const Case cases[] = {
      {R"({"metadata":{"name":"a"}})", 409, "configmaps \"a\" already exists"},
      {R"({"metadata":{"name":"b","namespace":"other"}})", 400,
       "the namespace of the provided object does not match the namespace sent on the request"},
      {R"({"kind":"Foo","apiVersion":"v1"})", 400,
       "Foo in version \"v1\" cannot be handled as a ConfigMap: no kind \"Foo\" is registered for version \"v1\" in "
       "scheme "
       "\"pkg/runtime/scheme.go:111\""},
      {R"({"metadata":{"name":"b","resourceVersion":"5"}})", 500,
       "resourceVersion should not be set on objects to be created"},
      {R"({"metadata":{}})", 422,
       "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required"},
  };
  for (const Case& c : cases) {
    const Reply reply = Make(c.body);
    EXPECT_EQ(reply.code, c.code) << c.body;
    EXPECT_EQ(reply.Message(), c.message);
  }
  EXPECT_EQ(Make(R"({"metadata":{"name":"c","resourceVersion":"nonsense"}})").code, 201);
  const Reply dry =
      server.Send("POST", std::string(kMaps) + "?dryRun=All", R"({"metadata":{"name":"d","resourceVersion":"5"}})");
  EXPECT_EQ(dry.code, 201);
  EXPECT_EQ(dry.Json().at_pointer("/metadata/resourceVersion"), "5");
}

TEST_F(Verbs, OnlyGetWatches) {
  const std::string watch = "/api/v1/watch/namespaces/default/configmaps";
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"})
    EXPECT_EQ(server.Send(method, watch, "{}").code, 405) << method;
}

TEST_F(Verbs, ListsAreAnsweredOnlyAsAStream) {
  mesh::Request request;
  request.method = "GET";
  request.path = kMaps;
  request.info = meta::ParseRequestInfo("GET", kMaps, "");
  EXPECT_EQ(testing::RunTask(server.server->Call(std::move(request))).code, 500);
  EXPECT_EQ(server.Send("GET", kMaps).code, 200);
}

TEST_F(Verbs, GenerateNameAppendsFiveCharacters) {
  const Reply reply = Make(R"({"metadata":{"generateName":"x-"}})");
  ASSERT_EQ(reply.code, 201) << reply.body;
  EXPECT_EQ(reply.Json().at("metadata").at("name").as_string().size(), 7U);
}

TEST_F(Verbs, FieldValidation) {
  const std::string body = R"({"metadata":{"name":"a"},"foo":1})";
  const Reply strict = server.Send("POST", std::string(kMaps) + "?fieldValidation=Strict", body);
  EXPECT_EQ(strict.code, 400);
  EXPECT_EQ(
      strict.Message(),
      "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"foo\"");
  const Reply warn = Make(body);
  EXPECT_EQ(warn.code, 201);
  EXPECT_THAT(warn.Warnings(), ::testing::ElementsAre("299 - \"unknown field \\\"foo\\\"\""));
}

TEST_F(Verbs, DryRunStoresNothing) {
  EXPECT_EQ(server.Send("POST", std::string(kMaps) + "?dryRun=All", R"({"metadata":{"name":"a"}})").code, 201);
  EXPECT_EQ(server.Send("GET", kOne).code, 404);
  EXPECT_EQ(
      server.Send("POST", std::string(kMaps) + "?dryRun=Some", "{}").Message(),
      "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: supported values: \"All\"");
}

TEST_F(Verbs, UpdateChecksNameAndVersion) {
  Make(R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  EXPECT_EQ(server.Send("PUT", kOne, R"({"metadata":{"name":"b"}})").Message(),
            "the name of the object (b) does not match the name on the URL (a)");
  EXPECT_EQ(server.Send("PUT", kOne, R"({"metadata":{}})").Message(),
            "the name of the object (a based on URL) was undeterminable: name must be provided");
  const Reply stale = server.Send("PUT", kOne, R"({"metadata":{"name":"a","resourceVersion":"1"}})");
  EXPECT_EQ(stale.code, 409);
  EXPECT_EQ(stale.Message(),
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your "
            "changes to the "
            "latest version and try again");
  const Reply fresh = server.Send("PUT", kOne, R"({"metadata":{"name":"a"},"data":{"k":"w"}})");
  EXPECT_EQ(fresh.code, 200) << fresh.body;
  EXPECT_EQ(fresh.Json().at("data").at("k"), "w");
  EXPECT_EQ(server.Send("PUT", std::string(kMaps) + "/none", R"({"metadata":{"name":"none"}})").code, 404);
}

TEST_F(Verbs, PatchRetriesAfterALostRace) {
  Make(R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  server.config_map_store->BeforeNextSwap([this] {
    boost::json::object other = server.Send("GET", kOne).Json().as_object();
    other["data"].as_object()["other"] = "x";
    server.config_map_store->Put({"default/a"}, meta::Object(std::move(other)));
  });
  const Reply reply = server.Send("PATCH", kOne, R"({"data":{"k":"w"}})", kMerge);
  ASSERT_EQ(reply.code, 200) << reply.body;
  EXPECT_EQ(reply.Json().at("data").at("k"), "w");
  EXPECT_EQ(reply.Json().at("data").at("other"), "x");
}

TEST_F(Verbs, ApplyCreatesAndConflicts) {
  const mesh::Headers apply = {{"content-type", "application/apply-patch+yaml"}};
  const std::string body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n";
  EXPECT_EQ(server.Send("PATCH", kOne, body, apply).Message(),
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch");
  EXPECT_EQ(server.Send("PATCH", kOne + "?fieldManager=me", body, apply).code, 201);
  EXPECT_EQ(server.Send("PATCH", kOne + "?fieldManager=me", body, apply).code, 200);
  const std::string other = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: w\n";
  EXPECT_EQ(server.Send("PATCH", kOne + "?fieldManager=you", other, apply).code, 409);
  EXPECT_EQ(server.Send("PATCH", kOne + "?fieldManager=you&force=true", other, apply).code, 200);
}

TEST_F(Verbs, DeleteAnswersWithAStatusOrTheMarkedObject) {
  Make(R"({"metadata":{"name":"a"}})");
  const Reply gone = server.Send("DELETE", kOne);
  EXPECT_EQ(gone.code, 200);
  EXPECT_TRUE(gone.body.starts_with(
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"a","kind":"configmaps","uid":)"))
      << gone.body;
  EXPECT_EQ(server.Send("DELETE", kOne).code, 404);

  Make(R"({"metadata":{"name":"a","finalizers":["x.y/z"]}})");
  const Reply marked = server.Send("DELETE", kOne);
  EXPECT_EQ(marked.Json().at("metadata").at("deletionTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(server.Send("POST", kMaps, R"({"metadata":{"name":"a"}})").Message(),
            "object is being deleted: configmaps \"a\" already exists");
  EXPECT_EQ(server.Send("PATCH", kOne, R"({"metadata":{"finalizers":null}})", kMerge).code, 200);
  EXPECT_EQ(server.Send("GET", kOne).code, 404);
}

TEST_F(Verbs, DeleteHoldsPreconditionsAndPolicies) {
  Make(R"({"metadata":{"name":"a"}})");
  const Reply conflict = server.Send("DELETE", kOne, R"({"preconditions":{"uid":"other"}})");
  EXPECT_EQ(conflict.code, 409);
  EXPECT_THAT(conflict.Message(),
              ::testing::HasSubstr("the UID in the precondition (other) does not match the UID in record"));
  for (const char* query : {"?uid=other", "?resourceVersion=1", "?uid=&resourceVersion=1"}) {
    EXPECT_EQ(server.Send("DELETE", kOne + query).code, 409) << query;
  }
  EXPECT_EQ(server.Send("DELETE", kOne + "?propagationPolicy=Never").code, 422);
  const Reply orphan = server.Send("DELETE", kOne + "?propagationPolicy=Orphan");
  EXPECT_EQ(orphan.Json().at_pointer("/metadata/finalizers/0"), "orphan");
}

TEST_F(Verbs, DeleteCollectionBySelector) {
  Make(R"({"metadata":{"name":"a","labels":{"x":"1"}}})");
  Make(R"({"metadata":{"name":"b"}})");
  EXPECT_EQ(server.Send("DELETE", std::string(kMaps) + "?labelSelector=x%3D1").Json().at("items").as_array().size(),
            1U);
  EXPECT_EQ(server.Send("GET", kMaps).Json().at("items").as_array().size(), 1U);
}

TEST_F(Verbs, ListItemsDoNotSayTheirType) {
  Make(R"({"metadata":{"name":"a"}})");
  Make(R"({"metadata":{"name":"b"}})");
  const Reply list = server.Send("GET", kMaps);
  EXPECT_TRUE(list.body.starts_with(R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":")"))
      << list.body;
  EXPECT_FALSE(list.Json().at("items").at(0).as_object().contains("kind"));
  const Reply page = server.Send("GET", std::string(kMaps) + "?limit=1");
  EXPECT_EQ(page.Json().at("metadata").at("remainingItemCount"), 1);
  EXPECT_FALSE(page.Json().at("metadata").at("continue").as_string().empty());
  EXPECT_EQ(server.Send("GET", std::string(kMaps) + "?limit=x").Message(),
            "strconv.ParseInt: parsing \"x\": invalid syntax");
  EXPECT_EQ(server.Send("GET", std::string(kMaps) + "?fieldSelector=a%3Db").Message(),
            "\"a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
}

TEST_F(Verbs, ListItemsOfAnotherWritersFormAreMadeOnce) {
  const storage::Key key{"default/a"};
  server.config_map_store->Put(
      key,
      meta::Object(
          boost::json::parse(
              R"({"data":{"k":"v"},"apiVersion":"v1","metadata":{"name":"a","namespace":"default"},"kind":"ConfigMap"})")
              .as_object()));
  const std::string item = R"({"data":{"k":"v"},"metadata":{"name":"a","namespace":"default","resourceVersion":"2"}})";
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(server.Send("GET", kMaps).body.ends_with("\"items\":[" + item + "]}\n"))
        << server.Send("GET", kMaps).body;
  const auto made_again = [](std::string_view) { return std::string("made again"); };
  EXPECT_EQ(testing::RunTask(server.config_map_store->Get({}, key, {})).value()->Encoded("item", made_again).View(),
            item);
  EXPECT_TRUE(server.Send("GET", kOne).body.starts_with(R"({"data":{"k":"v"},"apiVersion":"v1",)"));
}

TEST_F(Verbs, TablesAndMetadata) {
  Make(R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  const mesh::Headers table = {{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
  const boost::json::value rows = server.Send("GET", kMaps, "", table).Json();
  EXPECT_EQ(rows.at("kind"), "Table");
  EXPECT_EQ(rows.at_pointer("/rows/0/cells/0"), "a");
  EXPECT_EQ(rows.at_pointer("/rows/0/object/kind"), "PartialObjectMetadata");
  const mesh::Headers partial = {{"accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}};
  EXPECT_FALSE(server.Send("GET", kOne, "", partial).Json().as_object().contains("data"));
  EXPECT_EQ(server.Send("GET", kOne, "", {{"accept", "text/html"}}).code, 406);
}

TEST_F(Verbs, GenerationCountsChangesOfTheSpecOnly) {
  const std::string body = R"({"metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},
      "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"replicas":7}})";
  const Reply made = server.Send("POST", kDeployments, body);
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.Json().at("metadata").at("generation"), 1);
  EXPECT_FALSE(made.Json().at("status").as_object().contains("replicas"));
  const std::string one = std::string(kDeployments) + "/d";
  EXPECT_EQ(
      server.Send("PATCH", one, R"({"metadata":{"labels":{"x":"y"}}})", kMerge).Json().at("metadata").at("generation"),
      1);
  EXPECT_EQ(server.Send("PATCH", one, R"({"spec":{"replicas":2}})", kMerge).Json().at("metadata").at("generation"), 2);
  const Reply status =
      server.Send("PATCH", one + "/status", R"({"spec":{"replicas":9},"status":{"replicas":3}})", kMerge);
  EXPECT_EQ(status.Json().at("metadata").at("generation"), 2) << status.body;
  EXPECT_EQ(status.Json().at("spec").at("replicas"), 2);
  EXPECT_EQ(status.Json().at("status").at("replicas"), 3);

  const Reply scale = server.Send("GET", one + "/scale");
  EXPECT_EQ(scale.Json().at("spec").at("replicas"), 2) << scale.body;
  EXPECT_EQ(scale.Json().at("status").at("selector"), "a=b");
  EXPECT_EQ(server.Send("PATCH", one + "/scale", R"({"spec":{"replicas":5}})", kMerge).Json().at("spec").at("replicas"),
            5);
  EXPECT_EQ(server.Send("GET", one).Json().at("metadata").at("generation"), 3);
}

TEST_F(Verbs, UnknownPathsAndMethods) {
  EXPECT_EQ(server.Send("GET", "/api/v1/foos").Message(), "the server could not find the requested resource");
  EXPECT_EQ(server.Send("PUT", kMaps, "{}").Message(),
            "the server does not allow this method on the requested resource");
  EXPECT_EQ(server.Send("GET", "/apis/foo/v1/bars").body, "404 page not found\n");
  EXPECT_EQ(server.Send("GET", kOne + "/status").code, 404);
}

TEST_F(Verbs, Discovery) {
  EXPECT_EQ(
      server.Send("GET", "/api/v1").body,
      R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"configmaps","singularName":"configmap",)"
      R"("namespaced":true,"kind":"ConfigMap","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],)"
      R"("shortNames":["cm"],"storageVersionHash":"qFsyl6wFWjQ="}]})");
}

}  // namespace
}  // namespace apimesh::endpoint
