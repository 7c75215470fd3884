"""Writes for ValidatingAdmissionPolicy and MutatingAdmissionPolicy: what policies accept, refuse, warn about and change, and which policies are refused."""
import cases

GROUP = "/apis/admissionregistration.k8s.io/v1"
MAPS = "/api/v1/namespaces/$NS/configmaps"
DRY = f"{MAPS}?dryRun=All"
POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def post(path, body, **options):
    return {"do": f"POST {path}", "body": body, **options}


def setup(path, body, **options):
    return post(path, body, setup=True, **options)


def rule(resources, groups=("",), operations=("*",), versions=("*",), **more):
    return {"apiGroups": list(groups), "apiVersions": list(versions), "operations": list(operations), "resources": list(resources), **more}


def constraints(resources=("configmaps",), groups=("",), operations=("*",), **more):
    """Selects requests in the namespace of the case."""
    return {"resourceRules": [rule(resources, groups, operations)], "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "$NS"}}, **more}


def policy(kind, name, spec, **options):
    return post(f"{GROUP}/{kind}admissionpolicies", {"metadata": {"name": name}, "spec": {"matchConstraints": constraints(), **spec}}, **options)


def binding(kind, name, spec, policy_name=None, **options):
    actions = {"validationActions": ["Deny"]} if kind == "validating" else {}
    return post(f"{GROUP}/{kind}admissionpolicybindings", {"metadata": {"name": name}, "spec": {"policyName": policy_name or name, **actions, **spec}}, **options)


def effective(kind):
    """Waits until all policies that were created before are in effect: the last one refuses or changes a probe."""
    name = f"canary-{kind}.$NS"
    if kind == "validating":
        spec = {"matchConstraints": constraints(operations=("CREATE",)), "validations": [{"expression": "object.metadata.name != 'probe'"}]}
    else:
        spec = {"reinvocationPolicy": "Never", "matchConditions": [{"name": "probe", "expression": "object.metadata.name == 'probe'"}], "mutations": [
            {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/nothing'}]"}}]}
    return [policy(kind, name, spec, setup=True), binding(kind, name, {}, setup=True),
            post(DRY, {"metadata": {"name": "probe"}}, setup=True, until=422 if kind == "validating" else 403)]


def active(kind, spec, bound=None, name="p.$NS"):
    return [policy(kind, name, spec, setup=True), binding(kind, name, bound or {}, setup=True), *effective(kind)]


def config_map(data=None, name="c", **options):
    return post(DRY, {"metadata": {"name": name}, "data": data or {}}, **options)


def validations(*expressions, **more):
    return {"validations": [one if isinstance(one, dict) else {"expression": one} for one in expressions], **more}


def mutations(*expressions, **more):
    def one(text):
        field = "jsonPatch" if "JSONPatch{" in text or text == "[1]" else "applyConfiguration"
        return {"patchType": field[0].upper() + field[1:] if field != "jsonPatch" else "JSONPatch", field: {"expression": text}}
    return {"reinvocationPolicy": "Never", "mutations": [one(text) for text in expressions], **more}


def validating(spec, *steps, **bound):
    return [*active("validating", spec, bound), *steps]


def mutating(spec, *steps, **bound):
    return [*active("mutating", spec, bound), *steps]


def maps(*datas):
    return [config_map(data) for data in datas]


PARAMS = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}
LIMIT = setup(MAPS, {"metadata": {"name": "limit", "labels": {"limits": "yes"}}, "data": {"max": "2"}})
WIDGETS = "/apis/policies.example.com/v1/namespaces/$NS/widgets"
WIDGET_CRD = setup("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    "metadata": {"name": "widgets.policies.example.com"},
    "spec": {"group": "policies.example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"}, "versions": [
        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "size": {"type": "integer"}, "color": {"type": "string", "default": "red"}, "tags": {"type": "array", "items": {"type": "string"}}}}}}}}]}})
WIDGET_READY = {"do": f"GET {WIDGETS}", "setup": True, "until": 200}


def widget(**spec):
    return post(f"{WIDGETS}?dryRun=All", {"apiVersion": "policies.example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec})


def refused(kind, spec):
    return policy(kind, "refused.$NS", spec)


# What an authorizer says about requests, with selectors that can be parsed and others.
PODS = "authorizer.group('').resource('pods').namespace('$NS')"
ROBOT = "authorizer.serviceAccount('$NS', 'robot').group('').resource('pods').namespace('$NS')"
AUTHORIZER_CHECKS = [f"{start}{more}.check('{verb}')" for start in (PODS, ROBOT) for verb, more in (
    ("get", ""), ("get", ".name('p')"), ("get", ".subresource('log')"), ("list", ".fieldSelector('spec.nodeName=n')"), ("list", ".fieldSelector('spec.nodeName=n,metadata.name!=x')"), ("list", ".fieldSelector('a>b,')"),
    ("list", ".labelSelector('app=web,tier in (a,b),!x')"), ("list", ".labelSelector('app in (')"), ("watch", ".fieldSelector('a=b').labelSelector('c=d')"), ("list", ".fieldSelector('a=b').fieldSelector('c=d')"))]
AUTHORIZER_CHECKS += ["authorizer.path('/healthz').check('get')", "authorizer.serviceAccount('$NS', 'robot').path('/metrics').check('get')", "authorizer.requestResource.check('delete')"]


def answers(checks):
    """Accepts an object if what data.q asks is true of the check that data.n names. Messages cannot use the authorizer."""
    chosen = checks[-1]
    for number, check in reversed(list(enumerate(checks[:-1]))):
        chosen = f"object.data.n == '{number}' ? {check} : ({chosen})"
    asked = "object.data.q == 'allowed' ? variables.d.allowed() : object.data.q == 'errored' ? variables.d.errored() : object.data.q == 'error' ? variables.d.error() == '' : variables.d.reason() == ''"
    return validations(asked, variables=[{"name": "d", "expression": chosen}])


CASES = {
    # For NamespaceExists. It is the first case, because the policies of the others cannot match a request in a namespace that does not exist.
    "namespace_exists": [
        *[post(f"/api/v1/namespaces/{ns}/{plural}?dryRun=All", {"metadata": {"name": "a"}, **body}, only=["status", "body.message", "body.reason", "body.code", "body.details"]) for ns in ("$NS", "missing-$NS") for plural, body in (
            ("configmaps", {}), ("secrets", {}), ("serviceaccounts", {}), ("limitranges", {"spec": {"limits": []}}), ("resourcequotas", {"spec": {}}), ("endpoints", {}),
            ("pods", POD), ("services", {"spec": {"clusterIP": "None"}}), ("persistentvolumeclaims", {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}))],
        post("/apis/rbac.authorization.k8s.io/v1/clusterroles?dryRun=All", {"metadata": {"name": "a"}}, without=["uid"]),
        *[{"do": f"{method} /api/v1/namespaces/missing-$NS/configmaps/a", "type": "merge", **({"body": {"data": {}}} if method == "PATCH" else {})} for method in ("DELETE", "PATCH")],
        {"do": "DELETE /api/v1/namespaces/missing-$NS/configmaps"},
    ],
    "rules": validating(validations("object.data.a == '1'", {"expression": "has(object.data.b)", "message": " b is missing\t", "reason": "Forbidden"},
                                    {"expression": "object.data.size() < 4", "messageExpression": "'too many: ' + string(object.data.size())", "reason": "RequestEntityTooLarge"},
                                    {"expression": "!object.metadata.name.startsWith('x')", "messageExpression": "string(object.data.nothing)", "message": "fallback"}),
                        *maps({"a": "1", "b": "2"}, {"a": "2", "b": "2"}, {"a": "1"}, {"a": "1", "b": "2", "c": "3", "d": "4"}, {"b": "2"}, {}),
                        config_map({"a": "1", "b": "2"}, name="x"), {**post(DRY, {"metadata": {"generateName": "x"}, "data": {"a": "1", "b": "1"}}), "only": ["status", "body.reason"]},
                        post(MAPS, {"metadata": {"name": "c"}, "data": {"a": "1", "b": "2"}}),
                        {"do": f"PATCH {MAPS}/c", "type": "merge", "body": {"data": {"a": "3"}}}, {"do": f"PATCH {MAPS}/c", "type": "merge", "body": {"data": {"e": "5"}}},
                        {"do": f"DELETE {MAPS}/c"}),
    "errors": validating(validations("object.data.number.size() > 0 && int(object.data.number) / int(object.data.by) > 1"),
                         *maps({"number": "4", "by": "2"}, {"number": "1", "by": "0"}, {"number": "x", "by": "1"}, {})),
    "errors_ignored": validating(validations("object.data.a == '1'", failurePolicy="Ignore"), *maps({"a": "1"}, {"a": "2"}, {})),
    "warnings": validating(validations("has(object.data.a)", {"expression": "has(object.data.b)", "message": "b \"is\" missing"}), *maps({"a": "1", "b": "2"}, {}, {"a": "1"}),
                           validationActions=["Warn", "Audit"]),
    "operations": validating(validations("request.operation != 'DELETE' || oldObject.data.keep != 'yes'", "request.operation != 'UPDATE' || oldObject.data.a == object.data.a"),
                             post(MAPS, {"metadata": {"name": "d"}, "data": {"a": "1", "keep": "yes"}}), {"do": f"PATCH {MAPS}/d", "type": "merge", "body": {"data": {"a": "2"}}},
                             {"do": f"PATCH {MAPS}/d", "type": "merge", "body": {"data": {"b": "2"}}}, {"do": f"DELETE {MAPS}/d"}, {"do": f"DELETE {MAPS}"},
                             {"do": f"GET {MAPS}/d", "only": ["status", "body.data"]}),
    "variables": validating(validations("variables.sum == 3", "variables.broken == 1 || object.data.x == 'y'", variables=[
        {"name": "a", "expression": "int(object.data.a)"}, {"name": "b", "expression": "variables.a + 1"}, {"name": "sum", "expression": "variables.a + variables.b"},
        {"name": "broken", "expression": "int(object.data.z)"}]), *maps({"a": "1", "x": "y"}, {"a": "2", "x": "y"}, {"a": "1"}, {"a": "1", "z": "1"}, {"a": "q", "x": "y"})),
    "request": validating(validations("request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps' && request.requestKind.version == 'v1' && !has(request.subResource)",
                                      "request.namespace == '$NS' && request.name == object.metadata.name || object.metadata.name == ''",
                                      "request.userInfo.groups.exists(g, g == 'system:masters')", {"expression": "!request.dryRun", "messageExpression": "'dry: ' + request.userInfo.username"},
                                      {"expression": "false", "messageExpression": "string(request.options.kind) + request.options.apiVersion + request.operation"}),
                          *maps({"a": "1"}), post(MAPS, {"metadata": {"name": "c"}}), config_map({}, user="jane")),
    "namespace_object": validating(validations("namespaceObject.metadata.name == '$NS' && namespaceObject.status.phase == 'Active'", "namespaceObject.metadata.labels.missing == 'x'"), *maps({})),
    "authorizer": validating(validations({"expression": "authorizer.requestResource.check('create').allowed()", "message": "must create"},
                                         {"expression": "authorizer.group('apps').resource('deployments').namespace('$NS').check('get').allowed()", "message": "must get deployments"},
                                         {"expression": "authorizer.serviceAccount('$NS', 'robot').path('/metrics').check('get').allowed()", "message": "robot"}), *maps({"a": "1"})),
    "authorizer_answers": validating(answers(AUTHORIZER_CHECKS), *maps(*({"n": str(n), "q": q} for n in range(len(AUTHORIZER_CHECKS)) for q in ("allowed", "errored", "error", "reason")))),
    "match_conditions": validating(validations("false", matchConditions=[{"name": "a", "expression": "has(object.data.a)"}, {"name": "b", "expression": "object.data.b == '1'"}]),
                                   *maps({}, {"a": "1"}, {"a": "1", "b": "1"}, {"a": "1", "b": "2"})),
    "match_conditions_ignored": validating(validations("false", failurePolicy="Ignore", matchConditions=[{"name": "b", "expression": "object.data.b == '1'"}]), *maps({}, {"b": "1"}, {"b": "2"})),
    "params_by_name": [LIMIT, *validating(validations("object.data.size() <= int(params.data.max)", {"expression": "params.metadata.name != object.metadata.name", "messageExpression":
                                                                                                 "'limit of ' + params.metadata.namespace + ' ' + params.kind + params.apiVersion"}, **PARAMS),
                                          *maps({"a": "1"}, {"a": "1", "b": "2", "c": "3"}), config_map({}, name="limit"), paramRef={"name": "limit", "parameterNotFoundAction": "Deny"})],
    "params_by_selector": [LIMIT, *validating(validations("object.data.size() <= int(params.data.max)", **PARAMS), *maps({"a": "1"}, {"a": "1", "b": "2", "c": "3"}),
                                              paramRef={"selector": {"matchLabels": {"limits": "yes"}}, "parameterNotFoundAction": "Deny"})],
    "params_missing": validating(validations("true", **PARAMS), *maps({}), paramRef={"name": "gone", "parameterNotFoundAction": "Deny"}),
    "params_missing_allowed": validating(validations("false", **PARAMS), *maps({}), paramRef={"name": "gone", "parameterNotFoundAction": "Allow"}),
    "params_without_reference": validating(validations("params == null", "params != null", **PARAMS), *maps({})),
    "params_of_unknown_kind": validating(validations("true", paramKind={"apiVersion": "nothing.example.com/v1", "kind": "Nothing"}), *maps({}), paramRef={"name": "x", "parameterNotFoundAction": "Deny"}),
    "costs": validating(validations("[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, object.data.a.matches('x+y*z?' + string(a+b+c+d)) || true))))"),
                        *maps({"a": "x" * 200})),
    "cost_of_one": validating(validations("[1,2,3,4,5,6,7,8,9,0].all(a, [1,2,3,4,5,6,7,8,9,0].all(b, [1,2,3,4,5,6,7,8,9,0].all(c, [1,2,3,4,5,6,7,8,9,0].all(d, [1,2,3,4,5,6,7,8,9,0].all(e, [1,2,3,4,5,6,7,8,9,0].all(f, "
                                          "object.data.size() < 9))))))", "false"), *maps({"a": "1"})),
    "cost_of_all": validating(validations(*["[1,2,3,4,5,6,7,8,9,0].all(a, [1,2,3,4,5,6,7,8,9,0].all(b, [1,2,3,4,5,6,7,8,9,0].all(c, [1,2,3,4,5,6,7,8,9,0].all(d, [1,2,3,4].all(e, object.data.size() < 9)))))"] * 40),
                              *maps({"a": "1"})),
    "pods": [setup("/api/v1/namespaces/$NS/serviceaccounts", {"metadata": {"name": "default"}}),
             *validating(validations("object.spec.containers.all(c, !c.image.endsWith(':latest'))", {"expression": "has(object.status) && has(object.spec.securityContext) && !has(object.spec.volumes)",
                         "messageExpression": "object.map(k, string(k)).sort().join(',') + ' ' + object.spec.map(k, string(k)).sort().join(',') + ' ' + object.spec.containers[0].map(k, string(k)).sort().join(',') + ' ' + object.metadata.map(k, string(k)).sort().join(',')"},
                         matchConstraints=constraints(("pods", "configmaps")), matchConditions=[{"name": "pods", "expression": "request.resource.resource == 'pods'"}]),
                         post("/api/v1/namespaces/$NS/pods?dryRun=All", POD, without=["uid"]),
                         post("/api/v1/namespaces/$NS/pods?dryRun=All", {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i:latest"}]}}, without=["uid"]))],
    "custom_resources": [WIDGET_CRD, WIDGET_READY, *validating(validations("object.spec.size < 10", "object.spec.color != 'blue'", matchConstraints=constraints(("widgets",), ("policies.example.com",))),
                                                               widget(size=1), widget(size=11), widget(size=2, color="blue"), widget(color="red"))],
    "api_services": [policy("validating", "p.$NS", validations("!object.spec.group.startsWith('refused')", matchConstraints={"resourceRules": [rule(("apiservices",), ("apiregistration.k8s.io",))]}), setup=True),
                     binding("validating", "p.$NS", {}, setup=True), *effective("validating"),
                     *[post("/apis/apiregistration.k8s.io/v1/apiservices?dryRun=All", {"metadata": {"name": f"v1.{group}.example.com"}, "spec": {
                         "group": f"{group}.example.com", "version": "v1", "groupPriorityMinimum": 10, "versionPriority": 10, "insecureSkipTLSVerify": True, "service": {"name": "s", "namespace": "n"}}})
                       for group in ("accepted", "refused")]],
    "bindings_select": [*validating(validations("false"), *maps({}), matchResources={"objectSelector": {"matchLabels": {"x": "y"}}}),
                        post(DRY, {"metadata": {"name": "c", "labels": {"x": "y"}}})],
    "resource_names": validating(validations("false", matchConstraints={**constraints(), "resourceRules": [rule(("configmaps",), resourceNames=["named", "probe"])],
                                                                        "excludeResourceRules": [rule(("configmaps",), operations=("UPDATE",))]}),
                                 config_map({}, name="named"), config_map({}, name="other")),
    "json_patches": mutating(mutations("[JSONPatch{op: 'add', path: '/data/b', value: object.data.a + '!'}, JSONPatch{op: 'test', path: '/data/a', value: '1'}]",
                                       "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'x/y': 'z'}}, JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'c'}]",
                                       "has(object.data.copy) ? [JSONPatch{op: 'copy', from: '/data/a', path: '/data/c'}, JSONPatch{op: 'move', from: '/data/b', path: '/data/d'}] : []"),
                             *maps({"a": "1"}, {"a": "2"}, {"a": "1", "copy": "yes"}, {})),
    "json_patch_fails": mutating(mutations("[JSONPatch{op: 'remove', path: '/data/' + object.data.remove}]"), *maps({"remove": "remove"}, {"remove": "gone"}, {"remove": "a/b"}, {})),
    "json_patch_add_fails": mutating(mutations("[JSONPatch{op: 'add', path: object.data.path, value: object.data.value}]"),
                                     *maps({"path": "/data/x", "value": "y"}, {"path": "/foo", "value": "y"}, {"path": "/spec/x", "value": "y"}, {"path": "nothing", "value": "y"}, {"path": "/metadata/labels", "value": "y"})),
    "json_patch_ignored": mutating(mutations("[JSONPatch{op: 'remove', path: '/data/gone'}]", "Object{metadata: Object.metadata{labels: {'a': 'b'}}}", failurePolicy="Ignore"), *maps({"a": "1"})),
    "applies": mutating(mutations("Object{metadata: Object.metadata{labels: {'env': 'test'}, annotations: {'a': string(object.data.size())}}}",
                                  "Object{data: {'added': 'yes', 'a': 'changed'}}"), *maps({"a": "1"}, {"b": "2"}, {})),
    "apply_fails": mutating(mutations("object.data.how == 'unknown' ? Object{foo: 1} : object.data.how == 'names' ? Object{metadata: Object.wrong{labels: {'a': 'b'}}} : "
                                      "object.data.how == 'type' ? Object{data: 'x'} : object.data.how == 'number' ? Object{data: {'x': 1}} : Object{data: {'b': object.data.missing}}"),
                            *maps(*[{"how": how} for how in ("unknown", "names", "type", "number", "missing")])),
    "apply_to_pods": [setup("/api/v1/namespaces/$NS/serviceaccounts", {"metadata": {"name": "default"}}),
                      *mutating(mutations("Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, imagePullPolicy: 'Always', "
                                          "env: [Object.spec.containers.env{name: 'E', value: 'V'}]})}}",
                                          "object.metadata.name == 'atomic' ? Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', command: ['x']}]}} : Object{}",
                                          matchConstraints=constraints(("pods", "configmaps")), matchConditions=[{"name": "pods", "expression": "request.resource.resource == 'pods'"}]),
                                post("/api/v1/namespaces/$NS/pods?dryRun=All", POD, only=["status", "body.spec.containers", "body.message"]),
                                post("/api/v1/namespaces/$NS/pods?dryRun=All", {**POD, "metadata": {"name": "atomic"}}))],
    "apply_to_custom_resources": [WIDGET_CRD, WIDGET_READY, *mutating(mutations("Object{spec: Object.spec{size: 7}}", matchConstraints=constraints(("widgets",), ("policies.example.com",))),
                                                                      {**widget(size=1), "setup": True, "until": 201}, widget(size=1), widget(color="blue"))],
    # One policy each: the order of policies is random in the reference.
    **{f"reinvocation_{how.lower()}": mutating(mutations("Object{data: {'log': object.data.log + 'a'}}", reinvocationPolicy=how, failurePolicy="Ignore"), config_map({"log": ""}), config_map({"log": "a"}))
       for how in ("IfNeeded", "Never")},
    "mutation_params": [LIMIT, *mutating(mutations("Object{data: {'max': string(params.data.max), 'ns': namespaceObject.metadata.name}}", matchConditions=[{"name": "new", "expression": "object.metadata.name != 'limit'"}], **PARAMS),
                                         *maps({"a": "1"}), paramRef={"name": "limit", "parameterNotFoundAction": "Deny"})],
    "mutation_params_missing": mutating(mutations("Object{}", **PARAMS), *maps({}), paramRef={"name": "gone", "parameterNotFoundAction": "Deny"}),
    "param_permissions": [
        setup("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": "author.$NS"}, "rules": [
            {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["*"]}, {"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]},
            {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["readable"], "verbs": ["get"]}]}),
        setup("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {"metadata": {"name": "author.$NS"}, "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "author.$NS"}, "subjects": [{"kind": "User", "name": "author"}]}),
        policy("validating", "unbound.$NS", validations("true"), setup=True, user="author", until=201),
        *[policy(kind, "a.$NS", {**rules, "paramKind": {"apiVersion": version, "kind": name}}, user="author", only=["status", "body.message", "body.reason", "body.details"])
          for kind, rules in (("validating", validations("true")), ("mutating", mutations("Object{}")))
          for version, name in (("v1", "ConfigMap"), ("v1", "Secret"), ("nothing.example.com/v1", "Nothing"))],
        policy("validating", "bound.$NS", validations("true", **PARAMS), setup=True), policy("mutating", "bound.$NS", mutations("Object{}", **PARAMS), setup=True),
        *[binding(kind, f"b{number}.$NS", {"paramRef": {"parameterNotFoundAction": "Deny", **ref}}, policy_name=name, user="author", only=["status", "body.message", "body.reason", "body.details"])
          for kind in ("validating", "mutating") for number, (name, ref) in enumerate((
              ("bound.$NS", {"name": "readable", "namespace": "$NS"}), ("bound.$NS", {"name": "other"}), ("bound.$NS", {"selector": {}}), ("gone.$NS", {"name": "other"})))],
    ],
    "refused_policies": [
        *[refused("validating", validations(expression)) for expression in ("object.", "1", "foo", "object.a == ", "params.x", "variables.x", "authorizer.foo()", "namespaceObject.metadata.uid == ''", "request.object == 1",
                                                                            "int('x') == 1", "'a'.matches('(')", "object.x && 'y'", "quantity('x').isInteger()", "object.data.a")],
        refused("validating", validations({"expression": "true", "messageExpression": "1"})), refused("validating", validations({"expression": "true", "messageExpression": "authorizer.path('/x')"})),
        refused("validating", validations({"expression": "true", "messageExpression": "  "})),
        refused("validating", validations("variables.a == 1", variables=[{"name": "a", "expression": "object.x"}, {"name": "b", "expression": "variables.c"}, {"name": "c", "expression": "'x'"}, {"name": "d", "expression": "  "}])),
        refused("validating", validations("variables.s == 1", variables=[{"name": "s", "expression": "'x'"}])),
        refused("validating", validations("true", matchConditions=[{"name": "a", "expression": " 1 "}, {"name": "b", "expression": "variables.x"}, {"name": "c", "expression": "params.x == 1"}])),
        refused("validating", {"auditAnnotations": [{"key": "a", "valueExpression": "1"}, {"key": "b", "valueExpression": "null"}, {"key": "c", "valueExpression": " object. "}]}),
        refused("validating", validations("params.x == 1", **PARAMS)),
        *[refused("mutating", mutations(expression)) for expression in ("Object{", "1", "[1]", "[JSONPatch{op: 'add', path: 1}]", "Object.spec{}", "Objects{}", "[JSONPatch{foo: 1}]", "Object{a: params.x}")],
        refused("mutating", mutations("Object{}", variables=[{"name": "a", "expression": "Object{}"}])),
        post(f"{GROUP}/validatingwebhookconfigurations", {"metadata": {"name": "refused.$NS"}, "webhooks": [{
            "name": "a.example.com", "clientConfig": {"url": "https://x"}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "matchConditions": [{"name": "a", "expression": "object."}, {"name": "b", "expression": "params.x == 1"}, {"name": "c", "expression": "true"}]}]}, only=["status", "body"]),
    ],
}
CASES = [cases.Case("policies", name, {}, steps) for name, steps in CASES.items()]
