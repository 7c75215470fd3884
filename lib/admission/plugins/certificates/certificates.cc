#include "lib/admission/plugins/certificates/certificates.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/admission/signer_access.h"
#include "lib/base/text/base64.h"
#include "lib/credentials/certificate_request.h"
#include "lib/meta/equal.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission {
namespace {

constexpr std::string_view kClientSigner = "kubernetes.io/kube-apiserver-client";
constexpr std::string_view kMasters = "system:masters";

bool IsRequest(const Attributes& attributes, std::string_view subresource) {
  return attributes.subresource == subresource && attributes.resource.resource == "certificatesigningrequests" &&
         attributes.resource.group == "certificates.k8s.io";
}

std::string SignerOf(const meta::Object& request) {
  return std::string(meta::FindString(request.Root(), "spec", "signerName"));
}

class CertificateApproval final : public Plugin {
 public:
  explicit CertificateApproval(service::AuthClientPtr authorizer) : authorizer_(std::move(authorizer)) {}
  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && attributes.operation == Operation::kUpdate && IsRequest(attributes, "approval");
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    // The signer is that of the stored request, because a client could send a request with another signer.
    std::string signer = SignerOf(*attributes.old_object);
    const bool may = co_await MayUseSigner(authorizer_, ctx, "approve", signer);
    if (may) co_return meta::Result<>();
    co_return Forbidden(attributes,
                        fmt::format("user not permitted to approve requests with signerName {}", meta::Quoted(signer)));
  }

 private:
  service::AuthClientPtr authorizer_;
};

/// Returns a field that signers set. An absent list of conditions is equal to an empty one.
meta::json::value Signed(const meta::Object& request, std::string_view field) {
  const meta::json::value* value = meta::Find(request.Root(), "status", field);
  const bool empty = !value || value->is_null() || (value->is_array() && value->get_array().empty()) ||
                     (value->is_string() && value->get_string().empty());
  return empty ? meta::json::value() : *value;
}

bool HasSame(const Attributes& attributes, std::string_view field) {
  return meta::Equal(Signed(*attributes.object, field), Signed(*attributes.old_object, field));
}

class CertificateSigning final : public Plugin {
 public:
  explicit CertificateSigning(service::AuthClientPtr authorizer) : authorizer_(std::move(authorizer)) {}
  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && attributes.operation == Operation::kUpdate && IsRequest(attributes, "status");
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    const bool same = HasSame(attributes, "certificate") && HasSame(attributes, "conditions");
    if (same) co_return meta::Result<>();
    std::string signer = SignerOf(*attributes.old_object);
    const bool may = co_await MayUseSigner(authorizer_, ctx, "sign", signer);
    if (may) co_return meta::Result<>();
    co_return Forbidden(attributes,
                        fmt::format("user not permitted to sign requests with signerName {}", meta::Quoted(signer)));
  }

 private:
  service::AuthClientPtr authorizer_;
};

/// Returns whether an update changes only fields that the garbage collector writes.
bool ChangesOnlyOwners(const meta::Object& object, const meta::Object& old) {
  static constexpr std::string_view kOwnerFields[] = {"ownerReferences", "finalizers", "managedFields"};
  const auto same = [](const json::object& a, const json::object& b, std::span<const std::string_view> ignored) {
    return std::all_of(a.begin(), a.end(), [&](const auto& field) {
      const std::string_view key = field.key();
      return std::find(ignored.begin(), ignored.end(), key) != ignored.end() ||
             SemanticallyEqual(&field.value(), b.if_contains(key));
    });
  };
  static constexpr std::string_view kMetadata[] = {"metadata"};
  return same(object.Metadata(), old.Metadata(), kOwnerFields) &&
         same(old.Metadata(), object.Metadata(), kOwnerFields) && same(object.Root(), old.Root(), kMetadata) &&
         same(old.Root(), object.Root(), kMetadata);
}

class ClusterTrustBundleAttest final : public Plugin {
 public:
  explicit ClusterTrustBundleAttest(service::AuthClientPtr authorizer) : authorizer_(std::move(authorizer)) {}
  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && IsResource(attributes, "certificates.k8s.io", "clustertrustbundles") &&
           (attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    const meta::Object& bundle = *attributes.object;
    std::string signer = SignerOf(bundle);
    if (signer.empty()) co_return meta::Result<>();
    if (attributes.operation == Operation::kUpdate && ChangesOnlyOwners(bundle, *attributes.old_object))
      co_return meta::Result<>();
    const bool may = co_await MayUseSigner(authorizer_, ctx, "attest", signer);
    if (may) co_return meta::Result<>();
    co_return Forbidden(attributes,
                        fmt::format("user not permitted to attest for signerName {}", meta::Quoted(signer)));
  }

 private:
  service::AuthClientPtr authorizer_;
};

class CertificateSubjectRestriction final : public Plugin {
 public:
  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && attributes.operation == Operation::kCreate && IsRequest(attributes, "");
  }

  Task<meta::Result<>> Validate(meta::RequestContext, const Attributes& attributes) override {
    if (SignerOf(*attributes.object) != kClientSigner) co_return meta::Result<>();
    std::string pem;
    DecodeBase64(meta::FindString(attributes.object->Root(), "spec", "request"), pem);
    const meta::Result<credentials::CertificateRequest> parsed = credentials::ParseCertificateRequest(pem);
    if (!parsed) co_return Forbidden(attributes, "failed to parse CSR: " + parsed.error().Message());
    const std::vector<std::string>& groups = parsed->organizations;
    if (std::find(groups.begin(), groups.end(), kMasters) == groups.end()) co_return meta::Result<>();
    co_return Forbidden(attributes,
                        fmt::format("use of {} signer with {} group is not allowed", kClientSigner, kMasters));
  }
};

}  // namespace

std::unique_ptr<Plugin> MakeCertificateApproval(const PluginInputs& inputs) {
  return std::make_unique<CertificateApproval>(inputs.auth);
}
std::unique_ptr<Plugin> MakeCertificateSigning(const PluginInputs& inputs) {
  return std::make_unique<CertificateSigning>(inputs.auth);
}
std::unique_ptr<Plugin> MakeClusterTrustBundleAttest(const PluginInputs& inputs) {
  return std::make_unique<ClusterTrustBundleAttest>(inputs.auth);
}
std::unique_ptr<Plugin> MakeCertificateSubjectRestriction(const PluginInputs&) {
  return std::make_unique<CertificateSubjectRestriction>();
}

}  // namespace apimesh::admission
