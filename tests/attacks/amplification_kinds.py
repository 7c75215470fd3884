"""Requests for kinds that have their own rules: each repeats one part of an object as often as the limits of a body, 3 MiB and 300,000 values, allow."""
import json

import amplification

NS = "/namespaces/default"
P = "/api/v1" + NS
ROOM, VALUES = 4000, 300  # for the rest of the object


def repeated(item):
    return amplification.repeated(item, amplification.LIMIT - ROOM, most=amplification.MOST_VALUES - VALUES)


def numbered(item):
    """Items that all differ: # is the number."""
    return repeated(lambda i: item.replace("#", str(i)))


def pod(spec):
    return '{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],%s}}' % spec


def job(container):
    return '{"metadata":{"name":"x"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",%s}]}}}}' % container


# name, path, body
ROWS = [
    ("a Job with ports that are all equal", "/apis/batch/v1"+NS+"/jobs",job('"ports":[%s]'%repeated('{"containerPort":1}'))),
    ("a Job with one port on many ports of the node", "/apis/batch/v1"+NS+"/jobs",job('"ports":[%s]'%numbered('{"containerPort":1,"hostPort":#}'))),
    ("a Job with one environment variable many times", "/apis/batch/v1"+NS+"/jobs",job('"env":[%s]'%repeated('{"name":"a"}'))),
    ("rules of a pod failure policy", "/apis/batch/v1"+NS+"/jobs",'{"metadata":{"name":"x"},"spec":{"podFailurePolicy":{"rules":[%s]},"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}'%repeated('{"action":"Ignore","onExitCodes":{"operator":"In","values":[1]}}')),
    ("exit codes of a pod failure policy", "/apis/batch/v1"+NS+"/jobs",'{"metadata":{"name":"x"},"spec":{"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[%s]}}]},"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}'%numbered("#")),
    ("peers of a NetworkPolicy", "/apis/networking.k8s.io/v1"+NS+"/networkpolicies",'{"metadata":{"name":"x"},"spec":{"podSelector":{},"ingress":[{"from":[%s]}]}}'%repeated('{"ipBlock":{"cidr":"1.0.0.0/8","except":["1.1.0.0/16"]}}')),
    ("exceptions of an IP block", "/apis/networking.k8s.io/v1"+NS+"/networkpolicies",'{"metadata":{"name":"x"},"spec":{"podSelector":{},"ingress":[{"from":[{"ipBlock":{"cidr":"1.0.0.0/8","except":[%s]}}]}]}}'%repeated('"1.1.0.0/16"')),
    ("rules of an Ingress", "/apis/networking.k8s.io/v1"+NS+"/ingresses",'{"metadata":{"name":"x"},"spec":{"rules":[%s]}}'%numbered('{"host":"a#.b"}')),
    ("TLS hosts of an Ingress", "/apis/networking.k8s.io/v1"+NS+"/ingresses",'{"metadata":{"name":"x"},"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":1}}},"tls":[{"hosts":[%s]}]}}'%numbered('"a#.b"')),
    ("limits of one type",P+"/limitranges",'{"metadata":{"name":"x"},"spec":{"limits":[%s]}}'%repeated('{"type":"Pod","max":{"cpu":"1"}}')),
    ("resources of a limit",P+"/limitranges",'{"metadata":{"name":"x"},"spec":{"limits":[{"type":"Container","max":{%s}}]}}'%numbered('"e.com/a#":"1"')),
    ("scopes of a quota that do not exist",P+"/resourcequotas",'{"metadata":{"name":"x"},"spec":{"scopes":[%s]}}'%numbered('"s#"')),
    ("resources of a quota",P+"/resourcequotas",'{"metadata":{"name":"x"},"spec":{"hard":{%s}}}'%numbered('"count/a#.b":"1"')),
    ("scopes of a quota with many resources",P+"/resourcequotas",'{"metadata":{"name":"x"},"spec":{"scopes":[%s],"hard":{%s}}}'%(",".join(['"Terminating"']*80000),",".join('"count/a%d.b":"1"'%i for i in range(60000)))),
    ("empty topologies of a StorageClass", "/apis/storage.k8s.io/v1/storageclasses",'{"metadata":{"name":"x"},"provisioner":"p","allowedTopologies":[%s]}'%repeated("{}")),
    ("topologies of a StorageClass", "/apis/storage.k8s.io/v1/storageclasses",'{"metadata":{"name":"x"},"provisioner":"p","allowedTopologies":[%s]}'%numbered('{"matchLabelExpressions":[{"key":"a","values":["#"]}]}')),
    ("drivers of a CSINode", "/apis/storage.k8s.io/v1/csinodes",'{"metadata":{"name":"x"},"spec":{"drivers":[%s]}}'%numbered('{"name":"d#","nodeID":"n","topologyKeys":["a"]}')),
    ("topology keys of a CSINode", "/apis/storage.k8s.io/v1/csinodes",'{"metadata":{"name":"x"},"spec":{"drivers":[{"name":"d","nodeID":"n","topologyKeys":[%s]}]}}'%numbered('"a#"')),
    ("token requests of a CSIDriver", "/apis/storage.k8s.io/v1/csidrivers",'{"metadata":{"name":"x"},"spec":{"tokenRequests":[%s]}}'%numbered('{"audience":"a#"}')),
    ("lifecycle modes of a CSIDriver", "/apis/storage.k8s.io/v1/csidrivers",'{"metadata":{"name":"x"},"spec":{"volumeLifecycleModes":[%s]}}'%repeated('"Persistent"')),
    ("access modes of a PersistentVolume", "/api/v1/persistentvolumes",'{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1"},"nfs":{"server":"s","path":"/p"},"accessModes":[%s]}}'%repeated('"ReadWriteOnce"')),
    ("access modes of a claim",P+"/persistentvolumeclaims",'{"metadata":{"name":"x"},"spec":{"resources":{"requests":{"storage":"1"}},"accessModes":[%s]}}'%repeated('"ReadWriteOnce"')),
    ("subjects of a FlowSchema", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",'{"metadata":{"name":"x"},"spec":{"priorityLevelConfiguration":{"name":"a"},"rules":[{"subjects":[%s]}]}}'%numbered('{"kind":"User","user":{"name":"a#"}}')),
    ("verbs of a FlowSchema", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",'{"metadata":{"name":"x"},"spec":{"priorityLevelConfiguration":{"name":"a"},"rules":[{"subjects":[{"kind":"User","user":{"name":"a"}}],"resourceRules":[{"verbs":[%s],"apiGroups":["*"],"resources":["*"],"namespaces":["*"]}]}]}}'%numbered('"a#"')),
    ("selectors of a ResourceClaim", "/apis/resource.k8s.io/v1"+NS+"/resourceclaims",'{"metadata":{"name":"x"},"spec":{"devices":{"requests":[%s]}}}'%",".join('{"name":"r%d","firstAvailable":[%s]}'%(i,",".join('{"name":"s%d","deviceClassName":"c","selectors":[{"cel":{"expression":"%s"}}]}'%(j,"||".join(["device.attributes['a'].b==%d"%j]*330)) for j in range(8))) for i in range(32))),
    ("requirements of a PodDisruptionBudget", "/apis/policy/v1"+NS+"/poddisruptionbudgets",'{"metadata":{"name":"x"},"spec":{"selector":{"matchExpressions":[%s]}}}'%numbered('{"key":"a#","operator":"Exists"}')),
    ("metrics of an autoscaler", "/apis/autoscaling/v2"+NS+"/horizontalpodautoscalers",'{"metadata":{"name":"x"},"spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"a","name":"b"},"metrics":[%s]}}'%repeated('{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":1}}}')),
    ("webhooks of a configuration", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",'{"metadata":{"name":"x"},"webhooks":[%s]}'%numbered('{"name":"a#.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://a"}}')),
    ("resources of a webhook", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",'{"metadata":{"name":"x"},"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://a"},"rules":[{"operations":["*"],"apiGroups":["a"],"apiVersions":["v1"],"resources":[%s]}]}]}'%numbered('"a#"')),
    ("resources of a webhook with all subresources", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",'{"metadata":{"name":"x"},"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://a"},"rules":[{"operations":["*"],"apiGroups":["a"],"apiVersions":["v1"],"resources":[%s]}]}]}'%numbered('"a#/*"')),
    ("review versions of a webhook", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",'{"metadata":{"name":"x"},"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":[%s],"clientConfig":{"url":"https://a"}}]}'%numbered('"v#"')),
    ("variables of an admission policy", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",'{"metadata":{"name":"x"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":["a"],"apiVersions":["v1"],"resources":["b"]}]},"validations":[{"expression":"true"}],"variables":[%s]}}'%numbered('{"name":"a#","expression":"1"}')),
    ("audit annotations of an admission policy", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",'{"metadata":{"name":"x"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":["a"],"apiVersions":["v1"],"resources":["b"]}]},"auditAnnotations":[%s]}}'%numbered('{"key":"a#","valueExpression":"1"}')),
    ("devices of a ResourceSlice", "/apis/resource.k8s.io/v1/resourceslices",'{"metadata":{"name":"x"},"spec":{"driver":"d","nodeName":"n","pool":{"name":"p","resourceSliceCount":1},"devices":[%s]}}'%numbered('{"name":"d#"}')),
    ("attributes of a device", "/apis/resource.k8s.io/v1/resourceslices",'{"metadata":{"name":"x"},"spec":{"driver":"d","nodeName":"n","pool":{"name":"p","resourceSliceCount":1},"devices":[{"name":"d","attributes":{%s}}]}}'%numbered('"a#":{"int":1}')),
    ("binding conditions of a device", "/apis/resource.k8s.io/v1/resourceslices",'{"metadata":{"name":"x"},"spec":{"driver":"d","nodeName":"n","pool":{"name":"p","resourceSliceCount":1},"devices":[{"name":"d","bindingConditions":[%s],"bindingFailureConditions":["x"]}]}}'%numbered('"a#"')),
    ("counters of a ResourceSlice", "/apis/resource.k8s.io/v1/resourceslices",'{"metadata":{"name":"x"},"spec":{"driver":"d","nodeName":"n","pool":{"name":"p","resourceSliceCount":1},"sharedCounters":[%s]}}'%numbered('{"name":"d#","counters":{"a":{"value":"1"}}}')),
    ("requests of a ResourceClaim", "/apis/resource.k8s.io/v1"+NS+"/resourceclaims",'{"metadata":{"name":"x"},"spec":{"devices":{"requests":[%s]}}}'%numbered('{"name":"r#","exactly":{"deviceClassName":"c"}}')),
    ("requests of a constraint", "/apis/resource.k8s.io/v1"+NS+"/resourceclaims",'{"metadata":{"name":"x"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}],"constraints":[{"matchAttribute":"a.b/c","requests":[%s]}]}}}'%numbered('"r#"')),
    ("addresses of Endpoints",P+"/endpoints",'{"metadata":{"name":"x"},"subsets":[{"addresses":[%s],"ports":[{"port":1}]}]}'%repeated('{"ip":"10.0.0.1"}')),
    ("subsets of Endpoints",P+"/endpoints",'{"metadata":{"name":"x"},"subsets":[%s]}'%repeated('{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":1}]}')),
    ("addresses of a ServiceCIDR", "/apis/networking.k8s.io/v1/servicecidrs",'{"metadata":{"name":"x"},"spec":{"cidrs":[%s]}}'%repeated('"10.0.0.0/24"')),
    ("tolerations of a RuntimeClass", "/apis/node.k8s.io/v1/runtimeclasses",'{"metadata":{"name":"x"},"handler":"h","scheduling":{"tolerations":[%s]}}'%numbered('{"key":"a#","operator":"Exists"}')),
    ("equal tolerations of a RuntimeClass", "/apis/node.k8s.io/v1/runtimeclasses",'{"metadata":{"name":"x"},"handler":"h","scheduling":{"tolerations":[%s]}}'%repeated('{"key":"a"}')),
    ("tolerations of a pod",P+"/pods",pod('"tolerations":[%s]'%numbered('{"key":"a#","operator":"Exists"}'))),
    ("AppArmor annotations of a pod with many containers",P+"/pods",'{"metadata":{"name":"x","annotations":{%s}},"spec":{"containers":[%s]}}'%(",".join('"container.apparmor.security.beta.kubernetes.io/%d":""'%i for i in range(4500)),",".join(['{"name":"a"}']*140000))),
    ("claims of a container that are no claims of the pod",P+"/pods",'{"metadata":{"name":"x"},"spec":{"resourceClaims":[%s],"containers":[{"name":"c","image":"i","resources":{"claims":[%s]}}]}}'%(",".join('{"name":"c%d"}'%i for i in range(70000)),",".join('{"name":"d%d"}'%i for i in range(70000)))),
    ("label keys of a pod affinity",P+"/pods",pod('"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a","labelSelector":{},"matchLabelKeys":[%s]}]}}'%numbered('"a#"'))),
    ("sources of a projected volume",P+"/pods",pod('"volumes":[{"name":"v","projected":{"sources":[%s]}}]'%numbered('{"secret":{"name":"s","items":[{"key":"k","path":"p#"}]}}'))),
    ("ephemeral volumes of a pod",P+"/pods",pod('"volumes":[%s]'%numbered('{"name":"v#","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}}}'))),
    ("pull secrets of a pod",P+"/pods",pod('"imagePullSecrets":[%s]'%numbered('{"name":"a#"}'))),
    ("search paths of a pod",P+"/pods",pod('"dnsConfig":{"searches":[%s]}'%numbered('"a#"'))),
    ("sysctls of a pod",P+"/pods",pod('"securityContext":{"sysctls":[%s]}'%numbered('{"name":"a#","value":"b"}'))),
    ("a schedule of many minutes", "/apis/batch/v1"+NS+"/cronjobs",'{"metadata":{"name":"x"},"spec":{"schedule":"%s","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}'%("1,"*1400000)),
    ("a selector of a ReplicationController", "/api/v1"+NS+"/replicationcontrollers",'{"metadata":{"name":"x"},"spec":{"selector":{%s},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}'%numbered('"a#":"b"')),
    ("unknown formats of a definition", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",json.dumps({"metadata":{"name":"foos.a.b"},"spec":{"group":"a.b","scope":"Namespaced","names":{"plural":"foos","kind":"Foo"},"versions":[{"name":"v1","served":True,"storage":True,"schema":{"openAPIV3Schema":{"type":"object","properties":{"p%d"%i:{"type":"string","format":"f%d"%i} for i in range(45000)}}}}]}})),
]
