"""Uses a server as a program in Python does: lists, creates, watches, patches, applies and deletes objects with the package kubernetes."""
from kubernetes import client, config, dynamic, watch

config.load_kube_config()
core, apps = client.CoreV1Api(), client.AppsV1Api()
NAME, NAMESPACE = "from-python", "default"

assert NAMESPACE in [item.metadata.name for item in core.list_namespace().items]
version = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
assert core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": NAME}, "data": {"key": "1"}}).metadata.uid
core.patch_namespaced_config_map(NAME, NAMESPACE, {"data": {"key": "2"}})
maps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")
maps.server_side_apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": {"key": "3"}}, name=NAME, namespace=NAMESPACE, field_manager="python", force_conflicts=True)
assert core.read_namespaced_config_map(NAME, NAMESPACE).data == {"key": "3"}
try:
    core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": NAME}})
    raise AssertionError("a second object of this name is refused")
except client.ApiException as error:
    assert error.status == 409 and '"reason":"AlreadyExists"' in error.body

labels = {"app": NAME}
template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
made = apps.create_namespaced_deployment(NAMESPACE, {"metadata": {"name": NAME}, "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}})
assert made.spec.strategy.type == "RollingUpdate"
apps.patch_namespaced_deployment_scale(NAME, NAMESPACE, {"spec": {"replicas": 3}})
assert apps.read_namespaced_deployment(NAME, NAMESPACE).spec.replicas == 3
apps.delete_namespaced_deployment(NAME, NAMESPACE)
core.delete_namespaced_config_map(NAME, NAMESPACE)

# The watch resumes at the list, so it has all events of the object.
events = []
for event in watch.Watch().stream(core.list_namespaced_config_map, NAMESPACE, resource_version=version, field_selector=f"metadata.name={NAME}", timeout_seconds=30):
    events.append(f"{event['type']} {event['object'].data['key']}")
    if event["type"] == "DELETED":
        break
assert events == ["ADDED 1", "MODIFIED 2", "MODIFIED 3", "DELETED 3"], events
print("ok")
