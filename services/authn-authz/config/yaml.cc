#include "services/authn-authz/config/yaml.h"

#include <yaml-cpp/yaml.h>

#include <charconv>

namespace apimesh::authn_authz {
namespace {

constexpr int kMaxDepth = 64;

boost::json::value Scalar(const YAML::Node& node) {
  const std::string text = node.Scalar();
  if (node.Tag() == "!") return boost::json::value(text);  // quoted
  if (text == "true" || text == "false") return text == "true";
  if (text.empty() || text == "null" || text == "~") return nullptr;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return boost::json::value(text);
}

boost::json::value Convert(const YAML::Node& node, int depth) {
  if (depth > kMaxDepth) throw YAML::Exception(node.Mark(), "nested too deeply");
  if (node.IsSequence()) {
    boost::json::array array;
    for (const YAML::Node& item : node) array.push_back(Convert(item, depth + 1));
    return array;
  }
  if (node.IsMap()) {
    boost::json::object object;
    for (const auto& item : node) object[item.first.Scalar()] = Convert(item.second, depth + 1);
    return object;
  }
  return node.IsScalar() ? Scalar(node) : boost::json::value(nullptr);
}

}  // namespace

meta::Result<boost::json::object> ParseConfigFile(std::string_view text) {
  try {
    boost::json::value value = Convert(YAML::Load(std::string(text)), 0);
    if (!value.is_object()) return meta::BadRequest("the file does not hold an object");
    return std::move(value.get_object());
  } catch (const YAML::Exception& error) {
    return meta::BadRequest(error.what());
  }
}

}  // namespace apimesh::authn_authz
