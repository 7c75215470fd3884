#include "services/extensions-api/validations/field_path.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace apimesh::extensions_api {
namespace {

TEST(FieldPaths, LeadToFieldsOfASchema) {
  const boost::json::object schema =
      boost::json::parse(
          R"({"properties":{"a":{"properties":{"b.c":{"type":"string"}}},"m":{"additionalProperties":{"properties":{"x":{}}}},"l":{"items":{}}}})")
          .get_object();
  const std::pair<const char*, const char*> cases[] = {{".a", "a"},
                                                       {"['a']", "a"},
                                                       {".a['b.c']", "a.b.c"},
                                                       {".m['k'].x", "m[k].x"},
                                                       {".m.k.x", "m[k].x"},
                                                       {".m['a\\'b']", "m[a'b]"},
                                                       {"", ""},
                                                       {"a", nullptr},
                                                       {".", nullptr},
                                                       {".a.", nullptr},
                                                       {".a.b", nullptr},
                                                       {".a.b.c", nullptr},
                                                       {".z", nullptr},
                                                       {".l[0]", nullptr},
                                                       {".a['b.c'", nullptr},
                                                       {".m[k]", nullptr},
                                                       {".m['k\\x']", nullptr},
                                                       {".a['b.c']]", nullptr},
                                                       {"..a", nullptr},
                                                       {".l.x", nullptr}};
  for (const auto& [path, want] : cases) {
    const std::optional<std::string> have = NormalizeFieldPath(path, schema);
    EXPECT_EQ(have.value_or("(none)"), want ? want : "(none)") << path;
  }
}

}  // namespace
}  // namespace apimesh::extensions_api
