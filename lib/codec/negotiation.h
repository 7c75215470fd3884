#pragma once

#include <string>
#include <string_view>

#include "lib/meta/api_error.h"

/// Content negotiation: which form a client sends and which it takes.
namespace apimesh::codec {

enum class Format { kJson, kYaml, kProtobuf };
std::string_view MediaTypeOf(Format format);  // "application/json", …

/// What an answer is to look like.
struct OutputType {
  Format format = Format::kJson;
  std::string as;          // "", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"
  std::string as_version;  // of group meta.k8s.io: "v1", "v1beta1"
  bool pretty = false;
};

/// What an endpoint can serve.
struct Offer {
  bool protobuf = true;   // of the objects themselves; custom resources have none
  bool transforms = true; // Table and PartialObjectMetadata
};

/// The best clause of an Accept header ("" is JSON). 406 that lists what there is.
meta::Result<OutputType> NegotiateOutput(std::string_view accept, const Offer& offer);
/// The same for a watch: YAML has no frames.
meta::Result<OutputType> NegotiateStream(std::string_view accept, const Offer& offer);
/// The format of a Content-Type ("" is JSON). 415 that lists what there is.
meta::Result<Format> NegotiateInput(std::string_view content_type, const Offer& offer);

/// Whether an Accept header names a type that we have at all, whatever its parameters ("" does). "application/*" names none.
bool NamesKnownType(std::string_view accept);

/// Whether indentation is wanted: ?pretty=… if given, otherwise for command lines and browsers, told by their User-Agent.
bool WantsPretty(std::string_view pretty_parameter, std::string_view user_agent);

}  // namespace apimesh::codec
