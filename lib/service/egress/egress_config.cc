#include "lib/service/egress/egress_config.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/text/text.h"
#include "lib/codec/codec.h"
#include "lib/codec/config_section.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::service {
namespace {

namespace json = meta::json;
using http::Network;

constexpr std::string_view kKind = "EgressSelectorConfiguration";
constexpr codec::SectionType kTypes[] = {{"apiserver.k8s.io/v1beta1", kKind}, {"apiserver.k8s.io/v1alpha1", kKind}};
/// Every error is reported at this path, as in kube-apiserver.
constexpr std::string_view kPath = "service.connection";

const codec::SectionStruct& Fields() {
  static const codec::SectionStruct tls{
      "TLSConfig",
      {{"caBundle", "string"}, {"clientKey", "string"}, {"clientCert", "string"}, {"tlsServerName", "string"}}};
  static const codec::SectionStruct tcp{"TCPTransport", {{"url", "string"}, {"tlsConfig", "v1beta1.TLSConfig", &tls}}};
  static const codec::SectionStruct uds{"UDSTransport", {{"udsName", "string"}}};
  static const codec::SectionStruct transport{
      "Transport", {{"tcp", "v1beta1.TCPTransport", &tcp}, {"uds", "v1beta1.UDSTransport", &uds}}};
  static const codec::SectionStruct connection{
      "Connection", {{"proxyProtocol", "string"}, {"transport", "v1beta1.Transport", &transport}}};
  static const codec::SectionStruct selection{"EgressSelection",
                                              {{"name", "string"}, {"connection", "v1beta1.Connection", &connection}}};
  static const codec::SectionStruct all{std::string_view(kKind),
                                        {{"egressSelections", "[]v1beta1.EgressSelection", &selection}}};
  return all;
}

std::string At(std::string_view field) { return fmt::format("{}.{}", kPath, field); }

const json::object* ObjectAt(const json::object& parent, std::string_view name) {
  const json::value* found = meta::FindField(parent, name);
  return found ? found->if_object() : nullptr;
}

bool Exists(std::string_view path) {
  std::error_code failure;
  return std::filesystem::exists(std::string(path), failure);
}

void ValidateTls(const json::object* tls, meta::FieldErrors& errors) {
  if (!tls) {
    errors.push_back(meta::Required(At("tlsConfig"), "TLSConfig must be present when using HTTPS"));
    return;
  }
  struct File {
    const char* field;
    const char* missing;  // nullptr: optional
    const char* unreadable;
  };
  constexpr File kFiles[] = {
      {"caBundle", nullptr, "TLS config ca bundle does not exist"},
      {"clientCert", "Using TLS requires clientCert", "TLS client cert does not exist"},
      {"clientKey", "Using TLS requires requires clientKey", "TLS client key does not exist"},
  };
  for (const File& file : kFiles) {
    const std::string_view path = meta::FindString(*tls, file.field);
    const std::string where = At(fmt::format("tlsConfig.{}", file.field));
    if (path.empty()) {
      if (file.missing) errors.push_back(meta::Invalid(where, meta::Quoted("nil"), file.missing));
    } else if (!Exists(path)) {
      errors.push_back(meta::Invalid(where, meta::Quoted(path), file.unreadable));
    }
  }
}

void ValidateSocket(const json::object& uds, meta::FieldErrors& errors) {
  if (!meta::FindString(uds, "udsName").empty()) return;
  errors.push_back(meta::Invalid(At("udsName"), meta::Quoted("nil"), "must be present for UDS connections"));
}

void ValidateHttpConnect(const json::object* transport, meta::FieldErrors& errors) {
  if (!transport) {
    errors.push_back(meta::Required(At("transport"), "transport must be set for HTTPConnect"));
    return;
  }
  const json::object *tcp = ObjectAt(*transport, "tcp"), *uds = ObjectAt(*transport, "uds");
  if (tcp && uds) {
    errors.push_back(meta::Invalid(At("tcp"), codec::WriteJson(*tcp), "TCP and UDS cannot both be set"));
  } else if (uds) {
    ValidateSocket(*uds, errors);
  } else if (!tcp) {
    errors.push_back(meta::Required(At("tcp"), "One of TCP or UDS must be set"));
  } else {
    const std::string_view url = meta::FindString(*tcp, "url");
    const json::object* tls = ObjectAt(*tcp, "tlsConfig");
    if (url.starts_with("https://")) {
      ValidateTls(tls, errors);
    } else if (!url.starts_with("http://")) {
      errors.push_back(
          meta::Invalid(At("url"), meta::Quoted(url), "supported connection protocols are http:// and https://"));
    } else if (tls) {
      errors.push_back(
          meta::Invalid(At("tlsConfig"), meta::Quoted("nil"), "config must not be present when using HTTP"));
    }
  }
}

void ValidateGrpc(const json::object* transport, meta::FieldErrors& errors) {
  if (!transport) {
    errors.push_back(meta::Required(At("transport"), "transport must be set for GRPC"));
  } else if (const json::object* uds = ObjectAt(*transport, "uds")) {
    ValidateSocket(*uds, errors);
    errors.push_back(
        meta::Invalid(At("protocol"), meta::Quoted("GRPC"), "this server supports Direct and HTTPConnect"));
  } else {
    errors.push_back(meta::Required(At("uds"), "UDS must be set with GRPC"));
  }
}

void Validate(const json::object& connection, meta::FieldErrors& errors) {
  const std::string_view protocol = meta::FindString(connection, "proxyProtocol");
  const json::object* transport = ObjectAt(connection, "transport");
  if (protocol == "Direct") {
    if (transport) {
      errors.push_back(
          meta::Invalid(At("transport"), meta::Quoted("direct"), "config must be absent for direct connect"));
    }
  } else if (protocol == "HTTPConnect") {
    ValidateHttpConnect(transport, errors);
  } else if (protocol == "GRPC") {
    ValidateGrpc(transport, errors);
  } else {
    errors.push_back(meta::NotSupported(At("protocol"), meta::Quoted(protocol), {"Direct", "HTTPConnect", "GRPC"}));
  }
}

/// The connection of a selection that is valid.
EgressConnection Read(const json::object& connection) {
  EgressConnection read;
  read.protocol = meta::FindString(connection, "proxyProtocol");
  read.url = meta::FindString(connection, "transport", "tcp", "url");
  read.socket_path = meta::FindString(connection, "transport", "uds", "udsName");
  read.tls.ca_file = meta::FindString(connection, "transport", "tcp", "tlsConfig", "caBundle");
  read.tls.cert_file = meta::FindString(connection, "transport", "tcp", "tlsConfig", "clientCert");
  read.tls.key_file = meta::FindString(connection, "transport", "tcp", "tlsConfig", "clientKey");
  read.tls.server_name = meta::FindString(connection, "transport", "tcp", "tlsConfig", "tlsServerName");
  return read;
}

constexpr Network kNetworks[] = {Network::kCluster, Network::kControlPlane, Network::kEtcd};  // sorted by name

}  // namespace

std::string_view NameOf(Network network) {
  switch (network) {
    case Network::kControlPlane: return "controlplane";
    case Network::kEtcd: return "etcd";
    case Network::kCluster: return "cluster";
    case Network::kDirect: break;
  }
  return "";
}

std::map<Network, EgressConnection> ParseEgressConfig(std::string_view text) {
  json::object file;
  try {
    file = codec::ReadStrictSection(text, kTypes, Fields());
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("failed to read egress selector config: {}", error.what()));
  }
  static const json::object kNone;
  std::vector<const json::object*> selections;
  if (const json::value* list = meta::FindField(file, "egressSelections"); list && list->is_array()) {
    for (const json::value& one : list->get_array()) selections.push_back(one.is_object() ? &one.get_object() : &kNone);
  }
  meta::FieldErrors errors;
  const auto connection_of = [](const json::object& selection) {
    const json::object* found = ObjectAt(selection, "connection");
    return found ? found : &kNone;
  };
  for (const json::object* selection : selections) Validate(*connection_of(*selection), errors);
  std::map<Network, EgressConnection> config;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < selections.size(); ++i) {
    const std::string name = LowerCase(meta::FindString(*selections[i], "name"));
    if (!seen.insert(name).second) {
      errors.push_back(meta::Duplicate(fmt::format("{}[{}]", kPath, i), meta::Quoted(name)));
      continue;
    }
    const auto network =
        std::find_if(std::begin(kNetworks), std::end(kNetworks), [&name](Network one) { return NameOf(one) == name; });
    if (network == std::end(kNetworks)) {
      errors.push_back(meta::NotSupported(std::string(kPath), meta::Quoted(name), {"cluster", "controlplane", "etcd"}));
    } else if (errors.empty()) {
      config[*network] = Read(*connection_of(*selections[i]));
    }
  }
  if (errors.empty()) return config;
  std::vector<std::string> texts;
  for (const meta::FieldError& error : errors) texts.push_back(fmt::format("{}: {}", error.field, error.Message()));
  throw std::invalid_argument(fmt::format("failed to validate egress selector configuration: {}",
                                          texts.size() == 1 ? texts[0] : fmt::format("[{}]", fmt::join(texts, ", "))));
}

}  // namespace apimesh::service
