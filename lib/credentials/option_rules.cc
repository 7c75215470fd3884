#include "lib/credentials/option_rules.h"

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "lib/base/openssl_ptr.h"
#include "lib/base/text/text.h"
#include "lib/base/text/trim.h"
#include "lib/flags/flag_table.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::credentials {
namespace {

bool IsOneOf(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool HasHeader(const std::vector<std::string>& headers, std::string_view header) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const std::string& one) { return EqualsIgnoreCase(one, header); });
}

bool IsBlank(std::string_view text) { return TrimSpace(text).empty(); }

/// Returns the DER encoding of every certificate of a PEM text.
std::set<std::string> Certificates(std::string_view pem) {
  std::set<std::string> found;
  const openssl::BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  for (;;) {
    const openssl::CertificatePtr certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (!certificate) break;
    std::string der(static_cast<std::size_t>(i2d_X509(certificate.get(), nullptr)), '\0');
    auto* out = reinterpret_cast<unsigned char*>(der.data());
    i2d_X509(certificate.get(), &out);
    found.insert(std::move(der));
  }
  ERR_clear_error();
  return found;
}

}  // namespace

std::vector<std::string> AuthorizationFlagErrors(const AuthorizationFlags& flags) {
  static const std::vector<std::string> modes = flags::AllowedValues(*flags::FindFlag("authorization-mode"));
  std::vector<std::string> errors;
  if (flags.modes.empty()) errors.push_back("at least one authorization-mode must be passed");
  for (const std::string& mode : flags.modes) {
    if (!IsOneOf(modes, mode)) {
      errors.push_back(fmt::format("authorization-mode {} is not a valid mode", meta::Quoted(mode)));
    }
    if (mode == "ABAC" && flags.policy_file.empty()) {
      errors.push_back("authorization-mode ABAC's authorization policy file not passed");
    }
    if (mode == "Webhook" && flags.webhook_config_file.empty()) {
      errors.push_back("authorization-mode Webhook's authorization config file not passed");
    }
  }
  if (!flags.policy_file.empty() && !IsOneOf(flags.modes, "ABAC")) {
    errors.push_back("cannot specify --authorization-policy-file without mode ABAC");
  }
  if (!flags.webhook_config_file.empty() && !IsOneOf(flags.modes, "Webhook")) {
    errors.push_back("cannot specify --authorization-webhook-config-file without mode Webhook");
  }
  if (std::set<std::string>(flags.modes.begin(), flags.modes.end()).size() != flags.modes.size()) {
    std::vector<std::string> quoted;
    for (const std::string& mode : flags.modes) quoted.push_back(meta::Quoted(mode));
    errors.push_back(fmt::format("authorization-mode [{}] has mode specified more than once", fmt::join(quoted, " ")));
  }
  return errors;
}

std::vector<std::string> RequestHeaderErrors(const RequestHeaderFlags& flags) {
  std::vector<std::string> errors;
  const auto refuse_blank = [&errors](std::string_view flag, const std::vector<std::string>& values) {
    if (std::any_of(values.begin(), values.end(), IsBlank)) {
      errors.push_back(fmt::format("empty value in {}", meta::Quoted(flag)));
    }
  };
  refuse_blank("requestheader-username-headers", flags.username_headers);
  refuse_blank("requestheader-group-headers", flags.group_headers);
  refuse_blank("requestheader-extra-headers-prefix", flags.extra_headers_prefix);
  refuse_blank("requestheader-allowed-names", flags.allowed_names);
  refuse_blank("requestheader-uid-headers", flags.uid_headers);
  if (!flags.uid_headers.empty() && !HasHeader(flags.uid_headers, "X-Remote-Uid")) {
    errors.push_back(
        "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation "
        "will not work");
  }
  if (flags.allowed_names.empty() && CertificatesOverlap(flags.client_ca_pem, flags.requestheader_client_ca_pem)) {
    errors.push_back(
        "--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; "
        "--requestheader-allowed-names must be "
        "specified to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users");
  }
  return errors;
}

std::vector<std::string> RequestHeaderWarnings(const RequestHeaderFlags& flags) {
  std::vector<std::string> warnings;
  const auto expect = [&warnings](std::string_view flag, const std::vector<std::string>& values, const char* header,
                                  std::string_view what) {
    if (values.empty() || HasHeader(values, header)) return;
    warnings.push_back(
        fmt::format("--{} is set without specifying the standard {} {} - API aggregation will not "
                    "work",
                    flag, header, what));
  };
  expect("requestheader-username-headers", flags.username_headers, "X-Remote-User", "header");
  expect("requestheader-group-headers", flags.group_headers, "X-Remote-Group", "header");
  expect("requestheader-extra-headers-prefix", flags.extra_headers_prefix, "X-Remote-Extra-", "header prefix");
  if (!flags.allowed_names.empty() && CertificatesOverlap(flags.client_ca_pem, flags.requestheader_client_ca_pem)) {
    warnings.push_back(
        fmt::format("--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; a user who "
                    "obtains a client certificate with a name in --requestheader-allowed-names ({}) can act as any "
                    "user",
                    fmt::join(flags.allowed_names, ", ")));
  }
  return warnings;
}

bool HasCertificate(std::string_view pem) { return !Certificates(pem).empty(); }

bool CertificatesOverlap(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return false;
  const std::set<std::string> first = Certificates(a), second = Certificates(b);
  return std::any_of(first.begin(), first.end(), [&](const std::string& one) { return second.contains(one); });
}

}  // namespace apimesh::credentials
