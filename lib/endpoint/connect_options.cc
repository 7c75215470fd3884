#include "lib/endpoint/connect_options.h"

#include <charconv>

#include <fmt/format.h>

#include "lib/base/text/text.h"

namespace apimesh::endpoint {
namespace {

namespace json = meta::json;

/// Parses numbers as kube-apiserver does: each parameter may have several, separated by commas.
meta::Result<json::value> NumbersOf(const std::vector<std::string>& parameters) {
  json::array numbers;
  for (const std::string& parameter : parameters) {
    for (const std::string_view text : Split(parameter, ',')) {
      std::uint16_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size()) {
        const bool range = error == std::errc::result_out_of_range;
        return meta::BadRequest(fmt::format("cannot convert to []int32: strconv.ParseUint: parsing {}: {}",
                                            meta::Quoted(text), range ? "value out of range" : "invalid syntax"));
      }
      numbers.emplace_back(static_cast<std::int64_t>(number));  // numbers of documents are signed
    }
  }
  return json::value(std::move(numbers));
}

/// Returns the value of a parameter for a field of this type, or null if it is empty.
meta::Result<json::value> ValueOf(const Query& query, const schema::Field& field) {
  switch (field.schema->type) {
    case schema::Type::kBoolean:
      if (query.Bool(field.name).value_or(false)) return json::value(true);
      return json::value(nullptr);
    case schema::Type::kList: {
      if (field.schema->items->type == schema::Type::kInteger) return NumbersOf(query.All(field.name));
      json::array list;
      for (const std::string& text : query.All(field.name)) list.emplace_back(text);
      return json::value(std::move(list));
    }
    case schema::Type::kString: {
      const std::string_view text = query.First(field.name);
      if (text.empty()) return json::value(nullptr);
      return json::value(text);
    }
    default: return json::value(nullptr);
  }
}

/// Returns the path after the subresource, with a leading slash, or "".
std::string RestOfPath(const meta::RequestInfo& info) {
  constexpr std::size_t kSubresource = 3;  // after resource, name and subresource
  std::string path;
  for (std::size_t i = kSubresource; i < info.parts.size(); ++i) path += "/" + info.parts[i];
  if (info.path.ends_with('/') && !path.ends_with('/')) path += '/';
  return path;
}

}  // namespace

meta::Result<meta::Object> ConnectOptions(const ResourceRequest& request) {
  meta::Object options;
  options.SetGvk(request.BodyKind());
  for (const schema::Field& field : request.BodySchema().fields) {
    if (field.name == "path" && request.subresource->takes_path) {
      if (const std::string path = RestOfPath(request.Info()); !path.empty()) options.Root()["path"] = path;
    } else if (request.query.Has(field.name)) {
      ASSIGN_OR_RETURN(json::value value, ValueOf(request.query, field));
      if (!value.is_null()) options.Root()[field.name] = std::move(value);
    }
  }
  return options;
}

}  // namespace apimesh::endpoint
