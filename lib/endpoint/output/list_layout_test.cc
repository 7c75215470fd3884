#include "lib/endpoint/output/list_layout.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "lib/codec/codec.h"
#include "lib/endpoint/testing_server.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;

const codec::OutputType kIndented{.pretty = true}, kYaml{.format = codec::Format::kYaml};

/// Returns the expected output: the complete document is parsed and written.
std::string Formatted(const codec::OutputType& output, const std::string& text) {
  const auto value =
      codec::ParseJson(text, meta::NewArena(), nullptr, {.bytes = std::numeric_limits<std::size_t>::max()});
  if (!value) return "not JSON: " + text;
  return output.format == codec::Format::kYaml ? codec::WriteYaml(*value) : codec::WritePrettyJson(*value);
}

struct Frame {
  std::string head, tail;
};
const Frame kFrames[] = {
    {R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[)", "]}\n"},
    {R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)", "]}"},
    {R"({"apiVersion":"example.com/v1","items":[)",
     R"(],"kind":"WidgetList","metadata":{"continue":"","resourceVersion":"7"}})"},
    {R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7","continue":"eyJ","remainingItemCount":3},"columnDefinitions":)"
     R"([{"name":"itemx","type":"string","format":"","description":"itemxx: \"itemxxx\"\nand items","priority":0}],"rows":[)",
     "]}\n"},
    {R"({"kind":"Table","metadata":{},"columnDefinitions":null,"rows":[)", "]}\n"},
};

void Compare(const std::vector<std::string>& items) {
  for (const Frame& frame : kFrames) {
    std::string compact = frame.head;
    for (std::size_t i = 0; i < items.size(); ++i) compact += (i ? "," : "") + items[i];
    compact += frame.tail;
    for (const codec::OutputType& output : {kIndented, kYaml}) {
      ListLayout layout(output, frame.head, frame.tail);
      std::string written;
      for (const std::string& item : items) {
        written += layout.Before();
        written += layout.Item(item);
      }
      ASSERT_EQ(written + layout.End(), Formatted(output, compact)) << compact.substr(0, 2000);
    }
  }
}

TEST(ListLayout, IsThatOfTheWholeDocument) {
  const std::vector<std::string> items = {
      "{}",
      R"({"a":{}})",
      R"({"a":[]})",
      R"({"a":[[],{},[[]],[{}],""]})",
      R"({"metadata":{"name":"a","labels":{}},"list":[{"a":1,"b":[1,2]},{"c":[{"d":{}}]}]})",
      R"({"text":"one\ntwo\n","more":"a\n\nb","kept":"a\n\n","indented":"  a\nb","last":"a\n b \nc"})",
      R"({"list":["one\ntwo","- a\n- b\n",["x\ny"]]})",
      R"({"true":"true","null":null,"1":"1","":"","a: b":"c: d","- x":"- y","\"q\"":"'q'","#":"# no","two\nlines":1,"on":"off","~":"~"})",
      R"({"ü":"grüße 🙂","\u2028":"\u2029","\u0000":"\u0001\t","\ud800":"x","<&>":"<&>"})",
      R"({"n":1,"s":"1","f":1.0,"g":"1.0","e":1e30,"x":"0x1f","t":"12:30","d":"2026-01-01","z":-0.5,"big":18446744073709551615,"o":"017"})",
      R"( {"spaces" : [ 1 , 2 ] , "a":1, "a":2 } )",
      "[]",
      R"([1,[2,{"a":3}]])",
      "null",
      "\"text\"",
      R"("a\nb")",
      "7"};
  Compare({});
  for (const std::string& item : items) {
    Compare({item});
    Compare({item, "{}", item});
  }
  Compare(items);
}

/// Generates random documents from values that are difficult to encode.
class Filler {
 public:
  explicit Filler(unsigned seed) : random_(seed) {}
  json::value Value(int depth) {
    switch (Pick(depth < 6 ? 8 : 5)) {
      case 0: return nullptr;
      case 1: return Pick(2) == 1;
      case 2: return static_cast<std::int64_t>(random_()) - 1000;
      case 3: return 0.25 * static_cast<double>(Pick(1000));
      case 4: return json::string(Text());
      case 5: {
        json::array list;
        for (std::size_t i = Pick(4); i > 0; --i) list.push_back(Value(depth + 1));
        return list;
      }
      default: {
        json::object object;
        for (std::size_t i = Pick(5); i > 0; --i) object[Text()] = Value(depth + 1);
        return object;
      }
    }
  }

 private:
  std::string Text() {
    static constexpr std::string_view kParts[] = {
        "",  "a", "name", " ",   "\n", "- ", ": ",           "#",   "'", "\"", "{", "[",   "1",
        "0", ".", "true", "yes", "\t", "ü",  "\xe2\x80\xa8", "---", "|", ">",  "&", "item"};
    std::string text;
    for (std::size_t i = Pick(5); i > 0; --i) text += kParts[Pick(std::size(kParts))];
    return text;
  }
  std::size_t Pick(std::size_t count) { return random_() % count; }
  std::mt19937 random_;
};

TEST(ListLayout, OfRandomDocuments) {
  for (unsigned seed = 0; seed < 600; ++seed) {
    Filler filler(seed);
    std::vector<std::string> items;
    for (unsigned i = 0; i < seed % 5; ++i) items.push_back(codec::WriteJson(filler.Value(0)));
    Compare(items);
  }
}

TEST(ListLayout, OfMoreThanARequestMayHold) {
  const std::string large = R"({"text":")" + std::string(2 << 20, 'x') + "\"}";
  Compare({large, large});
}

TEST(ListLayout, OfEveryKindOfList) {
  TestServer server;
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  const auto check = [&](const std::string& query, const std::string& as) {
    const auto get = [&](const std::string& type, const std::string& more) {
      const std::string target = maps + "?" + more + query;
      return server.Send("GET", target, "", {{"accept", "application/" + type + as}, {"user-agent", "test/1"}}).body;
    };
    const std::string compact = get("json", "");
    EXPECT_EQ(get("json", "pretty=true&"), Formatted(kIndented, compact));
    EXPECT_EQ(get("yaml", ""), Formatted(kYaml, compact));
  };
  const auto check_all = [&] {
    for (const char* as : {"", ";as=Table;v=v1;g=meta.k8s.io", ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}) {
      check("", as);
      check("limit=1", as);
    }
  };
  check_all();
  for (const char* name : {"a", "b", "c"}) {
    server.Send(
        "POST", maps,
        std::string(R"({"metadata":{"name":")") + name + R"("},"data":{"k":"one\ntwo\n","1":"true","empty":""}})");
  }
  check_all();
  EXPECT_TRUE(server.Send("DELETE", maps, "", {{"accept", "application/yaml"}})
                  .body.starts_with("apiVersion: v1\nitems:\n- data:\n"));
}

}  // namespace
}  // namespace apimesh::endpoint
