#include "services/aggregator/metrics/metric_rules.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/base/file.h"
#include "lib/base/text/text.h"
#include "lib/codec/codec.h"

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;

/// Splits a record of comma-separated values. A field in double quotes may contain commas.
std::vector<std::string> SplitRecord(std::string_view text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

/// Returns the end of the quoted value that begins at `begin`: the position of the closing quote.
std::size_t EndOfValue(std::string_view line, std::size_t begin) {
  while (begin < line.size() && line[begin] != '"') begin += line[begin] == '\\' ? 2 : 1;
  return std::min(begin, line.size());
}

}  // namespace

MetricRules::MetricRules(const MetricsOptions& options) : disabled_(options.disabled.begin(), options.disabled.end()) {
  disabled_.erase("");
  if (!options.allow_labels.empty()) {
    for (const std::string& text : options.allow_labels) AllowFromFlag(text);
  } else if (!options.allow_labels_manifest.empty()) {
    AllowFromFile(options.allow_labels_manifest);
  }
}

void MetricRules::AllowFromFlag(std::string_view text) {
  // With one '=' there is one pair, whose commas separate its parts. Several pairs are in quotes.
  std::vector<std::string> pairs;
  if (std::count(text.begin(), text.end(), '=') == 1) {
    pairs.emplace_back(text);
    std::erase(pairs.front(), '"');
  } else {
    pairs = SplitRecord(text);
  }
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos)
      throw std::runtime_error(fmt::format("--allow-metric-labels: {} must be formatted as key=value", pair));
    Allow(pair.substr(0, equals), std::string_view(pair).substr(equals + 1));
  }
}

void MetricRules::AllowFromFile(const std::string& path) {
  const auto failed = [&path](std::string_view why) {
    return std::runtime_error(fmt::format("--allow-metric-labels-manifest: {}: {}", path, why));
  };
  const std::optional<std::string> text = ReadFile(path);
  if (!text) throw failed(std::strerror(errno));
  const meta::Result<json::value> parsed = codec::ParseYamlStrings(*text);
  if (!parsed) throw failed(parsed.error().Message());
  const json::object* const root = parsed->if_object();
  const json::value* const mapping = root ? root->if_contains("allowListMapping") : nullptr;
  if (mapping == nullptr || !mapping->is_object()) throw failed("it has no map allowListMapping");
  for (const auto& [key, value] : mapping->get_object()) {
    if (!value.is_string()) throw failed(fmt::format("the values of {} are not a text", std::string_view(key)));
    Allow(key, value.get_string());
  }
}

void MetricRules::Allow(const std::string& metric_and_label, std::string_view values) {
  const std::size_t comma = metric_and_label.find(',');
  if (comma == metric_and_label.npos || comma == 0 || comma + 1 == metric_and_label.size())
    throw std::runtime_error(
        fmt::format("allowed metric labels: expected metric,label instead of {}", metric_and_label));
  auto& allowed = allowed_[metric_and_label.substr(0, comma)][metric_and_label.substr(comma + 1)];
  allowed.clear();
  for (const std::string& value : SplitRecord(values)) allowed.insert(value);
}

std::string MetricRules::Constrain(std::string_view family, std::string_view line) const {
  const auto rules = allowed_.find(family);
  std::size_t at = line.find('{');
  if (rules == allowed_.end() || at == line.npos) return std::string(line);
  std::string out(line.substr(0, ++at));
  while (at < line.size() && line[at] != '}') {
    const std::size_t equals = line.find("=\"", at);
    if (equals == line.npos) break;
    const std::size_t begin = equals + 2, end = EndOfValue(line, begin);
    const auto rule = rules->second.find(line.substr(at, equals - at));
    const std::string_view value = line.substr(begin, end - begin);
    out += line.substr(at, begin - at);
    out += rule == rules->second.end() || rule->second.contains(value) ? value : "unexpected";
    at = line.find_first_of(",}", end);
    if (at == line.npos) return out + "\"";
    out += '"';
    if (line[at] == ',') {
      out += ',';
      ++at;
    }
  }
  return out.append(line.substr(at));
}

}  // namespace apimesh::aggregator
