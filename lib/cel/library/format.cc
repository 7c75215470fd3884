#include "lib/cel/library/format.h"

#include <re2/re2.h>

#include "lib/base/text/base64.h"
#include "lib/base/text/text.h"
#include "lib/cel/library/library.h"
#include "lib/cel/library/net/url.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/time.h"
#include "lib/meta/names.h"

namespace apimesh::cel {
namespace {

using Args = std::span<const Value>;
using Complaints = std::vector<std::string>;

Complaints Unless(bool valid, const char* text) { return valid ? Complaints() : Complaints{text}; }

Complaints CheckUri(std::string_view text) {
  std::string error;
  return ParseRequestUrl(text, error) ? Complaints() : Complaints{error};
}

Complaints CheckUuid(std::string_view text) {
  static const re2::RE2& pattern =
      *new re2::RE2("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$");
  return Unless(re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern),
                "does not match the UUID format");
}

Complaints CheckByte(std::string_view text) {
  std::string bytes;
  return Unless(!text.empty() && !DecodeBase64(text, bytes), "invalid base64");
}

// More is valid here than in timestamp(): small letters, and any character before the fraction.
Complaints CheckDateTime(std::string_view text) {
  static const re2::RE2& pattern =
      *new re2::RE2("([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))");
  const std::string lower = LowerCase(text);
  const std::size_t t = lower.find('t');
  bool valid = t != std::string::npos && ParseDate(std::string_view(lower).substr(0, t)).has_value();
  if (valid) {
    const std::string time = lower.substr(t + 1, lower.find('t', t + 1) - t - 1);
    std::string hour, minute, second;
    valid =
        re2::RE2::FullMatch(time, pattern, &hour, &minute, &second) && hour <= "23" && minute <= "59" && second <= "59";
  }
  return Unless(valid, "invalid datetime");
}

struct Entry {
  const char* function;
  NamedFormat format;
};
const std::vector<Entry>& Formats() {
  static const auto& formats = *new std::vector<Entry>{
      {"dns1123Label", {"DNS1123Label", [](std::string_view t) { return meta::NameIsDnsLabel(t, false); }, 30}},
      {"dns1123Subdomain",
       {"DNS1123Subdomain", [](std::string_view t) { return meta::NameIsDnsSubdomain(t, false); }, 60}},
      {"dns1035Label", {"DNS1035Label", [](std::string_view t) { return meta::NameIsDns1035Label(t, false); }, 30}},
      {"qualifiedName", {"QualifiedName", [](std::string_view t) { return meta::CheckQualifiedName(t); }, 60}},
      {"dns1123LabelPrefix",
       {"DNS1123LabelPrefix", [](std::string_view t) { return meta::NameIsDnsLabel(t, true); }, 30}},
      {"dns1123SubdomainPrefix",
       {"DNS1123SubdomainPrefix", [](std::string_view t) { return meta::NameIsDnsSubdomain(t, true); }, 60}},
      {"dns1035LabelPrefix",
       {"DNS1035LabelPrefix", [](std::string_view t) { return meta::NameIsDns1035Label(t, true); }, 30}},
      {"labelValue", {"LabelValue", [](std::string_view t) { return meta::CheckLabelValue(t); }, 40}},
      {"uri", {"URI", CheckUri, 1103}},
      {"uuid", {"uuid", CheckUuid, 70}},
      {"byte", {"byte", CheckByte, 84}},
      {"date", {"date", [](std::string_view t) { return Unless(ParseDate(t).has_value(), "invalid date"); }, 71}},
      {"datetime", {"datetime", CheckDateTime, 71}},
  };
  return formats;
}

Value FindNamed(Args args, Arena& arena) {
  for (const Entry& entry : Formats()) {
    if (args[0].AsString() == entry.function) return Value::Some(arena, Value::Of(&entry.format));
  }
  return Value::None();
}

Value ValidateText(Args args, Arena& arena) {
  const Complaints complaints = static_cast<const NamedFormat&>(args[0].AsOpaque()).Validate(args[1].AsString());
  if (complaints.empty()) return Value::None();
  ListBuilder out(arena, complaints.size());
  for (const std::string& complaint : complaints) out.Add(Value::String(arena.Copy(complaint)));
  return Value::Some(arena, out.Build());
}

// A body can't have a state, so each format has its own.
template <std::size_t kIndex>
Value Constant(Args, Arena&) {
  return Value::Of(&Formats()[kIndex].format);
}
template <std::size_t... kIndexes>
void AddConstants(Declarations& out, const TypeRef& type, std::index_sequence<kIndexes...>) {
  (out.Add(std::string("format.") + Formats()[kIndexes].function,
           {std::string("format.") + Formats()[kIndexes].function, false, {}, type, Constant<kIndexes>}),
   ...);
}

}  // namespace

void AddFormat(Declarations& out) {
  const TypeRef format = Type::Object("kubernetes.NamedFormat"), &s = Type::String();
  AddConstants(out, format, std::make_index_sequence<13>());
  out.Add("format.named", {"format-named", false, {s}, Type::Optional(format), FindNamed});
  out.Add("validate", {"format-validate", true, {format, s}, Type::Optional(Type::List(s)), ValidateText});
}

}  // namespace apimesh::cel
