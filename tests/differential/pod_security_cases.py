"""Pods for every control of the Pod Security Standards, at both levels and in every version."""
CONTAINER = {"name": "c", "image": "i"}
SAFE = {"allowPrivilegeEscalation": False, "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}, "capabilities": {"drop": ["ALL"]}}
VERSIONS = ["latest", *[f"v1.{minor}" for minor in range(0, 37)], "v1.99"]
SYSCTLS = ("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
           "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes",
           "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "kernel.msgmax")
VOLUMES = ({"hostPath": {"path": "/"}}, {"nfs": {"server": "s", "path": "/"}}, {"gcePersistentDisk": {"pdName": "p"}}, {"iscsi": {"targetPortal": "p", "iqn": "iqn.a.b:c", "lun": 1}},
           {"image": {"reference": "r"}})


def container(**context):
    """A pod whose container meets the level "restricted", except for these fields."""
    return {"containers": [{**CONTAINER, "securityContext": {**SAFE, **context}}]}


def without(*names):
    return {"containers": [{**CONTAINER, "securityContext": {name: value for name, value in SAFE.items() if name not in names}}]}


def fields(**more):
    return {"containers": [{**CONTAINER, "securityContext": SAFE, **more}]}


def pod(**context):
    return {**container(), "securityContext": context}


SPECS = [
    container(), *[{**container(), name: True} for name in ("hostNetwork", "hostPID", "hostIPC")], container(privileged=True, allowPrivilegeEscalation=True),
    *[container(capabilities={"add": add, "drop": drop}) for add, drop in ((["CHOWN"], ["ALL"]), (["NET_BIND_SERVICE"], ["ALL"]), (["SYS_ADMIN", "NET_RAW"], ["ALL"]), (["SETPCAP"], []),
                                                                         ([], ["NET_RAW"]))],
    without("capabilities"), *[{**container(), "volumes": [{"name": "v", **volume}]} for volume in VOLUMES],
    fields(ports=[{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 81}]),
    container(appArmorProfile={"type": "Unconfined"}), pod(appArmorProfile={"type": "Unconfined"}), container(appArmorProfile={"type": "Localhost", "localhostProfile": "p"}),
    *[container(seLinuxOptions=options) for options in ({"type": "container_t"}, {"type": "container_engine_t"}, {"type": "spc_t"}, {"user": "u"}, {"role": "r"}, {"level": "s0"})],
    pod(seLinuxOptions={"type": "container_kvm_t", "user": "u"}), {**container(procMount="Unmasked"), "hostUsers": False}, container(procMount="Default"),
    container(seccompProfile={"type": "Unconfined"}), pod(seccompProfile={"type": "Unconfined"}), without("seccompProfile"), {**without("seccompProfile"), "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}},
    *[pod(sysctls=[{"name": name, "value": "1"}]) for name in SYSCTLS], pod(sysctls=[{"name": "kernel.msgmax", "value": "1"}, {"name": "net.ipv4.tcp_rmem", "value": "1"}]),
    {**container(runAsUserName="x"), "os": {"name": "windows"}}, without("allowPrivilegeEscalation"), container(allowPrivilegeEscalation=True),
    without("runAsNonRoot"), container(runAsNonRoot=False), {**without("runAsNonRoot"), "securityContext": {"runAsNonRoot": True}}, container(runAsUser=0), pod(runAsUser=0), container(runAsUser=7),
    {**container(runAsUser=0), "hostUsers": False}, {**without("runAsNonRoot"), "hostUsers": False},
    *[fields(**{probe: {"httpGet": {"host": "h", "port": 80}}}) for probe in ("livenessProbe", "readinessProbe", "startupProbe")], fields(livenessProbe={"tcpSocket": {"host": "h", "port": 80}}),
    fields(livenessProbe={"httpGet": {"host": "127.0.0.1", "port": 80}}), fields(lifecycle={"postStart": {"httpGet": {"host": "h", "port": 80}}}),
    {"containers": [{"name": "c", "image": "i", "securityContext": {"windowsOptions": {"hostProcess": True}}}], "hostNetwork": True, "securityContext": {"windowsOptions": {"hostProcess": True}}},
    {"containers": [CONTAINER]}, {"containers": [CONTAINER], "os": {"name": "windows"}}, {"containers": [CONTAINER], "os": {"name": "linux"}},
    {**container(), "initContainers": [{"name": "i", "image": "i"}]}, {"containers": [CONTAINER, {**CONTAINER, "name": "d"}], "hostNetwork": True, "hostPID": True},
]
ANNOTATIONS = [{"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}, {"container.seccomp.security.alpha.kubernetes.io/c": "unconfined"},
               {"container.apparmor.security.beta.kubernetes.io/c": "runtime/default"}, {"seccomp.security.alpha.kubernetes.io/pod": "runtime/default"}]


def steps(version):
    name = version.replace(".", "-")
    for level in ("baseline", "restricted"):
        ns = f"ps-{level}-{name}-$run"
        yield {"do": "POST /api/v1/namespaces", "setup": True, "body": {"metadata": {"name": ns, "labels": {
            "pod-security.kubernetes.io/enforce": level, "pod-security.kubernetes.io/enforce-version": version}}}}
        yield {"do": f"POST /api/v1/namespaces/{ns}/serviceaccounts", "setup": True, "body": {"metadata": {"name": "default"}}}
        for spec, annotations in [*[(spec, {}) for spec in SPECS], *[(container(), one) for one in ANNOTATIONS], *[(without("seccompProfile"), one) for one in ANNOTATIONS]]:
            yield {"do": f"POST /api/v1/namespaces/{ns}/pods?dryRun=All", "body": {"metadata": {"name": "p", "annotations": annotations}, "spec": spec}, "only": ["status", "body.message", "body.reason"]}


CASES = {f"pod_security_{version.replace('.', '_')}": list(steps(version)) for version in VERSIONS}
