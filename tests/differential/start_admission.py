"""Files for --admission-control-config-file, each with the plugin that it configures if that is off by default, and the error with which kube-apiserver v1.36 ends; None means that it
starts. start_options.py makes rows of them. {missing} and {kubeconfig} are files of the World."""
HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"
FAILED, INIT = "failed to apply admission: failed to read plugin config: ", "failed to apply admission: couldn't init admission plugin "
NO_KIND = 'no kind "{}" is registered for version "{}" in scheme "pkg/runtime/scheme.go:111"'
GATE = "staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled"
LABEL = ("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
         "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')")


def typed(version, kind, *lines):
    return f"apiVersion: {version}\nkind: {kind}\n" + "".join(line + "\n" for line in lines)


SECURITY = ("pod-security.admission.config.k8s.io/v1", "PodSecurityConfiguration")
RATES = ("eventratelimit.admission.k8s.io/v1alpha1", "Configuration")
TOLERATIONS = ("podtolerationrestriction.admission.k8s.io/v1alpha1", "Configuration")
QUOTA = ("apiserver.config.k8s.io/v1", "ResourceQuotaConfiguration")
WEBHOOKS = ("apiserver.config.k8s.io/v1", "WebhookAdmissionConfiguration")
POLICIES = ("apiserver.config.k8s.io/v1", "ValidatingAdmissionPolicyConfiguration")
MUTATIONS = ("apiserver.config.k8s.io/v1", "MutatingAdmissionPolicyConfiguration")


def of(plugin, *cases, off=False):
    """Cases of one section: (name, text, error)."""
    for name, text, error in cases:
        section = "".join(f"    {line}\n" for line in text.splitlines())
        yield (f"{plugin} {name}", plugin if off else "", f"{HEAD}plugins:\n- name: {plugin}\n  configuration:\n{section}", error and f'{INIT}"{plugin}": {error}')


FILES = [
    ("another kind", "", typed("apiserver.config.k8s.io/v1", "EncryptionConfiguration"), FAILED + "unexpected type: *apiserver.EncryptionConfiguration"),
    ("another version", "", typed("apiserver.config.k8s.io/v2", "AdmissionConfiguration"), FAILED + NO_KIND.format("AdmissionConfiguration", "apiserver.config.k8s.io/v2")),
    ("garbage", "", "garbage\n", FAILED + "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { "
                                          'APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'),
    ("an unknown field", "", HEAD + "plugin: []\n", FAILED + 'strict decoding error: unknown field "plugin"'),
    ("an unknown field of a plugin", "", HEAD + "plugins: [{name: PodSecurity, config: {}}]\n", FAILED + 'strict decoding error: unknown field "plugins[0].config"'),
    ("plugins that are no list", "", HEAD + "plugins: {}\n",
     FAILED + "json: cannot unmarshal object into Go struct field AdmissionConfiguration.plugins of type []v1.AdmissionPluginConfiguration"),
    ("no section of EventRateLimit", "EventRateLimit", HEAD, INIT + '"EventRateLimit": limits: Invalid value: null: must not be empty'),
    ("no section of ImagePolicyWebhook", "ImagePolicyWebhook", HEAD, INIT + '"ImagePolicyWebhook": no config specified'),
    *of("PodSecurity",
        ("kind", typed(SECURITY[0], "Configuration"), NO_KIND.format("Configuration", SECURITY[0])),
        ("version", typed("pod-security.admission.config.k8s.io/v2", SECURITY[1]), NO_KIND.format(SECURITY[1], "pod-security.admission.config.k8s.io/v2")),
        ("unknown field", typed(*SECURITY, "default: {enforce: baseline}"), 'strict decoding error: unknown field "default"'),
        ("type", typed(*SECURITY, "exemptions: {namespaces: a}"), "json: cannot unmarshal string into Go struct field PodSecurityExemptions.exemptions.namespaces of type []string")),
    ("levels of PodSecurity", "", HEAD + "plugins:\n- name: PodSecurity\n  configuration: {apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, "
                                         "defaults: {enforce: high, warn-version: v1}}\n",
     'failed to apply admission: failed to initialize admission plugin "PodSecurity": PodSecurity configuration error: [enforce: must be one of privileged, baseline, restricted, '
     'warn-version: must be "latest" or "v1.x"]'),
    *of("EventRateLimit",
        ("kind", typed(RATES[0], "Limits"), NO_KIND.format("Limits", RATES[0])), ("no limits", typed(*RATES, "limits: []"), "limits: Invalid value: []: must not be empty"),
        ("values", typed(*RATES, "limits: [{type: Server, qps: 0, burst: -1, cacheSize: -1}]"),
         "[limits[0].burst: Invalid value: -1: must be positive, limits[0].qps: Invalid value: 0: must be positive]"), off=True),
    *of("PodTolerationRestriction", ("version", typed("podtolerationrestriction.admission.k8s.io/v1", "Configuration"), NO_KIND.format("Configuration", "podtolerationrestriction.admission.k8s.io/v1")),
        off=True),
    *of("ImagePolicyWebhook",
        ("ttl", "imagePolicy: {kubeConfigFile: {kubeconfig}, allowTTL: 100000, denyTTL: -5, retryBackoff: 1}", "valid value is between 1s and 30m0s, got 27h46m40s"),
        ("backoff", "imagePolicy: {kubeConfigFile: {kubeconfig}, retryBackoff: 99999999}", "valid value is between 1ns and 5m0s, got 27h46m39.999s"),
        ("kubeconfig", "imagePolicy: {kubeConfigFile: {missing}}", "stat {missing}: no such file or directory"), off=True),
    *of("PodNodeSelector", ("type", "podNodeSelectorPluginConfig: [a]", None), ("selector", "podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: 'a b=c'}", None), off=True),
    *of("ResourceQuota",
        ("kind", typed(QUOTA[0], "Configuration"), NO_KIND.format("Configuration", QUOTA[0])),
        ("unknown field", typed(*QUOTA, "limitedResources: [{resource: pods, matches: [a]}]"), 'strict decoding error: unknown field "limitedResources[0].matches"'),
        ("values", typed(*QUOTA, "limitedResources: [{apiGroup: apps}, {resource: ''}]"), "[limitedResources[0].resource: Required value, limitedResources[1].resource: Required value]")),
    *of("ValidatingAdmissionWebhook",
        ("kind", typed(WEBHOOKS[0], "WebhookAdmission"), NO_KIND.format("WebhookAdmission", WEBHOOKS[0])),
        ("relative file", typed(*WEBHOOKS, "kubeConfigFile: kubeconfig"), 'kubeConfigFile: Invalid value: "kubeconfig": must be an absolute file path'),
        ("manifests", typed(*WEBHOOKS, "staticManifestsDir: {missing}"), GATE)),
    *of("MutatingAdmissionWebhook",
        ("missing file", typed(*WEBHOOKS, "kubeConfigFile: {missing}"), "stat {missing}: no such file or directory"),
        ("unknown field", typed(*WEBHOOKS, "kubeconfig: a"), 'strict decoding error: unknown field "kubeconfig"')),
    *of("ValidatingAdmissionPolicy",
        ("nothing", typed(*POLICIES), None), ("manifests", typed(*POLICIES, "staticManifestsDir: {missing}"), GATE),
        ("kind", typed(*MUTATIONS), f"unexpected type: *policyconfig.{MUTATIONS[1]}")),
    *of("MutatingAdmissionPolicy", ("nothing", typed(*MUTATIONS), None), ("unknown field", typed(*MUTATIONS, "x: y"), 'strict decoding error: unknown field "x"')),
]
