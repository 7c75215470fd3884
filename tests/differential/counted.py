"""Counts what each admission plugin accepts and refuses in the comparison, from the answers of our server, which are those of the reference."""
import collections
import fnmatch

# Per plugin: the cases that are about it, and whether it accepts and refuses writes. A part of the path limits the cases that have writes for several plugins.
PLUGINS = {
    "AlwaysAdmit": (["plugins/*"], "accepts"),
    "NamespaceAutoProvision": (["admission/namespace_auto_provision*"], "accepts refuses"),
    "NamespaceLifecycle": (["plugins/namespace_lifecycle"], "accepts refuses"),
    "NamespaceExists": (["policies/namespace_exists"], "accepts refuses"),
    "LimitPodHardAntiAffinityTopology": (["admission/limit_pod_hard_anti_affinity_topology*"], "accepts refuses"),
    "LimitRanger": (["admission/limit_ranger"], "accepts refuses"),
    "ServiceAccount": (["admission/service_account"], "accepts refuses"),
    "NodeRestriction": (["plugins/node_restriction_*"], "accepts refuses"),
    "TaintNodesByCondition": (["admission/taint_nodes_by_condition*"], "accepts"),
    "AlwaysPullImages": (["admission/always_pull_images*"], "accepts"),
    "ImagePolicyWebhook": (["plugins/image_policy"], "accepts refuses"),
    "PodSecurity": (["admission/pod_security_*"], "accepts refuses"),
    "PodNodeSelector": (["admission/pod_node_selector"], "accepts refuses"),
    "Priority": (["admission/priority"], "accepts refuses"),
    "DefaultTolerationSeconds": (["admission/default_toleration_seconds"], "accepts"),
    "PodTolerationRestriction": (["admission/pod_toleration_restriction*"], "accepts refuses"),
    "EventRateLimit": (["admission/event_rate_limit*"], "accepts refuses"),
    "ExtendedResourceToleration": (["admission/extended_resource_toleration*"], "accepts"),
    "DefaultStorageClass": (["admission/default_classes* */persistentvolumeclaims?*"], "accepts"),
    "StorageObjectInUseProtection": (["admission/storage_object_in_use_protection*"], "accepts"),
    "PodGroupProtection": (["plugins/pod_group_protection"], "accepts"),
    "OwnerReferencesPermissionEnforcement": (["admission/owner_references*"], "accepts refuses"),
    "PersistentVolumeClaimResize": (["admission/persistent_volume_claim_resize*"], "accepts refuses"),
    "RuntimeClass": (["admission/runtime_class"], "accepts refuses"),
    "CertificateApproval": (["plugins/certificate_approval"], "accepts refuses"),
    "CertificateSigning": (["plugins/certificate_signing"], "accepts refuses"),
    "CertificateSubjectRestriction": (["plugins/certificate_subject_restriction"], "accepts refuses"),
    "ClusterTrustBundleAttest": (["plugins/cluster_trust_bundle_attest"], "accepts refuses"),
    "DefaultIngressClass": (["admission/default_classes* */ingresses?*"], "accepts"),
    "DenyServiceExternalIPs": (["admission/deny_service_external_ips*"], "accepts refuses"),
    "PodTopologyLabels": (["admission/pod_topology_labels*"], "accepts"),
    "PodGroupWorkloadExists": (["plugins/pod_group_workload_exists"], "accepts refuses"),
    "NodeDeclaredFeatureValidator": (["plugins/node_declared_features"], "accepts refuses"),
    "JobValidation": (["plugins/job_validation"], "accepts refuses"),
    "PodResizeValidator": (["plugins/pod_resize"], "accepts refuses"),
    "MutatingAdmissionPolicy": (["policies/appl*", "policies/json_patch*", "policies/mutation_*", "policies/reinvocation_*", "policies/common_changes"], "accepts refuses"),
    "MutatingAdmissionWebhook": (["webhooks/*-mutating-*"], "accepts refuses"),
    "ValidatingAdmissionPolicy": (["policies/common_rules", "policies/authorizer*", "policies/operations", "policies/params_*", "policies/match_conditions*", "policies/rules"], "accepts refuses"),
    "ValidatingAdmissionWebhook": (["webhooks/*-validating-*"], "accepts refuses"),
    "ResourceQuota": (["admission/quota_*", "configured/limited_*"], "accepts refuses"),
    "AlwaysDeny": (["always_deny/*"], "refuses"),
}
NEEDED = 8
SENT = collections.Counter()  # by the text of _of(), and whether the write was accepted


def _of(case_id, step):
    return f"{case_id} {step['do'].split(' ')[1]}"


def count(case_id, step, status):
    """Records the answer to a step that is compared."""
    if not step.get("setup") and not step["do"].startswith("GET"):
        SENT[_of(case_id, step), status < 400] += 1


def of(plugin):
    """How many writes the plugin has accepted and refused."""
    cases, _ = PLUGINS[plugin]
    patterns = [case if " " in case else f"{case} *" for case in cases]
    return tuple(sum(number for (sent, accepted), number in SENT.items() if accepted is wanted and any(fnmatch.fnmatchcase(sent, pattern) for pattern in patterns))
                 for wanted in (True, False))


def lacking():
    """The plugins for which too few writes were sent, and what was sent."""
    return {plugin: of(plugin) for plugin, (_, does) in PLUGINS.items()
            if ("accepts" in does and of(plugin)[0] < NEEDED) or ("refuses" in does and of(plugin)[1] < NEEDED)}
