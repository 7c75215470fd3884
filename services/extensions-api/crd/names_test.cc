#include "services/extensions-api/crd/names.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "services/extensions-api/crd/conditions.h"

namespace apimesh::extensions_api {
namespace {

meta::Object Crd() {
  return meta::Object(
      meta::json::parse(
          R"({"metadata":{"name":"foos.ex.io"},"spec":{"group":"ex.io","names":{"plural":"foos","singular":"foo","kind":"Foo",
      "listKind":"FooList","shortNames":["fo"]},"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}}}]}})")
          .get_object());
}

TEST(Names, AreAcceptedAndTheDefinitionEstablished) {
  meta::Object crd = Crd();
  EXPECT_TRUE(UpdateStatus(crd, {}, WallTime()));
  EXPECT_EQ(FindCondition(crd, "NamesAccepted"),
            (Condition{"NamesAccepted", "True", "NoConflicts", "no conflicts found"}));
  EXPECT_EQ(FindCondition(crd, "Established"),
            (Condition{"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"}));
  EXPECT_EQ(ReadNames(crd, "status", "acceptedNames"), ReadNames(crd, "spec", "names"));
  EXPECT_FALSE(UpdateStatus(crd, {}, WallTime())) << "nothing to do a second time";
}

TEST(Names, ThatAreTakenKeepItFromBeingEstablished) {
  meta::Object crd = Crd();
  TakenNames taken;
  taken.Add(
      {.plural = "foos", .singular = "x", .kind = "X", .list_kind = "XList", .short_names = {}, .categories = {}});
  EXPECT_TRUE(UpdateStatus(crd, taken, WallTime()));
  EXPECT_EQ(FindCondition(crd, "NamesAccepted"),
            (Condition{"NamesAccepted", "False", "PluralConflict", "\"foos\" is already in use"}));
  EXPECT_EQ(FindCondition(crd, "Established").reason, "NotAccepted");
  EXPECT_EQ(ReadNames(crd, "status", "acceptedNames").plural, "");
  EXPECT_EQ(ReadNames(crd, "status", "acceptedNames").kind, "Foo");
  EXPECT_TRUE(UpdateStatus(crd, {}, WallTime())) << "the name is free now";
  EXPECT_TRUE(IsTrue(crd, "Established"));
}

TEST(Names, WithSeveralServersTheDefinitionIsServedBeforeItIsEstablished) {
  meta::Object crd = Crd();
  const auto delay = std::chrono::seconds(5);
  const WallTime begin = WallTime() + std::chrono::hours(1000);
  EXPECT_TRUE(UpdateStatus(crd, {}, begin, delay));
  EXPECT_EQ(FindCondition(crd, "Established"),
            (Condition{"Established", "False", "Installing", "the initial names have been accepted"}));
  EXPECT_TRUE(IsServed(crd));
  EXPECT_FALSE(UpdateStatus(crd, {}, begin + std::chrono::seconds(4), delay));
  EXPECT_TRUE(UpdateStatus(crd, {}, begin + delay, delay));
  EXPECT_TRUE(IsTrue(crd, "Established"));
}

TEST(Names, AnInvalidCaBundleKeepsItFromBeingEstablished) {
  meta::Object crd = Crd();
  crd.Root()["spec"].get_object()["conversion"] =
      meta::json::parse(R"({"strategy":"Webhook","webhook":{"clientConfig":{"caBundle":"eA=="}}})");
  EXPECT_TRUE(UpdateStatus(crd, {}, WallTime()));
  EXPECT_EQ(FindCondition(crd, "Established"),
            (Condition{"Established", "False", "InvalidCABundle", "The conversion webhook CABundle is invalid"}));
  EXPECT_FALSE(IsServed(crd));
}

TEST(Names, NonStructuralSchemasAreReported) {
  meta::Object crd = Crd();
  crd.Root()["spec"].get_object()["preserveUnknownFields"] = true;
  UpdateStatus(crd, {}, WallTime());
  EXPECT_EQ(FindCondition(crd, "NonStructuralSchema").message,
            "spec.preserveUnknownFields: Invalid value: true: must be false");
  crd.Root()["spec"].get_object()["preserveUnknownFields"] = false;
  EXPECT_TRUE(UpdateStatus(crd, {}, WallTime()));
  EXPECT_EQ(FindCondition(crd, "NonStructuralSchema").type, "");
}

}  // namespace
}  // namespace apimesh::extensions_api
