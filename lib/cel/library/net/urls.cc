#include "lib/cel/library/library.h"
#include "lib/cel/library/net/url.h"
#include "lib/cel/value/collections.h"

namespace apimesh::cel {
namespace {

using Args = std::span<const Value>;

class UrlValue : public Opaque {
 public:
  explicit UrlValue(Url url) : url(std::move(url)) {}
  std::string_view TypeName() const override { return "kubernetes.URL"; }
  std::string_view Constructor() const override { return "url"; }
  bool Equals(const Opaque& other) const override { return ToString() == other.ToString(); }
  std::string ToString() const override { return url.ToString(); }

  const Url url;
};

Value ToUrl(Args args, Arena& arena) {
  std::string error;
  std::optional<Url> url;
  if (ParseRequestUrl(args[0].AsString(), error)) url = ParseUrl(args[0].AsString(), error);
  if (!url) return Errorf(arena, "URL parse error during conversion from string: {}", error);
  return Value::Of(arena.NewOwned<UrlValue>(*std::move(url)));
}

const Url& UrlOf(const Value& value) { return static_cast<const UrlValue&>(value.AsOpaque()).url; }
Value Text(Arena& arena, const std::string& text) { return Value::String(arena.Copy(text)); }

Value GetQuery(Args args, Arena& arena) {
  MapBuilder out(arena);
  for (const auto& [name, values] : UrlOf(args[0]).Query()) {
    ListBuilder list(arena, values.size());
    for (const std::string& value : values) list.Add(Text(arena, value));
    out.Set(Text(arena, name), list.Build());
  }
  return out.Build();
}

}  // namespace

void AddUrls(Declarations& out) {
  const TypeRef url = Type::Object("kubernetes.URL"), &s = Type::String();
  out.Add("url", {"string_to_url", false, {s}, url, ToUrl});
  out.Add("isURL", {"is_url_string", false, {s}, Type::Bool(), [](Args args, Arena&) {
                      std::string error;
                      return Value::Bool(ParseRequestUrl(args[0].AsString(), error).has_value());
                    }});
  const auto get = [&](const char* function, const char* id, Body body) {
    out.Add(function, {id, true, {url}, s, body});
  };
  get("getScheme", "url_get_scheme", [](Args args, Arena& arena) { return Text(arena, UrlOf(args[0]).scheme); });
  get("getHost", "url_get_host", [](Args args, Arena& arena) { return Text(arena, UrlOf(args[0]).host); });
  get("getHostname", "url_get_hostname",
      [](Args args, Arena& arena) { return Text(arena, UrlOf(args[0]).Hostname()); });
  get("getPort", "url_get_port", [](Args args, Arena& arena) { return Text(arena, UrlOf(args[0]).Port()); });
  get("getEscapedPath", "url_get_escaped_path",
      [](Args args, Arena& arena) { return Text(arena, UrlOf(args[0]).EscapedPath()); });
  out.Add("getQuery", {"url_get_query", true, {url}, Type::Map(s, Type::List(s)), GetQuery});
}

void AddJsonPatch(Declarations& out) {
  out.Add("jsonpatch.escapeKey",
          {"string_jsonpatch_escapeKey_string", false, {Type::String()}, Type::String(), [](Args args, Arena& arena) {
             std::string text;
             for (const char c : args[0].AsString()) text += c == '/' ? "~1" : c == '~' ? "~0" : std::string(1, c);
             return Text(arena, text);
           }});
}

}  // namespace apimesh::cel
