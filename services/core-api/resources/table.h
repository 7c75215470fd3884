#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/gvk.h"
#include "lib/meta/request/verb.h"

/// The table of built-in resources (data/resources.tsv) and of group priorities (data/priorities.tsv).
namespace apimesh::core_api {

struct ResourceRow {
  std::string group, version;
  std::string resource;  // "pods" or "pods/status"
  meta::Gvk kind;
  bool namespaced = false;
  meta::VerbSet verbs;
  std::vector<std::string> short_names, categories;
  std::string singular;
  std::string storage_prefix;  // empty: nothing is stored
  meta::GroupVersion storage_version;
  std::string warning;  // sent with every response: the version is deprecated

  bool IsSubresource() const { return resource.find('/') != std::string::npos; }
};
struct PriorityRow {
  meta::GroupVersion version;
  int group_priority_minimum = 0;
  int version_priority = 0;
};

/// The tables are parsed when they are first used.
const std::vector<ResourceRow>& ResourceTable();
const std::vector<PriorityRow>& PriorityTable();

/// The contents of the files, embedded at build time.
std::string_view ResourceTableBytes();
std::string_view PriorityTableBytes();

}  // namespace apimesh::core_api
