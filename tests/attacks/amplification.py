"""Requests of nearly 3 MiB that are the worst case of one kind of input, for which a small input could cause much work or memory."""
import base64
import dataclasses
import json

LIMIT = 3 * 1024 * 1024 - 1024  # a larger body is rejected before it is read

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
SERVICES = "/api/v1/namespaces/default/services"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/attacks.example.com/v1/namespaces/default/widgets"
APISERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
DRY = "?dryRun=All"

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
JSON_PATCH, MERGE_PATCH = "application/json-patch+json", "application/merge-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"


@dataclasses.dataclass
class Attack:
    """One request. `codes` are the accepted status codes of the response."""
    path: str
    body: object
    codes: tuple
    method: str = "POST"
    type: str = JSON
    user: str = ""

    def send(self, client, timeout=120):
        body = self.body() if callable(self.body) else self.body
        if isinstance(body, str):
            body = body.encode()
        assert body is None or len(body) <= LIMIT + 1024, f"{len(body)} bytes would be rejected before they are read"
        headers = {"Content-Type": self.type} if body is not None else {}
        if self.user:
            headers["Impersonate-User"] = self.user
        return client(self.method, self.path, body, headers, timeout=timeout)


MOST_VALUES = 299_900  # a JSON body with more than 300,000 values, or more than 100,000 keys, is refused before it is parsed
MOST_KEYS = 99_900


def values_of(part):
    """Returns the number of JSON values of an item."""
    return 1 + part.count(",") + part.count("{") + part.count("[") - part.count("{}") - part.count("[]")


def repeated(item, size=LIMIT - 2000, start=0, most=MOST_VALUES, keys=MOST_KEYS):
    """Returns "item(start),item(start+1),…" of about `size` bytes and at most `most` values and `keys` keys. `item` is a text or a function of the index."""
    make = item if callable(item) else lambda _: item
    parts, total, values, index = [], 0, 0, start
    while True:
        part = make(index)
        total += len(part) + 1
        values += values_of(part)
        keys -= part.count('":')
        if total > size or values > most or keys < 0:
            return ",".join(parts)
        parts.append(part)
        index += 1


def configmap(metadata="", rest=""):
    return '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"attack"%s}%s}' % (metadata, rest)


def owner(rest=""):
    return lambda i: '{"apiVersion":"v1","kind":"P","name":"n","uid":"u%d"%s}' % (i, rest)


def pod(spec, metadata=""):
    return '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"attack"%s},"spec":{%s}}' % (metadata, spec)


def containers(inner):
    return pod('"containers":[{"name":"c","image":"i"%s}]' % inner)


def widget(spec, metadata=""):
    return '{"apiVersion":"attacks.example.com/v1","kind":"Widget","metadata":{"name":"attack"%s},"spec":%s}' % (metadata, spec)


def crd(spec_schema, name="gadgets"):
    return ('{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.attacks.example.com"},"spec":'
            '{"group":"attacks.example.com","scope":"Namespaced","names":{"plural":"%s","kind":"%s"},"versions":[{"name":"v1","served":true,'
            '"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":%s}}}}]}}' % (name, name, name[:-1].capitalize(), spec_schema))


# The custom resource that the attacks on schemas use.
WIDGET_SCHEMA = {
    "type": "object", "properties": {
        "defaulted": {"type": "array", "items": {"type": "object", "properties": {"big": {"type": "string", "default": "x" * 100_000}}}},
        "small": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "numbers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "string"}}}},
        "integers": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
        "objects": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "refused": {"type": "array", "items": {"type": "integer", "not": {"minimum": 0}}},
        "chosen": {"type": "array", "items": {"type": "integer", "anyOf": [{"minimum": 10_000_000 + i} for i in range(300)]}},
        "listed": {"type": "array", "items": {"type": "string", "enum": [f"value-{i:06}" for i in range(5000)]}},
        "matched": {"type": "array", "items": {"type": "string", "pattern": "^([a-z]+[0-9]*)+$"}},
        "nullable": {"type": "object", "additionalProperties": {"type": "string"}},
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}


def nested(opening, middle, closing, depth):
    return opening * depth + middle + closing * depth


def varint(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, data):
    """Returns a length-delimited field of a protobuf message."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def protobuf(kind, raw):
    return b"k8s\0" + field(1, field(1, b"v1") + field(2, kind.encode())) + field(2, raw)


def metadata_attacks():
    yield "owner references that all differ", Attack(CONFIGMAPS + DRY, lambda: configmap(',"ownerReferences":[%s]' % repeated(owner())), (201, 413))
    yield "owner references that are all equal", Attack(CONFIGMAPS + DRY, lambda: configmap(',"ownerReferences":[%s]' % repeated(owner()(0))), (201, 413))
    yield "owner references that are all controllers", Attack(
        CONFIGMAPS + DRY, lambda: configmap(',"ownerReferences":[%s]' % repeated(owner(',"controller":true'))), (422,))
    yield "finalizers that are no names", Attack(CONFIGMAPS + DRY, lambda: configmap(',"finalizers":[%s]' % repeated(lambda i: f'"_{i}"')), (422,))
    yield "labels that are no labels", Attack(CONFIGMAPS + DRY, lambda: configmap(',"labels":{%s}' % repeated(lambda i: f'"_{i}":"_"')), (422,))
    yield "annotations", Attack(CONFIGMAPS + DRY, lambda: configmap(',"annotations":{%s}' % repeated(lambda i: f'"a{i}":""')), (422,))
    yield "keys of data that are no keys", Attack(CONFIGMAPS + DRY, lambda: configmap("", ',"data":{%s}' % repeated(lambda i: f'"/{i}":""')), (422,))
    yield "keys of data", Attack(CONFIGMAPS + DRY, lambda: configmap("", ',"data":{%s}' % repeated(lambda i: f'"{i}":""')), (201, 413, 422))
    yield "data that is no base64", Attack(CONFIGMAPS + DRY, lambda: configmap("", ',"binaryData":{%s}' % repeated(lambda i: f'"{i}":"===="')), (400,))
    yield "one long value of base64", Attack(CONFIGMAPS + DRY, lambda: configmap("", ',"binaryData":{"a":"%s"}' % ("AAAA\\n" * (LIMIT // 7))), (201, 413, 422))
    yield "a long generated name", Attack(CONFIGMAPS + DRY, lambda: '{"metadata":{"generateName":"%s"}}' % ("a" * (LIMIT - 100)), (422,))


def managed_fields_attacks():
    def fields(inner):
        return configmap(',"managedFields":[%s]' % inner, ',"data":{"a":"b"}')

    def manager(name, fields_v1, operation="Update"):
        return '{"manager":"%s","operation":"%s","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{%s}}' % (name, operation, fields_v1)

    yield "managers, each with a field", Attack(CONFIGMAPS + DRY, lambda: fields(repeated(lambda i: manager(f"m{i}", f'"f:data":{{"f:k{i}":{{}}}}'))), (201, 413))
    yield "appliers, each with a field", Attack(CONFIGMAPS + DRY, lambda: fields(repeated(lambda i: manager(f"m{i}", f'"f:data":{{"f:k{i}":{{}}}}', "Apply"))), (201, 413))
    yield "the same manager again and again", Attack(CONFIGMAPS + DRY, lambda: fields(repeated(manager("m", '"f:data":{}'))), (201, 413))
    yield "a manager of many fields", Attack(CONFIGMAPS + DRY, lambda: fields(manager("m", '"f:data":{%s}' % repeated(lambda i: f'"f:{i}":{{}}'))), (201, 413))
    yield "a manager of many numbers", Attack(
        CONFIGMAPS + DRY, lambda: fields(manager("m", '"f:data":{%s}' % repeated(lambda i: '"v:%d":{}' % ((i * 7919) % 1_000_003)))), (201, 413))
    yield "a manager of many list items", Attack(
        CONFIGMAPS + DRY, lambda: fields(manager("m", '"f:data":{%s}' % repeated(lambda i: '"k:{\\"p\\":%d}":{}' % ((i * 7919) % 1_000_003)))), (201, 413))
    yield "fields of a manager that are deeply nested", Attack(
        CONFIGMAPS + DRY, lambda: fields(",".join([manager("m%d" % i, nested('"f:a":{', "", "}", 900)) for i in range(320)])), (201, 413))


def role_attacks():
    def rules(*lists):
        return '{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"attack"},"rules":[{%s}]}' % ",".join(
            '"%s":[%s]' % (name, repeated(lambda i: f'"{name[0]}{i}"', LIMIT // len(lists) - 100, most=MOST_VALUES // len(lists) - 10)) for name in lists)

    yield "a role rule whose lists multiply", Attack(ROLES + DRY, lambda: rules("verbs", "apiGroups", "resources", "resourceNames"), (403, 413), user="attacker")
    yield "many role rules", Attack(ROLES + DRY, lambda: '{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"attack"},"rules":[%s]}' % repeated(
        '{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}'), (403, 413), user="attacker")
    yield "role rules that nothing is in", Attack(ROLES + DRY, lambda: '{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"attack"},"rules":[%s]}'
                                                  % repeated("{}"), (413, 422))
    yield "many subjects of a binding", Attack(ROLES.replace("roles", "rolebindings") + DRY, lambda: (
        '{"metadata":{"name":"attack"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[%s]}'
        % repeated(lambda i: '{"kind":"User","name":"u%d"}' % i)), (201, 413))


def schema_attacks():
    yield "a large default of each item", Attack(WIDGETS + DRY, lambda: widget('{"defaulted":[%s]}' % repeated("{}")), (413,))
    yield "a small default of each item", Attack(WIDGETS + DRY, lambda: widget('{"small":[%s]}' % repeated("{}")), (413,))
    yield "items of a set that all differ", Attack(WIDGETS + DRY, lambda: widget('{"set":[%s]}' % repeated(lambda i: f'"{i}"')), (201, 413))
    yield "items of a set that are all equal", Attack(WIDGETS + DRY, lambda: widget('{"set":[%s]}' % repeated('"a"')), (422,))
    yield "numbers of a set", Attack(WIDGETS + DRY, lambda: widget('{"numbers":[%s]}' % repeated(lambda i: str((i * 7919) % 1_000_003))), (201, 413))
    yield "items of a list map", Attack(WIDGETS + DRY, lambda: widget('{"map":[%s]}' % repeated(lambda i: '{"k":"%d"}' % i)), (201, 413))
    yield "items of a list map without their keys", Attack(WIDGETS + DRY, lambda: widget('{"map":[%s]}' % repeated("{}")), (422,))
    yield "numbers below a long key", Attack(WIDGETS + DRY, lambda: widget('{"integers":{"%s":[%s]}}' % ("k" * 1_000_000, repeated("1", 1_900_000))), (201, 413))
    yield "wrong types below a long key", Attack(WIDGETS + DRY, lambda: widget('{"integers":{"%s":[%s]}}' % ("k" * 1_000_000, repeated('""', 1_900_000))), (422,))
    yield "unknown fields below a long key", Attack(
        WIDGETS + DRY, lambda: widget('{"objects":{"%s":{%s}}}' % ("k" * 1_000_000, repeated(lambda i: f'"{i}":1', 1_900_000))), (201, 413))
    yield "unknown fields", Attack(WIDGETS + DRY, lambda: widget("{%s}" % repeated(lambda i: f'"{i}":1')), (201, 413))
    yield "values that a schema must not validate", Attack(
        WIDGETS + DRY, lambda: widget('{"refused":[%s]}' % repeated("-1")), (201, 413))
    yield "values with many alternatives", Attack(WIDGETS + DRY, lambda: widget('{"chosen":[%s]}' % repeated("1")), (422,))
    yield "values of a large enum", Attack(WIDGETS + DRY, lambda: widget('{"listed":[%s]}' % repeated('"value-004999"')), (201, 413, 422))
    yield "values outside of a large enum", Attack(WIDGETS + DRY, lambda: widget('{"listed":[%s]}' % repeated('""')), (422,))
    yield "texts for a pattern", Attack(WIDGETS + DRY, lambda: widget('{"matched":["%s!"]}' % ("a" * (LIMIT - 300))), (422,))
    yield "nulls that are dropped", Attack(WIDGETS + DRY, lambda: widget('{"nullable":{%s}}' % repeated(lambda i: f'"{i}":null')), (201, 413))
    yield "anything, deeply nested", Attack(WIDGETS + DRY, lambda: widget('{"any":{"a":%s}}' % ",".join([nested("[", "1", "]", 900)])), (201, 413))
    yield "a definition of many properties", Attack(
        CRDS + DRY, lambda: crd('{"type":"object","properties":{%s}}' % repeated(lambda i: '"p%d":{"type":"string"}' % i)), (201, 413))
    yield "a definition of long lists of required properties", Attack(
        CRDS + DRY, lambda: crd('{"type":"object","properties":{%s},"required":[%s]}' % (
            repeated(lambda i: '"%d":{"type":"string"}' % i, LIMIT // 2 - 2000, most=MOST_VALUES // 2),
            repeated(lambda i: f'"{i}"', LIMIT // 2 - 2000, most=MOST_VALUES // 2 - 100))), (201, 413))
    yield "a definition with a long key above its properties", Attack(
        CRDS + DRY, lambda: crd('{"type":"object","properties":{"%s":{"type":"object","properties":{%s}}}}' % ("k" * 1_000_000, repeated(lambda i: '"%d":{}' % i, 1_900_000))),
        (422,))
    yield "a definition with a default on each level", Attack(CRDS + DRY, lambda: crd(nested(
        '{"type":"object","default":{},"properties":{"a":', '{"type":"object","properties":{%s}}' % repeated(lambda i: '"%d":{"type":"string"}' % i, 1_400_000), "}}", 300)),
        (201, 413, 400))
    yield "a definition whose keys of list maps are no properties", Attack(CRDS + DRY, lambda: crd(
        '{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":[%s],"items":{"type":"object"}}' % repeated(lambda i: f'"{i}"')), (422,))
    yield "a definition of a large enum", Attack(CRDS + DRY, lambda: crd('{"type":"string","enum":[%s]}' % repeated(lambda i: f'"{i}"')), (201, 413))
    yield "a definition of rules", Attack(CRDS + DRY, lambda: crd('{"type":"object","x-kubernetes-validations":[%s]}' % repeated('{"rule":"true"}')), (201, 413, 422))
    yield "a definition with a long rule", Attack(CRDS + DRY, lambda: crd(
        '{"type":"object","x-kubernetes-validations":[{"rule":"%s"}]}' % ("1+" * (LIMIT // 2 - 600) + "1")), (201, 413, 422))


def json_attacks():
    yield "brackets", Attack(CONFIGMAPS + DRY, lambda: "[" * LIMIT, (413,))
    yield "nested objects", Attack(CONFIGMAPS + DRY, lambda: '{"a":' * (LIMIT // 5), (413,))
    yield "too many small numbers", Attack(WIDGETS + DRY, lambda: widget('{"any":{"a":[%s]}}' % repeated("1", most=LIMIT)), (413,))
    yield "too many small numbers in a patch", Attack(
        f"{WIDGETS}/one" + DRY, lambda: '{"spec":{"any":{"a":[%s]}}}' % repeated("1", most=LIMIT), (413,), "PATCH", MERGE_PATCH)
    yield "too many objects in a configuration", Attack(
        f"{WIDGETS}/new?dryRun=All&fieldManager=attacker", lambda: widget('{"map":[%s]}' % repeated(lambda i: '{"k":"%d"}' % i, most=LIMIT, keys=LIMIT)), (413,), "PATCH", APPLY)
    yield "too many keys", Attack(CONFIGMAPS + DRY, lambda: configmap("", ',"data":{%s}' % repeated(lambda i: f'"{i}":""', keys=LIMIT)), (413,))
    yield "a key again and again", Attack(CONFIGMAPS + DRY, lambda: configmap("", ',"data":{%s}' % repeated('"a":""')), (201,))
    yield "duplicate keys below a long key", Attack(WIDGETS + DRY, lambda: widget('{"any":{"%s":{%s}}}' % ("k" * 1_000_000, repeated('"a":1', 1_900_000))), (201, 413))
    yield "many duplicate keys, strictly", Attack(CONFIGMAPS + DRY + "&fieldValidation=Strict", lambda: configmap("", ',"data":{%s}' % repeated(lambda i: f'"{i // 2}":""')), (400,))
    yield "unknown fields, strictly", Attack(CONFIGMAPS + DRY + "&fieldValidation=Strict", lambda: configmap("", "," + repeated(lambda i: f'"x{i}":1')), (400,))
    yield "unknown fields, with warnings", Attack(CONFIGMAPS + DRY + "&fieldValidation=Warn", lambda: configmap("", "," + repeated(lambda i: f'"x{i}":1')), (201,))
    yield "a number of many digits", Attack(WIDGETS + DRY, lambda: widget('{"any":{"a":%s}}' % ("1" * (LIMIT - 1000))), (400,))
    yield "a fraction of many digits", Attack(WIDGETS + DRY, lambda: widget('{"any":{"a":0.%s}}' % ("1" * (LIMIT - 1000))), (201, 400))
    yield "a number too large for its type", Attack(WIDGETS + DRY, widget('{"any":{"a":1e400}}'), (400,))
    yield "escapes", Attack(CONFIGMAPS + DRY, lambda: configmap("", ',"data":{"a":"%s"}' % ("\\u0041" * (LIMIT // 6 - 100))), (201,))
    yield "small numbers", Attack(WIDGETS + DRY, lambda: widget('{"any":{"a":[%s]}}' % repeated("1")), (201, 413))
    yield "empty objects", Attack(WIDGETS + DRY, lambda: widget('{"any":{"a":[%s]}}' % repeated("{}")), (201, 413))
    yield "objects of one field", Attack(WIDGETS + DRY, lambda: widget('{"any":{"a":[%s]}}' % repeated('{"a":1}')), (201, 413))
    yield "a body without its kind", Attack(WIDGETS + DRY, lambda: '{"a":"%s"}' % ("a" * (LIMIT - 100)), (400,))


def yaml_attacks():
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: attack\n"

    def bomb():
        lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
        lines += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
        return "\n".join(lines)

    bodies = {
        "brackets": (lambda: "[" * LIMIT, (400,)),
        "braces": (lambda: "a: " + "{" * (LIMIT - 10), (400,)),
        "a long flow list": (lambda: "data: [" + repeated("a"), (400, 413)),
        "a long flow list at great depth": (lambda: "[" * 990 + repeated("a"), (400, 413)),
        "empty items": (lambda: "data:\n" + "-\n" * (LIMIT // 2 - 100), (400, 413)),
        "tag directives": (lambda: "".join(f"%TAG !a{i}! x\n" for i in range(170_000)) + "---\na: b", (400,)),
        "a long flow mapping": (lambda: head + "data: {" + repeated(lambda i: f"k{i}: a", most=99_000) + "}", (201, 413, 422)),
        "aliases of aliases": (bomb, (400,)),
        "aliases of a long text": (lambda: "a: &a " + "x" * 1_000_000 + "\nb:\n" + "- *a\n" * 300_000, (400,)),
        "anchors in anchors": (lambda: "a: " + "".join(f"&a{i} [" for i in range(900)) + repeated("b", 90_000) + "]" * 900, (400, 422)),
        "anchors": (lambda: "data:\n" + "".join(f"- &a{i} b\n" for i in range(250_000)), (400,)),
        "nested block lists": (lambda: "- " * (LIMIT // 2), (400,)),
        "complex keys": (lambda: "? " * (LIMIT // 2), (400,)),
        "tags": (lambda: head + "data:\n" + "".join(f"  k{i}: !!str a\n" for i in range(99_000)), (201, 413, 422)),
        "comments": (lambda: head + "# x\n" * (LIMIT // 4 - 100), (201,)),
        "one long comment": (lambda: head + "#" * (LIMIT - 100), (201,)),
        "a long key": (lambda: "k" * (LIMIT - 10) + ": a", (400,)),
        "a long quoted key": (lambda: '"' + "k" * (LIMIT - 10) + '": a', (400,)),
        "documents": (lambda: "---\n" * (LIMIT // 4), (400, 422)),
        "lines of a mapping": (lambda: head + "data:\n" + "".join(f"  k{i}: a\n" for i in range(99_000)), (201, 413, 422)),
        "equal keys, strictly": (lambda: head + "data:\n" + "  k: a\n" * 99_000, (400,)),
        "colons": (lambda: ":" * LIMIT, (400,)),
        "a folded text": (lambda: head + "data:\n  a: >\n" + "    x\n" * (LIMIT // 6 - 100), (201,)),
        "a quoted text of many lines": (lambda: head + 'data:\n  a: "' + "\n    x" * (LIMIT // 6 - 100) + '"', (201,)),
        "merge keys": (lambda: "a: &a {x: y}\n" + "b:\n" + "- <<: *a\n" * 300_000, (400,)),
    }
    for name, (text, codes) in bodies.items():
        path = CONFIGMAPS + DRY + ("&fieldValidation=Strict" if "strictly" in name else "")
        yield f"YAML: {name}", Attack(path, text, codes, type=YAML)


def patch_attacks():
    """Patches of the objects that prepare() creates."""
    large, keyed, env = f"{CONFIGMAPS}/large", f"{CONFIGMAPS}/keyed", "/apis/apps/v1/namespaces/default/deployments/env"

    def operations(operation, count=10_000):
        return lambda: "[%s]" % ",".join([operation] * count)

    many = f"{WIDGETS}/many"
    yield "JSON patch: more operations than allowed", Attack(large + DRY, operations('{"op":"test","path":"/kind","value":"ConfigMap"}', 10_001), (413,), "PATCH", JSON_PATCH)
    yield "JSON patch: tests of a large value", Attack(large + DRY, operations('{"op":"test","path":"/data/a","value":"x"}'), (422,), "PATCH", JSON_PATCH)
    yield "JSON patch: tests of a large list", Attack(
        many + DRY, lambda: '[%s]' % ",".join(['{"op":"copy","from":"/spec/any/a","path":"/spec/any/b"}'] + ['{"op":"test","path":"/spec/any/a/0","value":0}'] * 9_000), (200, 413, 422),
        "PATCH", JSON_PATCH)
    yield "JSON patch: moves of a large value", Attack(
        large + DRY, lambda: "[%s]" % ",".join(['{"op":"move","from":"/data/a","path":"/data/b"},{"op":"move","from":"/data/b","path":"/data/a"}'] * 5_000), (200,), "PATCH", JSON_PATCH)
    yield "JSON patch: insertions at the front", Attack(many + DRY, operations('{"op":"add","path":"/spec/any/a/0","value":1}'), (413,), "PATCH", JSON_PATCH)
    yield "JSON patch: removals at the front", Attack(many + DRY, operations('{"op":"remove","path":"/spec/any/a/0"}'), (413,), "PATCH", JSON_PATCH)
    yield "JSON patch: removals of keys", Attack(
        keyed + DRY, lambda: "[%s]" % ",".join('{"op":"remove","path":"/data/%d"}' % i for i in range(10_000)), (200, 413), "PATCH", JSON_PATCH)
    yield "JSON patch: copies that double", Attack(
        f"{WIDGETS}/one" + DRY, lambda: "[%s]" % ",".join('{"op":"copy","from":"/spec/any","path":"/spec/any/a%d"}' % i for i in range(40)), (422, 413), "PATCH", JSON_PATCH)
    yield "merge patch: nulls", Attack(keyed + DRY, lambda: '{"data":{%s}}' % repeated(lambda i: f'"{i}":null'), (200,), "PATCH", MERGE_PATCH)
    yield "strategic merge patch: nulls", Attack(keyed + DRY, lambda: '{"data":{%s}}' % repeated(lambda i: f'"{i}":null'), (200,), "PATCH", STRATEGIC)

    def container(inner):
        return lambda: '{"spec":{"template":{"spec":{"containers":[{"name":"c",%s}]}}}}' % inner()

    yield "strategic merge patch: items of a list", Attack(
        env + DRY, container(lambda: '"env":[%s]' % repeated(lambda i: '{"name":"n%d","value":"v"}' % i)), (200, 413), "PATCH", STRATEGIC)
    yield "strategic merge patch: the order of items", Attack(
        env + DRY, container(lambda: '"$setElementOrder/env":[%s]' % repeated(lambda i: '{"name":"n%d"}' % i)), (200, 413), "PATCH", STRATEGIC)
    yield "strategic merge patch: deletions of items", Attack(
        env + DRY, container(lambda: '"env":[%s]' % repeated(lambda i: '{"name":"n%d","$patch":"delete"}' % i)), (200, 413), "PATCH", STRATEGIC)
    yield "strategic merge patch: finalizers", Attack(
        large + DRY, lambda: '{"metadata":{"finalizers":[%s]}}' % repeated(lambda i: f'"a.b/{i}"'), (200, 413), "PATCH", STRATEGIC)
    yield "strategic merge patch: deletions from a list of texts", Attack(
        large + DRY, lambda: '{"metadata":{"$deleteFromPrimitiveList/finalizers":[%s]}}' % repeated(lambda i: f'"a.b/{i}"'), (200,), "PATCH", STRATEGIC)
    apply = "?dryRun=All&fieldManager=attacker"
    yield "apply: conflicts", Attack(
        keyed + apply, lambda: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"keyed"},"data":{%s}}' % repeated(lambda i: f'"{i}":"y"', 900_000), (409,), "PATCH", APPLY)
    yield "apply: a new object of many keys", Attack(
        f"{CONFIGMAPS}/new" + apply, lambda: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"},"data":{%s}}' % repeated(lambda i: f'"{i}":""'), (201, 413, 422),
        "PATCH", APPLY)
    yield "apply: items of a list map", Attack(
        f"{WIDGETS}/new" + apply, lambda: widget('{"map":[%s]}' % repeated(lambda i: '{"k":"%d"}' % i)).replace('"attack"', '"new"'), (201, 413), "PATCH", APPLY)
    yield "apply: unknown fields", Attack(
        f"{CONFIGMAPS}/new" + apply, lambda: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"},%s}' % repeated(lambda i: f'"x{i}":1'), (500, 422, 400), "PATCH", APPLY)
    yield "merge patch: a deeply nested object that hardly changes", Attack(
        f"{WIDGETS}/deep" + DRY, '{"metadata":{"labels":{"a":"b"}}}', (200,), "PATCH", MERGE_PATCH)
    def conditions(item):
        return lambda: deployment("").replace('"image":"i",}', '"image":"i"}')[:-1] + ',"status":{"conditions":[%s]}}' % repeated(item)

    yield "conditions of a status", Attack(env + "/status" + DRY, conditions(lambda i: '{"type":"t%d","status":"True"}' % i), (200, 413, 422), "PUT")
    yield "equal conditions of a status", Attack(env + "/status" + DRY, conditions('{"type":"t","status":"True"}'), (200, 413, 422), "PUT")
    yield "strategic merge patch: conditions", Attack(
        env + "/status" + DRY, lambda: '{"status":{"conditions":[%s]}}' % repeated(lambda i: '{"type":"t%d","status":"True"}' % i), (200, 413, 422), "PATCH", STRATEGIC)
    yield "update: repeated items", Attack(
        env + DRY, lambda: deployment('"env":[%s]' % repeated('{"name":"n","value":"v"}', 900_000)), (200, 413), "PUT")


def deep():
    """Returns a large value that is nested in 900 objects. A comparison of two such values must not copy the contents at every level."""
    return widget('{"any":%s}' % nested('{"a":', "{%s}" % repeated(lambda i: f'"{i}":"x"', 300_000), "}", 900)).replace('"attack"', '"deep"')


def deployment(container):
    return ('{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"env"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},'
            '"spec":{"containers":[{"name":"c","image":"i",%s}]}}}}' % container)


def pod_attacks():
    yield "empty containers", Attack(PODS + DRY, lambda: pod('"containers":[%s]' % repeated("{}")), (413, 422))
    yield "containers", Attack(PODS + DRY, lambda: pod('"containers":[%s]' % repeated(lambda i: '{"name":"c%d","image":"i"}' % i)), (201, 413))
    yield "ports", Attack(PODS + DRY, lambda: containers(',"ports":[%s]' % repeated(lambda i: '{"containerPort":%d,"name":"p%d"}' % (i % 65000 + 1, i))), (201, 413, 422))
    yield "environment variables", Attack(PODS + DRY, lambda: containers(',"env":[%s]' % repeated(lambda i: '{"name":"e%d"}' % i)), (201, 413))
    yield "equal environment variables", Attack(PODS + DRY, lambda: containers(',"env":[%s]' % repeated('{"name":"e"}')), (201, 413))
    yield "volumes and mounts", Attack(PODS + DRY, lambda: pod('"volumes":[%s],"containers":[{"name":"c","image":"i","volumeMounts":[%s]}]' % (
        repeated(lambda i: '{"name":"v%d","emptyDir":{}}' % i, LIMIT // 2 - 500, keys=MOST_KEYS // 2),
        repeated(lambda i: '{"name":"v%d","mountPath":"/%d"}' % (i, i), LIMIT // 2 - 500, keys=MOST_KEYS // 2))), (201, 413))
    yield "tolerations", Attack(PODS + DRY, lambda: pod('"containers":[{"name":"c","image":"i"}],"tolerations":[%s]' % repeated(lambda i: '{"key":"k%d","operator":"Exists"}' % i)), (201, 413))
    yield "topology constraints", Attack(PODS + DRY, lambda: pod('"containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[%s]' % repeated(
        lambda i: '{"maxSkew":1,"topologyKey":"k%d","whenUnsatisfiable":"DoNotSchedule"}' % i)), (201, 413))
    yield "affinity terms", Attack(PODS + DRY, lambda: pod(
        '"containers":[{"name":"c","image":"i"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[%s]}}}' % repeated(
            '{"matchExpressions":[{"key":"a","operator":"Exists"}]}')), (201, 413))
    yield "a quantity of many digits", Attack(PODS + DRY, lambda: containers(',"resources":{"limits":{"cpu":"%s"}}' % ("1" * (LIMIT - 300))), (400, 422))
    yield "a quantity with a huge exponent", Attack(PODS + DRY, containers(',"resources":{"limits":{"cpu":"1e1000000000"}}'), (201, 400, 422))
    yield "quantities", Attack(PODS + DRY, lambda: containers(',"resources":{"limits":{%s}}' % repeated(lambda i: '"a.b/r%d":"1.5Gi"' % i)), (201, 413, 422))
    yield "ports of a service", Attack(SERVICES + DRY, lambda: '{"metadata":{"name":"attack"},"spec":{"ports":[%s]}}' % repeated(
        lambda i: '{"port":%d,"name":"p%d"}' % (i % 65000 + 1, i)), (201, 413, 422))
    yield "node ports of a service", Attack(SERVICES + DRY, lambda: '{"metadata":{"name":"attack"},"spec":{"type":"NodePort","ports":[%s]}}' % repeated(
        lambda i: '{"port":%d,"nodePort":%d}' % (i % 65000 + 1, 30000 + i % 2000)), (413, 422))
    yield "endpoints", Attack("/api/v1/namespaces/default/endpoints" + DRY, lambda: '{"metadata":{"name":"attack"},"subsets":[{"addresses":[%s],"ports":[{"port":1}]}]}' % repeated(
        lambda i: '{"ip":"10.%d.%d.%d"}' % (i >> 16, i >> 8 & 255, i & 255)), (201, 413))
    yield "slices of endpoints", Attack("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices" + DRY, lambda: (
        '{"metadata":{"name":"attack"},"addressType":"IPv4","endpoints":[%s]}' % repeated(lambda i: '{"addresses":["10.%d.%d.%d"]}' % (i >> 16, i >> 8 & 255, i & 255))), (201, 413, 422))


def protobuf_attacks():
    name = field(1, field(1, b"attack"))
    for title, kind, raw, path, codes in (
        ("empty containers", "Pod", name + field(2, field(2, b"") * (LIMIT // 2 - 100)), PODS, (413, 422)),
        ("empty environment variables", "Pod", name + field(2, field(2, field(7, b"") * (LIMIT // 2 - 100))), PODS, (413, 422)),
        ("empty owner references", "ConfigMap", field(1, field(1, b"attack") + field(13, b"") * (LIMIT // 2 - 100)), CONFIGMAPS, (413, 422)),
        ("empty finalizers", "ConfigMap", field(1, field(1, b"attack") + field(14, b"") * (LIMIT // 2 - 100)), CONFIGMAPS, (413, 422)),
        ("unknown fields", "ConfigMap", name + b"\xf8\x07\x00" * (LIMIT // 3 - 100), CONFIGMAPS, (201,)),
        ("one field again and again", "ConfigMap", field(1, field(1, b"a") * (LIMIT // 3 - 100)), CONFIGMAPS, (413,)),
        ("empty entries of a map", "ConfigMap", name + field(2, b"") * (LIMIT // 2 - 100), CONFIGMAPS, (413,)),
    ):
        yield f"protobuf: {title}", Attack(path + DRY, protobuf(kind, raw), codes, type=PROTOBUF)


def review_attacks():
    reviews = "/apis/authorization.k8s.io/v1"
    yield "groups of an access review", Attack(f"{reviews}/subjectaccessreviews", lambda: (
        '{"spec":{"user":"u","groups":[%s],"resourceAttributes":{"verb":"get","resource":"pods"}}}' % repeated(lambda i: f'"g{i}"')), (400,))
    yield "extra fields of an access review", Attack(f"{reviews}/subjectaccessreviews", lambda: (
        '{"spec":{"user":"u","extra":{%s},"resourceAttributes":{"verb":"get","resource":"pods"}}}' % repeated(lambda i: f'"e{i}":["a"]')), (400,))
    yield "requirements of an access review", Attack(f"{reviews}/selfsubjectaccessreviews", lambda: (
        '{"spec":{"resourceAttributes":{"verb":"list","resource":"pods","labelSelector":{"requirements":[%s]}}}}' % repeated('{"key":"a","operator":"Exists"}')), (400,))
    yield "a long token", Attack("/apis/authentication.k8s.io/v1/tokenreviews", lambda: '{"spec":{"token":"%s"}}' % ("a" * (LIMIT - 100)), (201,))
    yield "a long token of three parts", Attack("/apis/authentication.k8s.io/v1/tokenreviews", lambda: '{"spec":{"token":"%s"}}' % (
        base64.urlsafe_b64encode(json.dumps({"alg": "RS256", "a": "a" * 1_000_000}).encode()).decode() + ".e30.e30"), (201,))
    yield "audiences of a token", Attack("/apis/authentication.k8s.io/v1/tokenreviews", lambda: '{"spec":{"token":"a","audiences":[%s]}}' % repeated(lambda i: f'"a{i}"'), (400,))
    yield "a long certificate request", Attack("/apis/certificates.k8s.io/v1/certificatesigningrequests" + DRY, lambda: (
        '{"metadata":{"name":"attack"},"spec":{"signerName":"a.b/c","usages":["client auth"],"request":"%s"}}' % ("QUFB" * (LIMIT // 4 - 100))), (201, 413, 422))


def apiservice_attacks():
    def apiservice(metadata="", spec=""):
        return ('{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.attacks.example.org"%s},"spec":{"group":"attacks.example.org",'
                '"version":"v1","groupPriorityMinimum":1,"versionPriority":1,"service":{"name":"a","namespace":"b"}%s}}' % (metadata, spec))

    yield "annotations of an APIService", Attack(
        APISERVICES + DRY, lambda: apiservice(',"annotations":{%s}' % repeated(lambda i: f'"a{i}":""'), ',"insecureSkipTLSVerify":true'), (422,))
    yield "owner references of an APIService", Attack(
        APISERVICES + DRY, lambda: apiservice(',"ownerReferences":[%s]' % repeated(owner()), ',"insecureSkipTLSVerify":true'), (201, 413))


def query_attacks():
    yield "requirements of a selector", Attack(PODS + "?labelSelector=" + ",".join("!a%d" % i for i in range(1000)), None, (200,), "GET")
    yield "a long list of label values", Attack(PODS + "?labelSelector=" + "a%20in%20(" + repeated(lambda i: f"v{i}", 700_000) + ")", None, (400,), "GET")
    yield "label requirements", Attack(PODS + "?labelSelector=" + repeated(lambda i: f"a{i}", 700_000), None, (400,), "GET")
    yield "bad label requirements", Attack(PODS + "?labelSelector=" + "a%20in%20(" + repeated(lambda i: f"_{i}", 700_000) + ")", None, (400,), "GET")
    yield "field requirements", Attack(PODS + "?fieldSelector=" + repeated(lambda i: f"metadata.name!=a{i}", 700_000), None, (400,), "GET")
    yield "a long continue token", Attack(PODS + "?limit=1&continue=" + "A" * 900_000, None, (400,), "GET")


FAMILIES = (metadata_attacks, managed_fields_attacks, role_attacks, schema_attacks, json_attacks, yaml_attacks, patch_attacks, pod_attacks, protobuf_attacks,
            review_attacks, apiservice_attacks, query_attacks)


# CPU seconds and megabytes of the most expensive requests, over all processes, on a busy machine. The other requests need at most USUAL.
USUAL = (0.12, 60)
MEASURED = {
    "quantities": (0.24, 60), "items of a set that all differ": (0.21, 60), "strategic merge patch: finalizers": (0.21, 70), "numbers of a set": (0.20, 60),
    "apply: items of a list map": (0.20, 65), "ports of a service": (0.19, 75), "strategic merge patch: items of a list": (0.16, 70), "ports": (0.15, 60),
    "finalizers that are no names": (0.15, 60), "YAML: anchors": (0.14, 60), "node ports of a service": (0.13, 65)}


def measured(name):
    return MEASURED.get(name, USUAL)


def all_attacks():
    return [(name, attack) for family in FAMILIES for name, attack in family()]


def prepare(server, wait_until):
    """Creates what the attacks need: a custom resource, a user who may write roles, and large objects."""
    admin = server.client
    definition = json.loads(crd("null", "widgets"))
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = WIDGET_SCHEMA
    assert admin("POST", CRDS, definition).code == 201
    wait_until(lambda: admin.answers(WIDGETS), 20, "the custom resource is served")
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    rules = [{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["create"]}]
    assert admin("POST", f"{rbac}/roles", {"metadata": {"name": "writer"}, "rules": rules}).code == 201
    assert admin("POST", f"{rbac}/rolebindings", {"metadata": {"name": "writer"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "writer"},
                                                  "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "attacker"}]}).code == 201
    objects = {
        CONFIGMAPS: [{"metadata": {"name": "large"}, "data": {"a": "x" * 900_000}},
                     {"metadata": {"name": "keyed"}, "data": {str(i): "x" for i in range(45_000)}}],
        WIDGETS: [{"apiVersion": "attacks.example.com/v1", "kind": "Widget", "metadata": {"name": "many"}, "spec": {"any": {"a": [1] * 299_000}}},
                  deep(),
                  {"apiVersion": "attacks.example.com/v1", "kind": "Widget", "metadata": {"name": "one"}, "spec": {"any": {"b": "c" * 1000}}}],
        "/apis/apps/v1/namespaces/default/deployments": [json.loads(deployment('"env":[%s]' % repeated('{"name":"n","value":"v"}', 700_000)))],
    }
    for path, bodies in objects.items():
        for body in bodies:
            answer = admin("POST", path, body if isinstance(body, str) else json.dumps(body), {"Content-Type": JSON}, timeout=60)
            assert answer.code == 201, answer.body[:300]
