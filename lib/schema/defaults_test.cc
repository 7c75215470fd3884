#include "lib/schema/defaults.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "lib/schema/builtin.h"

namespace apimesh::schema {
namespace {

std::string Defaulted(const char* definition, const char* text) {
  boost::json::object object = boost::json::parse(text).as_object();
  ApplyDefaults(object, *Builtin().Find(definition));
  return boost::json::serialize(object);
}

TEST(ApplyDefaults, FillsAbsentFieldsAndMakesStructsHeldByValue) {
  const boost::json::value service = boost::json::parse(Defaulted("io.k8s.api.core.v1.Service", R"({"metadata":{"name":"a"}})"));
  EXPECT_EQ(service.at_pointer("/spec/sessionAffinity").as_string(), "None");
  EXPECT_EQ(service.at_pointer("/spec/type").as_string(), "ClusterIP");
}

TEST(ApplyDefaults, GoesIntoLists) {
  const boost::json::value pod =
      boost::json::parse(Defaulted("io.k8s.api.core.v1.Pod", R"({"spec":{"containers":[{"ports":[{"containerPort":80}]}]}})"));
  EXPECT_EQ(pod.at_pointer("/spec/containers/0/ports/0/protocol").as_string(), "TCP");
}

TEST(ApplyDefaults, KeepsWhatIsThere) {
  const boost::json::value pod = boost::json::parse(Defaulted("io.k8s.api.core.v1.Pod", R"({"spec":{"restartPolicy":"Never"}})"));
  EXPECT_EQ(pod.at_pointer("/spec/restartPolicy").as_string(), "Never");
}

}  // namespace
}  // namespace apimesh::schema
