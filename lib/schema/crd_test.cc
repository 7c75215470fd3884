#include "lib/schema/crd.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/schema/defaults.h"
#include "lib/schema/duplicates.h"
#include "lib/schema/pruning.h"
#include "lib/schema/validation.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;
using ::testing::UnorderedElementsAre;

constexpr char kSchema[] =
    R"({"type":"object","required":["spec"],"properties":{"spec":{"type":"object","required":["must"],"properties":{
"must":{"type":"string"},"replicas":{"type":"integer","minimum":1,"maximum":5,"default":2},"ex":{"type":"number","maximum":5,"exclusiveMaximum":true,"multipleOf":0.5},
"pat":{"type":"string","pattern":"^a+$","minLength":2,"maxLength":4},"en":{"type":"string","enum":["a","b"]},
"arr":{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":2},"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
"map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}},
"obj":{"type":"object","additionalProperties":{"type":"string"},"maxProperties":2,"minProperties":1},"any":{"type":"string","anyOf":[{"pattern":"^x"},{"pattern":"^y"}]},
"one":{"type":"string","oneOf":[{"pattern":"^x"},{"pattern":"x$"}]},"all":{"type":"string","allOf":[{"pattern":"^x"},{"minLength":3}]},"not":{"type":"string","not":{"pattern":"^x"}},
"ios":{"x-kubernetes-int-or-string":true},"date":{"type":"string","format":"date-time"},"i32":{"type":"integer","format":"int32"},"bool":{"type":"boolean"},
"nul":{"type":"string","nullable":true},"enumint":{"type":"integer","enum":[1,2]},"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"object"}}}}}}})";

struct Compiled {
  Schema schema;
  const Node* root;
  explicit Compiled(const char* text) {
    root = CompileOpenApi(json::parse(text).get_object(), schema);
    schema.Seal();
  }
};

/// All checks of a custom resource.
meta::FieldErrors Validate(const json::object& resource, const Node& node) {
  meta::FieldErrors errors = ValidateCustomResource(resource, node);
  errors.Append(FindDuplicates(resource, node));
  return errors;
}

std::vector<std::string> Complaints(const std::string& spec) {
  static const Compiled compiled(kSchema);
  std::vector<std::string> texts;
  const json::value resource =
      json::parse(R"({"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"a"})" + spec + "}");
  for (const meta::FieldError& error : Validate(resource.get_object(), *compiled.root)) {
    texts.push_back(error.field + ": " + error.Message());
  }
  return texts;
}

// Every text here is a response of kube-apiserver v1.36.3.
TEST(CustomResources, AreValidatedWithTheReferencesTexts) {
  EXPECT_THAT(Complaints(""), UnorderedElementsAre("spec: Required value"));
  EXPECT_THAT(
      Complaints(R"(,"spec":5)"),
      UnorderedElementsAre(R"(spec: Invalid value: "integer": spec in body must be of type object: "integer")"));
  EXPECT_THAT(Complaints(R"(,"spec":{})"), UnorderedElementsAre("spec.must: Required value"));
  EXPECT_THAT(
      Complaints(R"(,"spec":{"must":"x","replicas":"five"})"),
      UnorderedElementsAre(
          R"(spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string")"));
  EXPECT_THAT(
      Complaints(
          R"(,"spec":{"must":"x","replicas":0,"ex":5,"pat":"b","en":"c","arr":[],"any":"q","one":"xx","all":"yy","not":"xx","date":"foo","bool":"x","i32":3000000000,"enumint":3})"),
      UnorderedElementsAre(
          R"(spec.pat: Invalid value: "b": spec.pat in body should be at least 2 chars long)",
          "spec.replicas: Invalid value: 0: spec.replicas in body should be greater than or equal to 1",
          R"(spec.bool: Invalid value: "string": spec.bool in body must be of type boolean: "string")",
          R"(spec.enumint: Unsupported value: 3: supported values: "1", "2")",
          "spec.arr: Invalid value: 0: spec.arr in body should have at least 1 items",
          R"(<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives)",
          R"(spec.en: Unsupported value: "c": supported values: "a", "b")",
          R"(spec.all: Invalid value: "yy": spec.all in body should match '^x')",
          R"(spec.all: Invalid value: "yy": spec.all in body should be at least 3 chars long)",
          R"(<nil>: Invalid value: "": "spec.all" must validate all the schemas (allOf). None validated)",
          R"(spec.date: Invalid value: "foo": spec.date in body must be of type date-time: "foo")",
          R"(<nil>: Invalid value: "": "spec.any" must validate at least one schema (anyOf))",
          R"(spec.any: Invalid value: "q": spec.any in body should match '^x')",
          R"(<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.i32)",
          R"(<nil>: Invalid value: "": "spec.not" must not validate the schema (not))",
          "spec.ex: Invalid value: 0: factor MultipleOf declared for spec.ex must be positive: 0",
          "spec.ex: Invalid value: 5: spec.ex in body should be less than 5"));
  EXPECT_THAT(
      Complaints(R"(,"spec":{"must":"x","replicas":6,"ex":4.3,"pat":"aaaaa","arr":[1,2,3],"obj":{},"ios":true})"),
      UnorderedElementsAre(
          "spec.ex: Invalid value: 4.3: spec.ex in body should be a multiple of 0.5",
          "spec.pat: Too long: may not be more than 4 bytes",
          "spec.replicas: Invalid value: 6: spec.replicas in body should be less than or equal to 5",
          "spec.arr: Too many: 3: must have at most 2 items",
          R"(spec.ios: Invalid value: "boolean": spec.ios in body must be of type integer,string: "boolean")",
          "spec.obj: Invalid value: 0: spec.obj in body should have at least 1 properties"));
  EXPECT_THAT(
      Complaints(
          R"(,"spec":{"must":"x","arr":["x"],"obj":{"a":5,"b":"x","c":"y"},"set":["a","a"],"map":[{"k":"a"},{"k":"a"}]})"),
      UnorderedElementsAre(
          R"(spec.arr[0]: Invalid value: "string": spec.arr[0] in body must be of type integer: "string")",
          "spec.obj: Too many: 3: must have at most 2 items",
          R"(spec.obj.a: Invalid value: "integer": spec.obj.a in body must be of type string: "integer")",
          R"(spec.set[1]: Duplicate value: "a")", R"(spec.map[1]: Duplicate value: {"k":"a"})"));
  EXPECT_THAT(
      Complaints(R"(,"spec":{"must":"x","replicas":1.5,"one":"q","map":[{}]})"),
      UnorderedElementsAre(
          "spec.map[0].k: Required value",
          R"(spec.replicas: Invalid value: "number": spec.replicas in body must be of type integer: "number")",
          R"(<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.replicas)",
          R"(<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found none valid)",
          R"(spec.one: Invalid value: "q": spec.one in body should match '^x')"));
}

TEST(CustomResources, ArePrunedAndDefaulted) {
  const Compiled compiled(kSchema);
  json::value resource = json::parse(
      R"({"kind":"Foo","metadata":{"name":"a","foo":1},"x":1,"spec":{"must":null,"nul":null,"y":{"z":1},"map":[{"k":"a","l":1}],"free":{"b":{"c":1},"a":{"d":1}}}})");
  EXPECT_EQ(Prune(resource.get_object(), *compiled.root),
            (std::vector<std::string>{"spec.free.a.d", "spec.map[0].l", "spec.y", "x"}));
  ApplyDefaults(resource.get_object(), *compiled.root);
  EXPECT_EQ(
      json::serialize(resource),
      R"({"kind":"Foo","metadata":{"name":"a","foo":1},"spec":{"nul":null,"map":[{"k":"a"}],"free":{"b":{"c":1},"a":{}},"replicas":2}})");
}

TEST(Structural, SchemasAreChecked) {
  const auto check = [](const char* text) {
    std::vector<std::string> texts;
    for (const auto& error : CheckStructural(json::parse(text).get_object(), meta::Path("s")))
      texts.push_back(error.field + ": " + error.Message());
    return texts;
  };
  EXPECT_THAT(check(kSchema), ::testing::IsEmpty());
  EXPECT_THAT(
      check(
          R"({"properties":{"a":{},"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}},"additionalProperties":true})"),
      UnorderedElementsAre("s.additionalProperties: Forbidden: must not be used at the root",
                           "s.type: Required value: must not be empty at the root",
                           "s.properties[a].type: Required value: must not be empty for specified object fields",
                           "s.properties[metadata]: Forbidden: must not specify anything other than name and "
                           "generateName, but metadata is implicitly specified"));
  EXPECT_THAT(
      check(
          R"({"type":"object","properties":{"a":{"type":"array"}},"anyOf":[{"type":"object","properties":{"b":{"minimum":1}}}]})"),
      UnorderedElementsAre("s.properties[a].items: Required value: must be specified",
                           "s.anyOf[0].type: Forbidden: must be empty to be structural",
                           "s.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]"));
}

/// A schema and a resource with repeated parts.
struct Repeated {
  Schema schema;
  const Node* root;
  json::object resource;
  Repeated(const std::string& spec_schema, const std::string& spec) {
    root = CompileOpenApi(json::parse(R"({"type":"object","properties":{"spec":)" + spec_schema + "}}").get_object(),
                          schema);
    schema.Seal();
    resource = json::parse(R"({"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"a"},"spec":)" + spec + "}")
                   .get_object();
  }
};

std::string List(const std::string& item, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i ? "," : "") + item;
  return "[" + text + "]";
}

TEST(CustomResources, LargeOnesTakeTimeInProportion) {
  const std::string key(500'000, 'k');
  {
    const Repeated one(
        R"({"type":"object","additionalProperties":{"type":"array","items":{"type":"integer","not":{"minimum":5}}}})",
        "{\"" + key + "\":" + List("1", 200'000) + "}");
    EXPECT_TRUE(ValidateCustomResource(one.resource, *one.root).empty());
  }
  {
    const Repeated one(R"({"type":"object","additionalProperties":{"type":"array","items":{"type":"integer"}}})",
                       "{\"" + key + "\":" + List("\"\"", 200'000) + "}");
    const meta::FieldErrors errors = ValidateCustomResource(one.resource, *one.root);
    EXPECT_TRUE(errors.Full());
    EXPECT_LE(errors.size(), 3u) << "each of them names the long key";
  }
  {
    const Repeated one(R"({"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}})",
                       List("\"a\"", 200'000));
    EXPECT_EQ(Validate(one.resource, *one.root).size(), 1u);
  }
  {
    Repeated one(R"({"type":"object","additionalProperties":{"type":"object","properties":{}}})",
                 "{\"" + key + "\":{}}");
    json::object& inner = one.resource["spec"].get_object()[key].get_object();
    for (int i = 0; i < 100'000; ++i) inner[std::to_string(i)] = 1;
    EXPECT_LE(Prune(one.resource, *one.root).size(), 3u);
    EXPECT_TRUE(one.resource["spec"].get_object()[key].get_object().empty());
  }
}

// Every text here is a response of kube-apiserver v1.36.3.
TEST(CustomResources, AllChecksOfAValueAreReported) {
  const std::tuple<const char*, const char*, std::vector<std::string>> cases[] = {
      {R"({"type":"string","enum":["red"]})",
       "1",
       {R"(spec: Invalid value: "integer": spec in body must be of type string: "integer")",
        R"(spec: Unsupported value: 1: supported values: "red")"}},
      {R"({"type":"string","nullable":true,"enum":["a"]})",
       "null",
       {R"(spec: Unsupported value: null: supported values: "a")"}},
      {R"({"type":"integer","format":"int32"})",
       "1.5",
       {R"(spec: Invalid value: "float64": spec in body must be of type int32: "float64")",
        R"(<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec)"}},
      {R"({"type":"integer","format":"int32","maximum":3000000000})",
       "5",
       {R"(<nil>: Invalid value: "": Maximum boundary value must be of type integer with format int32 in spec)"}},
      {R"({"type":"integer","maximum":1.5})",
       "3",
       {R"(<nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in spec)",
        "spec: Invalid value: 3: spec in body should be less than or equal to 1.5"}},
      {R"({"type":"integer","format":"int64","maximum":9223372036854775000})",
       "9223372036854775807",
       {"spec: Invalid value: 9223372036854775807: spec in body should be less than or equal to 9223372036854774784"}},
      {R"({"type":"integer"})", "-9223372036854775808", {}},
      {R"({"type":"string","format":"date-time"})",
       "1",
       {R"(spec: Invalid value: "int64": spec in body must be of type date-time: "int64")"}},
      {R"({"type":"number","format":"float","maximum":5})",
       "1e300",
       {R"(<nil>: Invalid value: "": Checked value must be of type number with format float in spec)",
        "spec: Invalid value: 1e+300: spec in body should be less than or equal to 5"}},
      {R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"oneOf":[{"required":["a"]},{"required":["b"],"properties":{"b":{"minimum":3}}}]})",
       R"({"b":1})",
       {R"(<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid)",
        "spec.b: Invalid value: 1: spec.b in body should be greater than or equal to 3"}},
      {R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}})",
       R"([1,{"k":"a"}])",
       {R"(spec[0]: Invalid value: "integer": spec[0] in body must be of type object: "integer")",
        "spec[0]: Invalid value: 1: must be an object for an array of list-type map"}},
  };
  for (const auto& [schema, value, want] : cases) {
    const Compiled compiled((R"({"type":"object","properties":{"spec":)" + std::string(schema) + "}}").c_str());
    const json::value resource = json::parse(R"({"metadata":{},"spec":)" + std::string(value) + "}");
    std::vector<std::string> texts;
    for (const meta::FieldError& error : Validate(resource.get_object(), *compiled.root))
      texts.push_back(error.field + ": " + error.Message());
    EXPECT_EQ(texts, want) << schema;
  }
}

TEST(CustomResources, SchemasMayRestrictNames) {
  const Compiled compiled(
      R"({"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","maxLength":3,"pattern":"^a"}}}}})");
  const auto complaints = [&compiled](std::string_view metadata) {
    const json::value resource = json::parse(fmt::format(R"({{"kind":"Foo","metadata":{}}})", metadata));
    std::vector<std::string> texts;
    for (const meta::FieldError& error : Validate(resource.get_object(), *compiled.root))
      texts.push_back(error.field + ": " + error.Message());
    return texts;
  };
  EXPECT_THAT(complaints(R"({"name":"abc","labels":{"a":"b"}})"), UnorderedElementsAre());
  EXPECT_THAT(complaints(R"({"name":"abcd"})"),
              UnorderedElementsAre("metadata.name: Too long: may not be more than 3 bytes"));
  EXPECT_THAT(complaints(R"({"name":"xyz"})"),
              UnorderedElementsAre(R"(metadata.name: Invalid value: "xyz": metadata.name in body should match '^a')"));
}

TEST(CustomResources, ItemsOfAnotherTypeAreNotChecked) {
  const Compiled compiled(
      R"({"type":"object","properties":{"map":{"type":"object","additionalProperties":{"type":"string"}},"list":{"type":"array","items":{"type":"string"}}}})");
  const json::value resource = json::parse(R"({"map":[{}],"list":{"a":1}})");
  std::vector<std::string> fields;
  for (const meta::FieldError& error : Validate(resource.get_object(), *compiled.root)) fields.push_back(error.field);
  EXPECT_THAT(fields, UnorderedElementsAre("map", "list"));
}

TEST(CustomResources, ObjectsWithoutTypeAreDefaulted) {
  const Compiled compiled(
      R"({"type":"object","properties":{"p":{"x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"type":"string","default":"d"}}}}})");
  json::value resource = json::parse(R"({"p":{"a":null,"unknown":null}})");
  EXPECT_TRUE(ApplyDefaults(resource.get_object(), *compiled.root));
  EXPECT_EQ(resource, json::parse(R"({"p":{"unknown":null,"b":"d"}})"));
}

TEST(CustomResources, ArraysMayPreserveUnknownFields) {
  const Compiled compiled(
      R"({"type":"object","properties":{"spec":{"type":"array","x-kubernetes-preserve-unknown-fields":true,"items":{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}}}})");
  json::object resource = json::parse(R"({"spec":[{"a":{"b":"x","c":1},"d":1}]})").get_object();
  EXPECT_EQ(Prune(resource, *compiled.root), std::vector<std::string>{"spec[0].a.c"});
  EXPECT_EQ(json::serialize(resource), R"({"spec":[{"a":{"b":"x"},"d":1}]})");
}

TEST(CustomResources, ManyAlternativesForManyValuesAreRefused) {
  std::string choices;
  for (int i = 0; i < 300; ++i)
    choices += (i ? "," : "") + std::string(R"({"maximum":)") + std::to_string(100 + i) + "}";
  const Repeated one(R"({"type":"array","items":{"type":"integer","anyOf":[)" + choices + "]}}", List("399", 200'000));
  const meta::FieldErrors errors = ValidateCustomResource(one.resource, *one.root);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].Message().find("too many alternatives"), std::string::npos) << errors[0].Message();
}

TEST(CustomResources, MayHaveMoreThan65535Fields) {
  std::string properties;
  for (int i = 0; i < 70'000; ++i) properties += (i ? ",\"p" : "\"p") + std::to_string(i) + R"(":{"type":"string"})";
  const Repeated one(R"({"type":"object","properties":{)" + properties + "}}", R"({"p69999":"a","p70000":"b"})");
  const Node* spec = one.root->FindField("spec")->schema;
  EXPECT_TRUE(spec->FindField("p69999"));
  EXPECT_FALSE(spec->FindField("p70000"));
}

}  // namespace
}  // namespace apimesh::schema
