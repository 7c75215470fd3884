#include "lib/otlp/config.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/file.h"
#include "lib/base/text/text.h"
#include "lib/cel/library/net/url.h"
#include "lib/codec/codec.h"
#include "lib/codec/config_section.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::otlp {
namespace {

namespace json = meta::json;

constexpr std::string_view kKind = "TracingConfiguration";
/// A Go struct within another one of the same name, as error messages show it.
constexpr std::string_view kGoType = "TracingConfiguration.TracingConfiguration";
constexpr codec::SectionType kTypes[] = {
    {"apiserver.config.k8s.io/v1", kKind},
    {"apiserver.config.k8s.io/v1beta1", kKind},
    {"apiserver.config.k8s.io/v1alpha1", kKind},
};

std::invalid_argument Undecodable(std::string_view why) {
  return std::invalid_argument(
      fmt::format("failed to read tracing config: unable to decode tracing configuration data: {}", why));
}

/// Returns the document. Neither apiVersion nor kind is required, so an empty file is a configuration as well.
json::object Decode(std::string_view text) {
  static const codec::SectionStruct kFields = {kGoType, {{"endpoint", "string"}, {"samplingRatePerMillion", "int32"}}};
  codec::Strictness strict;
  meta::Result<json::value> parsed = codec::ParseYaml(text, {}, &strict);
  if (!parsed) throw Undecodable(parsed.error().Message());
  if (parsed->is_null()) parsed->emplace_object();
  if (parsed->is_object()) {
    json::object& fields = parsed->get_object();
    const std::string kind(meta::FindString(fields, "kind"));
    if (!kind.empty() && kind != kKind && meta::FindString(fields, "apiVersion").empty()) {
      throw Undecodable(fmt::format(
          "no kind {} is registered for the internal version of group \"apiserver.config.k8s.io\" in scheme "
          "\"pkg/runtime/scheme.go:111\"",
          meta::Quoted(kind)));
    }
    if (kind.empty()) fields["kind"] = kKind;
    if (meta::FindString(fields, "apiVersion").empty()) fields["apiVersion"] = kTypes[0].version;
  }
  if (const std::string wrong = codec::WrongType(*parsed, text, kTypes); !wrong.empty()) throw Undecodable(wrong);
  std::vector<std::string> complaints = strict.complaints;
  try {
    codec::FindUnknownFields(parsed->get_object(), kFields, codec::IsYaml(text), complaints);
  } catch (const std::invalid_argument& error) {
    throw Undecodable(error.what());
  }
  if (!complaints.empty()) throw Undecodable(fmt::format("strict decoding error: {}", fmt::join(complaints, ", ")));
  return std::move(parsed->get_object());
}

std::int64_t RateOf(const json::object& fields) {
  const json::value* const rate = meta::FindField(fields, "samplingRatePerMillion");
  if (!rate || rate->is_null()) return 0;
  const bool whole = rate->is_int64() && rate->get_int64() >= std::numeric_limits<std::int32_t>::min() &&
                     rate->get_int64() <= std::numeric_limits<std::int32_t>::max();
  if (whole) return rate->get_int64();
  throw Undecodable(
      fmt::format("json: cannot unmarshal number {} into Go struct field {}.samplingRatePerMillion of type int32",
                  codec::WriteJson(*rate), kGoType));
}

void ValidateRate(std::int64_t rate, meta::FieldErrors& errors) {
  const std::string shown = std::to_string(rate);
  if (rate < 0) errors.push_back(meta::Invalid("samplingRatePerMillion", shown, "sampling rate must be positive"));
  if (rate > 1'000'000) {
    errors.push_back(meta::Invalid("samplingRatePerMillion", shown,
                                   "sampling rate per million must be less than or equal to one million"));
  }
}

void ValidateEndpoint(std::string endpoint, meta::FieldErrors& errors) {
  if (endpoint.find("//") == std::string::npos) endpoint = "dns://" + endpoint;
  const std::string shown = meta::Quoted(endpoint);
  std::string why;
  const std::optional<cel::Url> url = cel::ParseUrl(endpoint, why);
  if (!url) {
    errors.push_back(meta::Invalid("endpoint", shown, why));
  } else if (url->scheme != "dns" && url->scheme != "unix" && url->scheme != "unix-abstract") {
    errors.push_back(
        meta::Invalid("endpoint", shown,
                      fmt::format("unsupported scheme: {}.  Options are none, dns, unix, or unix-abstract.  See "
                                  "https://github.com/grpc/grpc/blob/master/doc/naming.md",
                                  url->scheme)));
  }
}

}  // namespace

Config ParseConfig(std::string_view text) {
  const json::object fields = Decode(text);
  Config config;
  config.sampling_rate_per_million = RateOf(fields);
  meta::FieldErrors errors;
  ValidateRate(config.sampling_rate_per_million, errors);
  if (const json::value* endpoint = meta::FindField(fields, "endpoint"); endpoint && endpoint->is_string()) {
    config.endpoint = endpoint->get_string();
    ValidateEndpoint(config.endpoint, errors);
  }
  if (errors.empty()) return config;
  std::vector<std::string> texts;
  for (const meta::FieldError& error : errors) texts.push_back(fmt::format("{}: {}", error.field, error.Message()));
  throw std::invalid_argument(fmt::format("failed to validate tracing configuration: {}",
                                          texts.size() == 1 ? texts[0] : fmt::format("[{}]", fmt::join(texts, ", "))));
}

Config ReadConfig(const std::string& path) {
  const std::optional<std::string> text = ReadFile(path);
  if (text) return ParseConfig(*text);
  throw std::invalid_argument(
      fmt::format("failed to read tracing config: unable to read tracing configuration from {}: open {}: {}",
                  meta::Quoted(path), path, LowerCase(std::strerror(errno))));
}

}  // namespace apimesh::otlp
