"""Creates objects in which every field has a value, from an OpenAPI v2 document."""

TIME, MICRO_TIME = "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678901Z"
META, RAW = "io.k8s.apimachinery.pkg.apis.meta.v1.", {"apiVersion": "example.com/v1", "kind": "Raw", "value": [1, "a", {"b": None}]}
# Types whose JSON is more specific than their schema.
SPECIAL = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "1500m",
    META + "Time": TIME,
    META + "MicroTime": MICRO_TIME,
    META + "FieldsV1": {"f:data": {"f:a": {}, ".": {}}},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "50%",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": RAW,
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": RAW,
}
# Fields that the reference keeps equal to another field, or for which it does not accept any text.
STEADY = {"serviceAccount": "account", "serviceAccountName": "account", "resourceVersion": None, "selfLink": None, "clusterIP": "10.0.0.77", "clusterIPs": ["10.0.0.77"]}
DEEPEST = 14


class Filler:
    def __init__(self, definitions):
        self.definitions = definitions
        self.kinds = {}
        for name, schema in definitions.items():
            for kind in schema.get("x-kubernetes-group-version-kind", []):
                self.kinds.setdefault((kind["group"], kind["version"], kind["kind"]), name)

    def object(self, version, kind, namespace):
        group, _, number = version.rpartition("/")
        made = self.fill({"$ref": "#/definitions/" + self.kinds[(group, number, kind)]}, kind, ())
        made["apiVersion"], made["kind"] = version, kind
        made["metadata"].update({"name": "codec", "uid": "6a88c39b-0000-4000-8000-000000000000"})
        made["metadata"].pop("namespace", None)
        if namespace:
            made["metadata"]["namespace"] = namespace
        return made

    def fill(self, schema, field, above):
        if field in STEADY and schema.get("type") in ("string", "array"):
            return STEADY[field]
        if reference := schema.get("$ref"):
            name = reference.removeprefix("#/definitions/")
            if name in SPECIAL:
                return SPECIAL[name]
            if name in above or len(above) > DEEPEST:  # recursive schemas
                return None
            return self.fill(self.definitions[name], field, (*above, name))
        kind = schema.get("type")
        if kind == "array":
            item = self.fill(schema["items"], field + "Item", above)
            return None if item is None else [item]
        if "properties" in schema or kind == "object":
            return self.fields(schema, above)
        if kind == "string":
            return {"byte": "AAEC/w==", "date-time": TIME, "int-or-string": "50%"}.get(schema.get("format"), (schema.get("enum") or [f"{field}-text"])[0])
        return {"integer": 7, "number": 1.5, "boolean": True}.get(kind, "any")

    def fields(self, schema, above):
        if more := schema.get("additionalProperties"):
            value = self.fill(more, "value", above)
            return None if value is None else {"key": value}
        values = {name: self.fill(part, name, above) for name, part in schema.get("properties", {}).items()}
        return {name: value for name, value in values.items() if value is not None}
