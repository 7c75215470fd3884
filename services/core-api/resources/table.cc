#include "services/core-api/resources/table.h"

#include <cstdlib>
#include <stdexcept>

#include "lib/base/text/text.h"

namespace apimesh::core_api {
namespace {

/// Splits a line or a list into its parts. "-" stands for an empty part.
std::vector<std::string> PartsOf(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (const std::string_view part : Split(text, separator)) parts.emplace_back(part == "-" ? "" : part);
  return parts;
}

std::vector<std::string> Words(const std::string& text) {
  return text.empty() ? std::vector<std::string>() : PartsOf(text, ',');
}

meta::VerbSet VerbsOf(const std::string& text) {
  meta::VerbSet verbs;
  for (const std::string& word : Words(text)) {
    const meta::Verb verb = meta::VerbFromString(word);
    if (verb == meta::Verb::kOther) throw std::logic_error("unknown verb in a built-in table: " + word);
    verbs.insert(verb);
  }
  return verbs;
}

/// Returns the rows of a table, without comments and the header row.
std::vector<std::vector<std::string>> Rows(std::string_view text, std::size_t columns) {
  std::vector<std::vector<std::string>> rows;
  bool head = true;
  for (const std::string& line : PartsOf(text, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    if (std::exchange(head, false)) continue;
    rows.push_back(PartsOf(line, '\t'));
    if (rows.back().size() != columns) throw std::logic_error("bad line in a built-in table: " + line);
  }
  return rows;
}

/// Parses "Pod", or "policy/v1/Eviction" for a kind of another group and version.
meta::Gvk KindOf(const std::string& text, const std::string& group, const std::string& version) {
  const std::vector<std::string> parts = PartsOf(text, '/');
  if (parts.size() == 3) return {parts[0], parts[1], parts[2]};
  return {group, version, text};
}

std::vector<ResourceRow> ParseResources() {
  std::vector<ResourceRow> table;
  for (const std::vector<std::string>& row : Rows(ResourceTableBytes(), 12)) {
    ResourceRow parsed;
    parsed.group = row[0];
    parsed.version = row[1];
    parsed.resource = row[2];
    parsed.kind = KindOf(row[3], row[0], row[1]);
    parsed.namespaced = row[4] == "Namespaced";
    parsed.verbs = VerbsOf(row[5]);
    parsed.short_names = Words(row[6]);
    parsed.categories = Words(row[7]);
    parsed.singular = row[8];
    parsed.storage_prefix = row[9];
    parsed.storage_version = meta::GroupVersion::Parse(row[10]);
    parsed.warning = row[11];
    table.push_back(std::move(parsed));
  }
  return table;
}

std::vector<PriorityRow> ParsePriorities() {
  std::vector<PriorityRow> table;
  for (const std::vector<std::string>& row : Rows(PriorityTableBytes(), 4)) {
    table.push_back({{row[0], row[1]}, std::atoi(row[2].c_str()), std::atoi(row[3].c_str())});
  }
  return table;
}

}  // namespace

const std::vector<ResourceRow>& ResourceTable() {
  static const std::vector<ResourceRow> table = ParseResources();
  return table;
}

const std::vector<PriorityRow>& PriorityTable() {
  static const std::vector<PriorityRow> table = ParsePriorities();
  return table;
}

}  // namespace apimesh::core_api
