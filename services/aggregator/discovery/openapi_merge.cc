#include "services/aggregator/discovery/openapi_merge.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "lib/meta/equal.h"

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;

constexpr std::string_view kKinds = "x-kubernetes-group-version-kind";

/// What a reference can name: "#/definitions/" and the name of a definition.
struct Section {
  const char* name;
  std::string_view prefix;
};
constexpr Section kSections[] = {{"definitions", "#/definitions/"}, {"parameters", "#/parameters/"}};

json::object* SectionOf(json::object& document, std::string_view name) {
  json::value* found = meta::FindField(document, name);
  return found ? found->if_object() : nullptr;
}

/// Calls `visit` for the text of every reference below `value`.
template <class Value, class Visit>
void VisitReferences(Value& value, const Visit& visit) {
  if (value.is_array()) {
    for (auto& element : value.get_array()) VisitReferences(element, visit);
  } else if (value.is_object()) {
    for (auto& member : value.get_object()) {
      if (member.key() == "$ref" && member.value().is_string()) {
        visit(member.value().get_string());
      } else {
        VisitReferences(member.value(), visit);
      }
    }
  }
}

/// Removes what no path uses, directly or through another definition.
void RemoveUnused(json::object& document) {
  std::unordered_set<std::string> used;
  std::vector<const json::value*> waiting;
  if (const json::value* paths = meta::FindField(document, "paths")) waiting.push_back(paths);
  while (!waiting.empty()) {
    const json::value* next = waiting.back();
    waiting.pop_back();
    VisitReferences(*next, [&](const json::string& reference) {
      for (const Section& section : kSections) {
        const std::string_view text = reference;
        if (!text.starts_with(section.prefix) || !used.emplace(text).second) continue;
        const json::value* target = meta::Find(document, section.name, text.substr(section.prefix.size()));
        if (target) waiting.push_back(target);
      }
    });
  }
  for (const Section& section : kSections) {
    json::object* const all = SectionOf(document, section.name);
    if (!all) continue;
    meta::EraseFields(*all, [&](std::string_view name, const json::value&) {
      return !used.contains(std::string(section.prefix) + std::string(name));
    });
  }
}

/// Whether two definitions are equal, apart from the kinds for which they are used.
bool SameDefinition(const json::value& a, const json::value& b) {
  const json::object *one = a.if_object(), *other = b.if_object();
  if (!one || !other) return meta::Equal(a, b);
  const auto members = [](const json::object& object) { return object.size() - object.count(kKinds); };
  if (members(*one) != members(*other)) return false;
  for (const auto& member : *one) {
    if (member.key() == kKinds) continue;
    const json::value* const found = meta::FindField(*other, member.key());
    if (!found || !meta::Equal(member.value(), *found)) return false;
  }
  return true;
}

/// Adds the kinds of the same definition in another document.
void AddKinds(json::value& definition, const json::value& same) {
  json::object* const to = definition.if_object();
  const json::object* const from = same.if_object();
  const json::value* const more = to && from ? meta::FindField(*from, kKinds) : nullptr;
  if (!more || !more->is_array()) return;
  json::value* const kinds = meta::FindField(*to, kKinds);
  if (!kinds) {
    to->emplace(kKinds, *more);
    return;
  }
  if (!kinds->is_array()) return;
  const auto key_of = [](const json::value& kind) {
    if (!kind.is_object()) return std::string();
    const json::object& names = kind.get_object();
    return fmt::format("{}/{}.{}", meta::FindString(names, "group"), meta::FindString(names, "version"),
                       meta::FindString(names, "kind"));
  };
  std::unordered_set<std::string> known;
  for (const json::value& kind : kinds->get_array()) known.insert(key_of(kind));
  json::array& all = kinds->get_array();
  const std::size_t before = all.size();
  for (const json::value& kind : more->get_array()) {
    if (known.insert(key_of(kind)).second) all.push_back(kind);
  }
  if (all.size() == before) return;
  std::sort(all.begin(), all.end(),
            [&key_of](const json::value& a, const json::value& b) { return key_of(a) < key_of(b); });
}

using Renames = std::unordered_map<std::string, std::string>;  // by name in the source

/// Finds names for the members of `source` that differ from those of the same name in `target`.
Renames FindRenames(const json::object& target, const json::object& source) {
  Renames renames;
  std::unordered_set<std::string> taken;
  for (const auto& member : source) {
    const json::value* existing = meta::FindField(target, member.key());
    if (!existing || SameDefinition(*existing, member.value())) continue;
    std::string name;
    for (int i = 2;; ++i) {
      name = fmt::format("{}_v{}", std::string_view(member.key()), i);
      existing = meta::FindField(target, name);
      if (existing ? SameDefinition(*existing, member.value()) : !source.contains(name) && !taken.contains(name)) break;
    }
    taken.insert(name);
    renames.emplace(member.key(), std::move(name));
  }
  return renames;
}

/// Renames members of a section, and changes the references to them.
void Rename(json::object& document, const Section& section, const Renames& renames) {
  if (renames.empty()) return;
  for (auto& member : document) {
    VisitReferences(member.value(), [&](json::string& reference) {
      const std::string_view text = reference;
      if (!text.starts_with(section.prefix)) return;
      const auto found = renames.find(std::string(text.substr(section.prefix.size())));
      if (found != renames.end()) reference = std::string(section.prefix) + found->second;
    });
  }
  json::object& members = *SectionOf(document, section.name);
  json::object renamed(members.storage());
  for (auto& member : members) {
    const auto found = renames.find(std::string(member.key()));
    renamed.emplace(found == renames.end() ? std::string_view(member.key()) : std::string_view(found->second),
                    std::move(member.value()));
  }
  members = std::move(renamed);
}

}  // namespace

void KeepPaths(json::object& document, const std::function<bool(std::string_view path)>& keep) {
  if (json::object* const paths = SectionOf(document, "paths")) {
    meta::EraseFields(*paths, [&keep](std::string_view path, const json::value&) { return !keep(path); });
  }
  RemoveUnused(document);
}

void MergeOpenApiV2(json::object& all, json::object more) {
  const json::object* const new_paths = SectionOf(more, "paths");
  if (!new_paths || new_paths->empty()) return;  // nothing would refer to its definitions
  const json::object& paths = meta::MakeObject(all, "paths");
  const auto known = [&paths](const auto& member) { return paths.contains(member.key()); };
  if (std::any_of(new_paths->begin(), new_paths->end(), known))
    KeepPaths(more, [&paths](std::string_view path) { return !meta::FindField(paths, path); });
  for (const Section& section : kSections) {
    const json::object* const source = SectionOf(more, section.name);
    if (!source) continue;
    Rename(more, section, FindRenames(meta::MakeObject(all, section.name), *source));
  }
  for (const Section& section : kSections) {
    json::object* const source = SectionOf(more, section.name);
    if (!source) continue;
    json::object& target = meta::MakeObject(all, section.name);
    for (auto& member : *source) {
      if (json::value* const existing = meta::FindField(target, member.key())) {
        AddKinds(*existing, member.value());
      } else {
        target.emplace(member.key(), std::move(member.value()));
      }
    }
  }
  for (auto& member : *SectionOf(more, "paths")) meta::MakeObject(all, "paths").emplace(member.key(), member.value());
}

}  // namespace apimesh::aggregator
