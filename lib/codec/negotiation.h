#pragma once

#include <string>
#include <string_view>

#include "lib/meta/errors/api_error.h"

/// Content negotiation: selects the format of requests and responses.
namespace apimesh::codec {

enum class Format { kJson, kYaml, kProtobuf };
std::string_view MediaTypeOf(Format format);  // "application/json", …

/// The negotiated representation of a response.
struct OutputType {
  Format format = Format::kJson;
  std::string as;          // "", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"
  std::string as_version;  // the version of meta.k8s.io: "v1", "v1beta1"
  bool pretty = false;
};

/// The representations that an endpoint supports.
struct Offer {
  bool protobuf = true;    // custom resources have no protobuf encoding
  bool transforms = true;  // Table and PartialObjectMetadata
};

/// Selects the best clause of an Accept header; "" means JSON. Otherwise returns a 406 that lists the supported types.
meta::Result<OutputType> NegotiateOutput(std::string_view accept, const Offer& offer);
/// The same for a watch, which cannot be YAML because YAML has no framing.
meta::Result<OutputType> NegotiateStream(std::string_view accept, const Offer& offer);
/// Returns the format of a Content-Type; "" means JSON. Otherwise returns a 415 that lists the supported types.
meta::Result<Format> NegotiateInput(std::string_view content_type, const Offer& offer);

/// Returns whether an Accept header names a supported type, regardless of its parameters. "" and "*/*" do,
/// "application/*" does not.
bool NamesKnownType(std::string_view accept);

/// Returns whether the output should be indented: as ?pretty=… says or, without that parameter, if the User-Agent is
/// that of a browser, curl or wget.
bool WantsPretty(std::string_view pretty_parameter, std::string_view user_agent);

}  // namespace apimesh::codec
