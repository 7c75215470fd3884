#include "lib/admission/configuration.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/file.h"
#include "lib/base/text/text.h"
#include "lib/codec/codec.h"
#include "lib/codec/config_section.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::admission {
namespace {

namespace json = meta::json;

std::invalid_argument Unreadable(std::string_view why) {
  return std::invalid_argument(fmt::format("failed to apply admission: failed to read plugin config: {}", why));
}

/// Returns the contents of a file. If it cannot be read, the error has the message of Go.
meta::Result<std::string> ContentsOf(const std::string& path) {
  std::optional<std::string> text = ReadFile(path);
  if (text) return std::move(*text);
  return meta::BadRequest(fmt::format("open {}: {}", path, LowerCase(std::strerror(errno))));
}

/// Returns a value with the fields of all objects in alphabetical order, in which kube-apiserver reads YAML.
json::value Sorted(const json::value& value) {
  if (value.is_array()) {
    json::array items;
    for (const json::value& item : value.get_array()) items.push_back(Sorted(item));
    return items;
  }
  if (!value.is_object()) return value;
  std::map<std::string_view, const json::value*> fields;
  for (const auto& member : value.get_object()) fields.emplace(member.key(), &member.value());
  json::object sorted;
  for (const auto& [name, field] : fields) sorted.emplace(name, Sorted(*field));
  return sorted;
}

/// Returns the items of `plugins`. Throws kube-apiserver's error for a document of the right kind with wrong fields.
std::vector<const json::object*> PluginsIn(const json::object& document, bool yaml,
                                           std::vector<std::string> complaints) {
  static const codec::SectionStruct kPlugin = {
      "AdmissionPluginConfiguration",
      {{"name", "string"}, {"path", "string"}, {"configuration", "runtime.Unknown", nullptr}}};
  static const codec::SectionStruct kConfiguration = {"AdmissionConfiguration",
                                                      {{"plugins", "[]v1.AdmissionPluginConfiguration", &kPlugin}}};
  try {
    codec::FindUnknownFields(document, kConfiguration, yaml, complaints);
  } catch (const std::invalid_argument& error) {
    throw Unreadable(error.what());
  }
  if (!complaints.empty()) throw Unreadable(fmt::format("strict decoding error: {}", fmt::join(complaints, ", ")));
  std::vector<const json::object*> plugins;
  static const json::object kNone;
  const json::value* list = meta::FindField(document, "plugins");
  for (std::size_t i = 0; list && list->is_array() && i < list->get_array().size(); ++i) {
    const json::value& item = list->get_array()[i];
    plugins.push_back(item.is_object() ? &item.get_object() : &kNone);
  }
  return plugins;
}

}  // namespace

void Configuration::Add(std::string plugin, Section section) {
  if (sections_.emplace(plugin, std::move(section)).second)
    plugins_.push_back(std::move(plugin));  // if a plugin has several sections, the first one is used
}

Configuration Configuration::Legacy(const std::string& path) {
  Configuration made;
  for (const char* plugin : {"ImagePolicyWebhook", "PodNodeSelector"}) made.Add(plugin, {"", path});
  return made;
}

Configuration Configuration::FromFile(const std::string& path) {
  const meta::Result<std::string> text = ContentsOf(path);
  if (!text) {
    throw Unreadable(fmt::format("unable to read admission control configuration from {} [{}]", meta::Quoted(path),
                                 text.error().Message()));
  }
  codec::Strictness strict;
  const meta::Result<json::value> parsed = codec::ParseYaml(*text, {}, &strict);  // JSON is a subset of YAML
  if (!parsed) throw Unreadable(parsed.error().Message());
  static constexpr codec::SectionType kTypes[] = {{"apiserver.config.k8s.io/v1", "AdmissionConfiguration"},
                                                  {"apiserver.k8s.io/v1alpha1", "AdmissionConfiguration"}};
  // The other configuration files of kube-apiserver, whose decoder reads all of them.
  static constexpr codec::SectionType kOtherFiles[] = {{"apiserver.config.k8s.io/v1", "AuthenticationConfiguration"},
                                                       {"apiserver.config.k8s.io/v1", "AuthorizationConfiguration"},
                                                       {"apiserver.config.k8s.io/v1", "EncryptionConfiguration"},
                                                       {"apiserver.config.k8s.io/v1", "TracingConfiguration"}};
  if (const std::string wrong = codec::WrongType(*parsed, *text, kTypes); !wrong.empty()) {
    const json::object* fields = parsed->if_object();
    const bool legacy = fields && (fields->contains("imagePolicy") || fields->contains("podNodeSelectorPluginConfig"));
    if (legacy) return Legacy(path);
    if (codec::WrongType(*parsed, *text, kOtherFiles).empty())
      throw Unreadable(fmt::format("unexpected type: *apiserver.{}", meta::FindString(*fields, "kind")));
    throw Unreadable(wrong);
  }
  const json::object& document = parsed->get_object();
  Configuration made;
  for (const json::object* plugin : PluginsIn(document, codec::IsYaml(*text), strict.complaints)) {
    Section section;
    const json::value* configuration = meta::FindField(*plugin, "configuration");
    if (configuration && !configuration->is_null())
      section.text = codec::WriteJson(codec::IsYaml(*text) ? Sorted(*configuration) : *configuration);
    const std::string_view file = meta::FindString(*plugin, "path");
    if (!file.empty()) section.path = std::filesystem::path(path).parent_path() / file;
    made.Add(std::string(meta::FindString(*plugin, "name")), std::move(section));
  }
  return made;
}

std::optional<std::string> Configuration::SectionOf(std::string_view plugin) const {
  const auto found = sections_.find(plugin);
  if (found == sections_.end()) return std::nullopt;
  const Section& section = found->second;
  if (!section.text.empty()) return section.text;
  if (section.path.empty()) return std::nullopt;
  meta::Result<std::string> text = ContentsOf(section.path);
  if (!text)
    throw std::invalid_argument(fmt::format("couldn't open admission plugin configuration {}", text.error().Message()));
  return std::move(*text);
}

}  // namespace apimesh::admission
