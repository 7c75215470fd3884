#include "lib/schema/defaults.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "lib/schema/builtin.h"
#include "lib/schema/crd.h"

namespace apimesh::schema {
namespace {

std::string Defaulted(const char* definition, const char* text) {
  boost::json::object object = boost::json::parse(text).as_object();
  ApplyDefaults(object, *Builtin().Find(definition));
  return boost::json::serialize(object);
}

TEST(ApplyDefaults, FillsAbsentFieldsAndMakesStructsHeldByValue) {
  const boost::json::value service =
      boost::json::parse(Defaulted("io.k8s.api.core.v1.Service", R"({"metadata":{"name":"a"}})"));
  EXPECT_EQ(service.at_pointer("/spec/sessionAffinity").as_string(), "None");
  EXPECT_EQ(service.at_pointer("/spec/type").as_string(), "ClusterIP");
}

TEST(ApplyDefaults, GoesIntoLists) {
  const boost::json::value pod = boost::json::parse(
      Defaulted("io.k8s.api.core.v1.Pod", R"({"spec":{"containers":[{"ports":[{"containerPort":80}]}]}})"));
  EXPECT_EQ(pod.at_pointer("/spec/containers/0/ports/0/protocol").as_string(), "TCP");
}

TEST(ApplyDefaults, KeepsWhatIsThere) {
  const boost::json::value pod =
      boost::json::parse(Defaulted("io.k8s.api.core.v1.Pod", R"({"spec":{"restartPolicy":"Never"}})"));
  EXPECT_EQ(pod.at_pointer("/spec/restartPolicy").as_string(), "Never");
}

TEST(ApplyDefaults, DoesNotMultiplyALargeDefault) {
  boost::json::object openapi = boost::json::parse(R"({"type":"object","properties":{"items":{"type":"array","items":
      {"type":"object","properties":{"big":{"type":"string"}}}}}})")
                                    .as_object();
  openapi.at("properties").at("items").at("items").at("properties").at("big").as_object()["default"] =
      std::string(100'000, 'x');
  Schema schemas;
  const Node* node = CompileOpenApi(openapi, schemas);
  schemas.Seal();
  for (const auto& [items, fits] : {std::pair(10, true), std::pair(20'000, false)}) {
    boost::json::object object;
    for (int i = 0; i < items; ++i)
      object["items"].is_array() ? void(object["items"].as_array().emplace_back(boost::json::object()))
                                 : void(object["items"].emplace_array().emplace_back(boost::json::object()));
    EXPECT_EQ(ApplyDefaults(object, *node), fits) << items;
    EXPECT_LE(boost::json::serialize(object).size(), kMaxDefaultBytes + 200'000);
    EXPECT_EQ(object.at("items").at(0).at("big").as_string().size(), 100'000u);
  }
}

}  // namespace
}  // namespace apimesh::schema
