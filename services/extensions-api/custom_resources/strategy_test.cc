#include "services/extensions-api/custom_resources/strategy.h"

#include <gtest/gtest.h>

#include "lib/schema/crd.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using meta::FieldErrors;

struct Kind {
  schema::Schema schema;
  CustomStrategyOptions options;
  explicit Kind(bool status) {
    options.kind = {"ex.io", "v1", "Foo"};
    options.node =
        schema::CompileOpenApi(json::parse(R"({"type":"object","properties":{"spec":{"type":"object","properties":{
        "n":{"type":"integer","maximum":5},"m":{"type":"integer"}}},"status":{"type":"object","properties":{"n":{"type":"integer","maximum":5}}}}})")
                                   .get_object(),
                               schema);
    options.has_status = status;
    schema.Seal();
  }
};
meta::Object Foo(const std::string& rest) {
  return meta::Object(
      json::parse(R"({"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"a","generation":3},)" + rest + "}")
          .get_object());
}
const meta::RequestContext kContext;

TEST(CustomStrategy, StatusBelongsToItsSubresource) {
  const Kind kind(true);
  const registry::StrategyPtr spec = MakeCustomStrategy(kind.options), status = MakeCustomStatusStrategy(kind.options);
  meta::Object created = Foo(R"("status":{"n":1})");
  spec->PrepareForCreate(kContext, created);
  EXPECT_FALSE(created.Root().contains("status"));
  const meta::Object old = Foo(R"("spec":{"n":1},"status":{"n":1})");
  meta::Object updated = Foo(R"("spec":{"n":2},"status":{"n":2})");
  spec->PrepareForUpdate(kContext, updated, old);
  EXPECT_EQ(json::serialize(updated.Root()["status"]), R"({"n":1})");
  updated = Foo(R"("spec":{"n":2},"status":{"n":2})");
  updated.SetMeta("labels", "x");
  status->PrepareForUpdate(kContext, updated, old);
  EXPECT_EQ(json::serialize(updated.Root()["spec"]), R"({"n":1})");
  EXPECT_EQ(json::serialize(updated.Root()["status"]), R"({"n":2})");
  EXPECT_FALSE(updated.Metadata().contains("labels"));
}

TEST(CustomStrategy, StatusChangesTheGenerationWithoutSubresource) {
  const Kind kind(false);
  meta::Object updated = Foo(R"("status":{"n":2})");
  MakeCustomStrategy(kind.options)->PrepareForUpdate(kContext, updated, Foo(R"("status":{"n":1})"));
  EXPECT_EQ(updated.Generation(), 4);
}

TEST(CustomStrategy, UpdatesIgnoreErrorsOfUnchangedValues) {
  const Kind kind(true);
  const registry::StrategyPtr strategy = MakeCustomStrategy(kind.options);
  const meta::Object old = Foo(R"("spec":{"n":9,"m":1})");
  EXPECT_EQ(strategy->Validate(kContext, old).size(), 1u);
  EXPECT_TRUE(strategy->ValidateUpdate(kContext, Foo(R"("spec":{"n":9,"m":2})"), old).empty());
  EXPECT_EQ(strategy->ValidateUpdate(kContext, Foo(R"("spec":{"n":8,"m":1})"), old).size(), 1u);
}

TEST(CustomStrategy, ReplicasAreChecked) {
  Kind kind(true);
  kind.options.scale = registry::ScalePaths{"spec.m", "status.n", ""};
  const meta::FieldErrors errors = MakeCustomStrategy(kind.options)->Validate(kContext, Foo(R"("spec":{"m":-1})"));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].field + ": " + errors[0].Message(),
            ".spec.m: Invalid value: -1: should be a non-negative integer");
}

TEST(CustomStrategy, ChecksWhatScaleShows) {
  Kind kind(true);
  kind.options.scale = registry::ScalePaths{"spec.m", "status.n", "status.selector"};
  const registry::StrategyPtr spec = MakeCustomStrategy(kind.options), status = MakeCustomStatusStrategy(kind.options);
  const auto texts = [](const FieldErrors& errors) {
    std::vector<std::string> found;
    for (const meta::FieldError& error : errors) {
      if (error.field.starts_with('.')) found.push_back(error.field + ": " + error.Message());
    }
    return found;
  };
  const std::vector<std::string> through = {
      ".spec.m: Invalid value: 0: .spec.m accessor error: x is of the type string, expected map[string]interface{}"};
  EXPECT_EQ(texts(spec->Validate(kContext, Foo(R"("spec":"x")"))), through);
  const std::vector<std::string> wrong = {
      ".spec.m: Invalid value: 0: .spec.m accessor error: x is of the type string, expected int64"};
  EXPECT_EQ(texts(spec->Validate(kContext, Foo(R"("spec":{"m":"x"})"))), wrong);
  const meta::Object old = Foo(R"("spec":{"m":-1})");
  const std::vector<std::string> of_status = {
      ".status.n: Invalid value: -1: should be a non-negative integer",
      R"(.status.selector: Invalid value: "": .status.selector accessor error: 5 is of the type int64, expected string)"};
  EXPECT_EQ(texts(status->ValidateUpdate(kContext, Foo(R"("spec":{"m":-1},"status":{"n":-1,"selector":5})"), old)),
            of_status);
}

TEST(CustomStrategy, EvaluatesRulesUnlessTypesAreWrong) {
  Kind kind(false);
  const json::object schema =
      json::parse(
          R"({"type":"object","properties":{"spec":{"type":"object","properties":{"n":{"type":"integer"}},"x-kubernetes-validations":[{"rule":"self.n > 1"}]}}})")
          .get_object();
  kind.options.rules = LazyRules::Make(schema, *kind.options.node);
  const registry::StrategyPtr spec = MakeCustomStrategy(kind.options);
  const FieldErrors failed = spec->Validate(kContext, Foo(R"("spec":{"n":1})"));
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].field + ": " + failed[0].Message(), "spec: Invalid value: failed rule: self.n > 1");
  const FieldErrors blocked = spec->Validate(kContext, Foo(R"("spec":{"n":"x"})"));
  ASSERT_EQ(blocked.size(), 2u);
  EXPECT_EQ(blocked[1].field, "<nil>");
  // An unchanged value only causes a warning, once.
  const meta::RequestContext ctx;
  const meta::Object old = Foo(R"("spec":{"n":1})");
  EXPECT_TRUE(spec->ValidateUpdate(ctx, old, old).empty());
  EXPECT_TRUE(spec->ValidateUpdate(ctx, old, old).empty());
  EXPECT_EQ(ctx.Warnings(), std::vector<std::string>{"spec: Invalid value: failed rule: self.n > 1"});
}

}  // namespace
}  // namespace apimesh::extensions_api
