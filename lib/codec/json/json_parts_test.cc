#include <gtest/gtest.h>

#include "lib/codec/codec.h"
#include "lib/codec/json/json_cursor.h"

namespace apimesh::codec {
namespace {

std::string Parts(std::string_view text, const meta::FieldMask& wanted) {
  const auto value = ParseJsonParts(text, wanted, meta::NewArena());
  return value ? WriteJson(*value) : "error: " + value.error().Message();
}

struct Case {
  const char* name;
  std::string_view text;
  meta::FieldMask wanted;
  std::string_view out;
};

constexpr std::string_view kText =
    R"( {"kind":"K", "skipped": {"a":[1,{"b":"}]\"\\"}],"c":"\\"} ,"metadata":{"name":"n","labels":{"x":"y"},"more":-1.5e3},)"
    R"("spec":{"list":[{"name":"a","big":[1,2]},{"big":"]"},7,"s",[{"name":"b","c":null}]],"whole":{"k":{"v":true}}},"last":0})";

TEST(JsonParts, HasWhatIsWanted) {
  const Case cases[] = {
      {"Everything", R"({"a":[1,{}]})", {}, R"({"a":[1,{}]})"},
      {"OneField", kText, {"metadata.name"}, R"({"metadata":{"name":"n"}})"},
      {"FirstAndLast", kText, {"last", "kind"}, R"({"kind":"K","last":0})"},
      {"ThroughLists", kText, {"spec.list.name"}, R"({"spec":{"list":[{"name":"a"},{},7,"s",[{"name":"b"}]]}})"},
      {"Whole", kText, {"spec.whole"}, R"({"spec":{"whole":{"k":{"v":true}}}})"},
      {"AfterWhole",
       kText,
       {"spec.whole", "last", "metadata.more"},
       R"({"metadata":{"more":-1500},"spec":{"whole":{"k":{"v":true}}},"last":0})"},
      {"None", kText, {"nothing"}, "{}"},
      {"NoneBelow", kText, {"metadata.nothing"}, R"({"metadata":{}})"},
      {"NoObjectThere", kText, {"kind.name", "last"}, R"({"kind":"K","last":0})"},
      {"AllBut", kText, meta::FieldMask::AllBut({"spec.list", "skipped", "metadata.labels"}),
       R"({"kind":"K","metadata":{"name":"n","more":-1500},"spec":{"whole":{"k":{"v":true}}},"last":0})"},
      {"EscapedName", R"({"a\u0062":1,"c":2})", {"ab"}, R"({"ab":1})"},
      {"NoObject", "[1,{\"a\":1,\"b\":2}]", {"a"}, R"([1,{"a":1}])"},
      {"Cut", R"({"a":{"b")", {"c"}, "error: unexpected end of JSON input"},
      {"CutInside", R"({"a":{"b)", {"c"}, "error: unexpected end of JSON input"},
      {"CutAfter", R"({"a":1)", {"c"}, "error: unexpected end of JSON input"},
      {"NoComma", R"({"a":"1" "c":2})", {"c"}, "error: invalid character '\"' after object key:value pair"},
      {"Nothing", "", {"c"}, "error: unexpected end of JSON input"},
  };
  for (const Case& one : cases) EXPECT_EQ(Parts(one.text, one.wanted), one.out) << one.name;
}

TEST(JsonParts, RawFieldIsTheTextOfAField) {
  EXPECT_EQ(RawField(kText, "kind"), "\"K\"");
  EXPECT_EQ(RawField(kText, "metadata"), R"({"name":"n","labels":{"x":"y"},"more":-1.5e3})");
  EXPECT_EQ(RawField(kText, "last"), "0");
  EXPECT_EQ(RawField(kText, "name"), std::nullopt) << "only of the outermost object";
  for (const char* text : {"", "{}", "[]", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":[", "7", "{\"b\":1 \"a\":2}"})
    EXPECT_EQ(RawField(text, "a"), std::nullopt) << text;
}

TEST(JsonParts, SkipsStringsWithQuotesInside) {
  EXPECT_EQ(SkipJsonString(R"("a\"b" )", 0), 6u);
  EXPECT_EQ(SkipJsonString(R"("a\\" )", 0), 5u);
  EXPECT_EQ(SkipJsonString(R"("\\\" )", 0), std::string_view::npos);
  EXPECT_EQ(SkipJsonValue("  ", 2), std::string_view::npos);
}

TEST(JsonParts, UnescapesStrings) {
  const std::pair<const char*, std::string> cases[] = {
      {"", ""},
      {"plain", "plain"},
      {R"(\"\\\/\b\f\n\r\t)", "\"\\/\b\f\n\r\t"},
      {R"(a\u003cb\u00e9)", "a<b\u00e9"},
      {R"(\ud83d\ude42!)", "\U0001f642!"},
      {R"(\ud83d!)", "\ufffd!"},
      {R"(\ud83d\u0041)", "\ufffdA"},
      {R"(\ude42)", "\ufffd"},
      {R"(a\)", "a\\"},
  };
  for (const auto& [raw, text] : cases) EXPECT_EQ(UnescapeJson(raw), text) << raw;
}

TEST(JsonParts, ACursorReadsTheFieldsOfAnObject) {
  JsonCursor cursor(R"( {"a" : "x\"y" , "b":[1,{"c":2}],"d":{"e":{}}} )");
  std::string seen;
  const bool read = cursor.Object([&](std::string_view key, std::size_t key_begin) {
    EXPECT_EQ(cursor.Text()[key_begin], '"');
    seen += std::string(key) + "=";
    std::string_view text;
    if (cursor.Peek() == '"') {
      if (!cursor.String(text)) return false;
      seen += std::string(text) + ";";
      return true;
    }
    const std::size_t begin = cursor.Position();
    if (!cursor.SkipValue()) return false;
    seen += std::string(cursor.Since(begin)) + ";";
    return true;
  });
  EXPECT_TRUE(read);
  EXPECT_EQ(seen, R"(a=x\"y;b=[1,{"c":2}];d={"e":{}};)");
  for (const char* text : {"", "[]", "{", R"({"a")", R"({"a" 1})", R"({"a":1)", R"({"a":1 "b":2})", "{1:2}"}) {
    JsonCursor broken(text);
    EXPECT_FALSE(broken.Object([&](std::string_view, std::size_t) { return broken.SkipValue(); })) << text;
  }
}

}  // namespace
}  // namespace apimesh::codec
