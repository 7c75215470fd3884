// Uses a server as a program in JavaScript does: lists, creates, watches, patches, applies and deletes objects with @kubernetes/client-node.
import assert from 'node:assert/strict';
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const namespace = 'default';
const name = 'from-javascript';

const namespaces = await core.listNamespace();
assert.ok(namespaces.items.some((item) => item.metadata.name === namespace));

// The watch begins at the version of a list, and ends with the deletion.
const listed = await core.listNamespacedConfigMap({ namespace });
const events = [];
const deleted = new Promise((resolve, reject) => {
  new k8s.Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`, { resourceVersion: listed.metadata.resourceVersion }, (type, object) => {
    if (object.metadata.name !== name) return;
    events.push(`${type} ${object.data?.key}`);
    if (type === 'DELETED') resolve();
  }, (error) => error && reject(error)).then((controller) => deletedController = controller);
});
let deletedController;

const created = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { key: '1' } } });
assert.ok(created.metadata.uid);
await core.patchNamespacedConfigMap({ namespace, name, body: { data: { key: '2' } } }, k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch));
await objects.patch({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { key: '3' } }, undefined, undefined, 'javascript', true, k8s.PatchStrategy.ServerSideApply);
assert.equal((await core.readNamespacedConfigMap({ namespace, name })).data.key, '3');
await assert.rejects(core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } }), (error) => error.code === 409);

const labels = { app: name };
const deployment = await apps.createNamespacedDeployment({ namespace, body: {
  metadata: { name }, spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } } } } });
assert.equal(deployment.spec.strategy.type, 'RollingUpdate');
await apps.replaceNamespacedDeploymentScale({ namespace, name, body: { ...(await apps.readNamespacedDeploymentScale({ namespace, name })), spec: { replicas: 3 } } });
assert.equal((await apps.readNamespacedDeployment({ namespace, name })).spec.replicas, 3);
await apps.deleteNamespacedDeployment({ namespace, name });

await core.deleteNamespacedConfigMap({ namespace, name });
await deleted;
deletedController?.abort();
assert.deepEqual(events, ['ADDED 1', 'MODIFIED 2', 'MODIFIED 3', 'DELETED 3']);
console.log('ok');
process.exit(0);
