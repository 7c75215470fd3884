#include "lib/meta/json_text.h"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace apimesh::meta {
namespace {

TEST(AppendJsonText, WritesWhatTheSerializerWrites) {
  const json::value values[] = {nullptr,
                                true,
                                false,
                                0,
                                -1,
                                std::int64_t{1} << 62,
                                ~std::uint64_t{0},
                                1.5,
                                -0.0,
                                1e300,
                                "",
                                "a b",
                                "\"",
                                "\\",
                                "\n",
                                "\x01",
                                "\x7f",
                                "ä",
                                "</>&",
                                json::array{},
                                json::object{},
                                json::array{1, "a", json::array{}},
                                json::object{{"a\n", 1}, {"b", 2}},
                                json::object{{"a", json::object{{"b", "c"}}}}};
  for (const json::value& value : values) {
    std::string text = "x";
    AppendJsonText(text, value);
    EXPECT_EQ(text, "x" + json::serialize(value));
  }
}

}  // namespace
}  // namespace apimesh::meta
