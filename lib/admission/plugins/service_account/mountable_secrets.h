#pragma once

#include <string>

#include "lib/meta/object.h"

namespace apimesh::admission::service_account {

/// Returns whether pods of this account may use only the Secrets that the account lists.
bool EnforcesMountableSecrets(const meta::Object& account);

/// Returns the message of the first reference of a pod to a Secret that the account does not list, or "".
std::string FindForbiddenSecret(const meta::Object& account, const meta::Object& pod);
/// The same for the ephemeral containers of a pod.
std::string FindForbiddenEphemeralSecret(const meta::Object& account, const meta::Object& pod);

}  // namespace apimesh::admission::service_account
