#include "lib/codec/negotiation.h"

#include <optional>

#include <fmt/format.h>

#include "lib/codec/accept.h"

namespace apimesh::codec {
namespace {

constexpr Format kFormats[] = {Format::kJson, Format::kYaml, Format::kProtobuf};

std::string_view SubtypeOf(Format format) {
  return MediaTypeOf(format).substr(std::string_view("application/").size());
}

bool Matches(const AcceptClause& clause, Format format) {
  if (clause.type == "*") return clause.subtype == "*";
  return clause.type == "application" && (clause.subtype == "*" || clause.subtype == SubtypeOf(format));
}

/// Returns nullopt if the endpoint does not support the parameters of the clause.
std::optional<OutputType> Accept(const AcceptClause& clause, Format format, const Offer& offer) {
  OutputType output{.format = format};
  std::string group;
  bool converts = false;
  for (const auto& [name, value] : clause.parameters) {
    if (name == "as") {
      output.as = value;
      converts = true;
    } else if (name == "g") {
      group = value;
      converts = true;
    } else if (name == "v") {
      output.as_version = value;
      converts = true;
    } else if (name == "stream") {
      if (!value.empty() && (value != "watch" || format == Format::kYaml)) return std::nullopt;
    } else if (name == "sv") {
      if (!value.empty()) return std::nullopt;
    } else if (name == "pretty") {
      output.pretty = value == "1";
    }
  }
  if (!converts) return format == Format::kProtobuf && !offer.protobuf ? std::nullopt : std::optional(output);
  if (!offer.transforms || group != "meta.k8s.io" || (output.as_version != "v1" && output.as_version != "v1beta1")) {
    return std::nullopt;
  }
  if (output.as == "Table") return format == Format::kProtobuf ? std::nullopt : std::optional(output);
  if (output.as == "PartialObjectMetadata" || output.as == "PartialObjectMetadataList") return output;
  return std::nullopt;
}

std::optional<OutputType> Negotiate(std::string_view accept, const Offer& offer) {
  if (accept.empty()) return OutputType{};
  for (const AcceptClause& clause : ParseAccept(accept)) {
    for (const Format format : kFormats) {
      if (!Matches(clause, format)) continue;
      if (std::optional<OutputType> output = Accept(clause, format, offer)) return output;
    }
  }
  return std::nullopt;
}

std::string Known(bool streams) {
  std::string list;
  for (const Format format : kFormats) {
    if (streams && format == Format::kYaml) continue;
    if (!list.empty()) list += ", ";
    list += MediaTypeOf(format);
    if (streams) list += ";stream=watch";
  }
  return list;
}

}  // namespace

std::string_view MediaTypeOf(Format format) {
  switch (format) {
    case Format::kJson: return "application/json";
    case Format::kYaml: return "application/yaml";
    case Format::kProtobuf: return "application/vnd.kubernetes.protobuf";
  }
  return "";
}

meta::Result<OutputType> NegotiateOutput(std::string_view accept, const Offer& offer) {
  if (std::optional<OutputType> output = Negotiate(accept, offer)) return *output;
  return meta::NotAcceptable(fmt::format("only the following media types are accepted: {}", Known(false)));
}

meta::Result<OutputType> NegotiateStream(std::string_view accept, const Offer& offer) {
  ASSIGN_OR_RETURN(OutputType output, NegotiateOutput(accept, offer));
  if (output.format != Format::kYaml) return output;
  return meta::NotAcceptable(fmt::format("only the following media types are accepted: {}", Known(true)));
}

bool NamesKnownType(std::string_view accept) {
  if (accept.empty()) return true;
  while (!accept.empty()) {
    std::string_view clause = Cut(accept, ',');
    const std::string_view type = Cut(clause, ';');
    if (type == "*/*") return true;
    for (const Format format : kFormats) {
      if (type == MediaTypeOf(format)) return true;
    }
  }
  return false;
}

meta::Result<Format> NegotiateInput(std::string_view content_type, const Offer& offer) {
  const bool malformed = content_type.find(";;") != std::string_view::npos;
  std::string type(Cut(content_type, ';'));
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  if (type.empty()) return Format::kJson;
  for (const Format format : kFormats) {
    if (type != MediaTypeOf(format) || malformed) continue;
    if (format == Format::kProtobuf && !offer.protobuf) {
      return meta::UnsupportedMediaType(
          "the body of the request was in protobuf, which this kind has no form of - accepted media types include: "
          "application/json, application/yaml");
    }
    return format;
  }
  return meta::UnsupportedMediaType(
      fmt::format("the body of the request was in an unknown format - accepted media types include: {}", Known(false)));
}

bool WantsPretty(std::string_view pretty_parameter, std::string_view user_agent) {
  if (!pretty_parameter.empty()) {
    for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
      if (pretty_parameter == yes) return true;
    }
    return false;
  }
  return user_agent.starts_with("curl") || user_agent.starts_with("Wget") || user_agent.starts_with("Mozilla/5.0");
}

}  // namespace apimesh::codec
