#pragma once

// Internal to rpc/: includes protobuf.

#include "proto/mesh/v1/authn.pb.h"
#include "proto/mesh/v1/authz.pb.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

void ToProto(const meta::UserInfo& user, mesh::v1::User* out);
meta::UserInfo FromProto(const mesh::v1::User& user);
/// Selectors are given as requirements, or as text in the request info, which is parsed here. Invalid text yields no
/// requirements, as in kube-apiserver.
Attributes FromProto(const mesh::v1::Attributes& attributes);
void ToProto(const Decision& decision, std::chrono::milliseconds longest_reuse, mesh::v1::Decision* out);

/// Fills field_requirements and label_requirements from the text of the query parameters.
void ParseSelectors(std::string_view field_selector, std::string_view label_selector, Attributes& attributes);

}  // namespace apimesh::authn_authz
