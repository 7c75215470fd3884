import { getJson } from "../../api/client";
import { pathOf, type Resource } from "../../api/discovery";
import type { KubeObject } from "../../logic/yaml";
import { Empty, Loading, Problem } from "../../ui/states";
import { useLoaded } from "../../ui/use";
import { objectHref } from "../objects/object_table";
import { findKind, resources } from "../objects/use_resources";

interface Entry {
  depth: number;
  kind: string;
  name: string;
  link?: string;
  current?: boolean;
}

const LIMIT = 500;
/** Kinds that controllers create for others, and that are asked for objects owned by this one. */
const OWNED = ["pods", "replicasets", "jobs", "controllerrevisions", "endpointslices", "persistentvolumeclaims"];

/** The owners of an object up to the root, and the objects that it owns in its namespace. */
export function Owners({ object, resource }: { object: KubeObject; resource: Resource }) {
  const tree = useLoaded((signal) => readTree(object, resource, signal), [object.metadata.uid]);
  if (tree.error) return <Problem error={tree.error} />;
  if (!tree.value) return <Loading what="owners" />;
  if (tree.value.length === 1) return <Empty title="No owner, and owns nothing">Owner references connect objects with those that are deleted together with them.</Empty>;
  return (
    <ul class="tree">
      {tree.value.map((entry, index) => (
        <li key={index} class={`depth-${Math.min(entry.depth, 8)} ${entry.current ? "current" : ""}`}>
          <span class="muted">{entry.kind}</span> {entry.link && !entry.current ? <a href={entry.link}>{entry.name}</a> : entry.name}
        </li>
      ))}
    </ul>
  );
}

async function readTree(object: KubeObject, resource: Resource, signal: AbortSignal): Promise<Entry[]> {
  const entries = await readOwners(object, signal);
  entries.reverse().forEach((entry, depth) => (entry.depth = depth));
  const depth = entries.length;
  entries.push({ depth, kind: resource.kind, name: object.metadata.name, current: true });
  await addOwned(object.metadata.uid!, object.metadata.namespace, depth + 1, entries, signal);
  return entries;
}

async function readOwners(object: KubeObject, signal: AbortSignal): Promise<Entry[]> {
  const entries: Entry[] = [];
  let current: KubeObject | undefined = object;
  while (current && entries.length < 8) {
    const references: NonNullable<KubeObject["metadata"]["ownerReferences"]> = current.metadata.ownerReferences ?? [];
    const owner = references.find((one) => one.controller) ?? references[0];
    if (!owner) break;
    const kind = await findKind(owner.apiVersion, owner.kind);
    const namespace = kind?.namespaced ? object.metadata.namespace : undefined;
    entries.push({ depth: 0, kind: owner.kind, name: owner.name, link: kind && objectHref(kind, namespace, owner.name) });
    current = kind && (await getJson<KubeObject>(pathOf(kind, namespace, owner.name), { signal }).catch(() => undefined));
  }
  return entries;
}

/** Objects of a resource that the user may not list are left out. */
async function addOwned(uid: string, namespace: string | undefined, depth: number, entries: Entry[], signal: AbortSignal): Promise<void> {
  if (depth > 6 || entries.length > LIMIT) return;
  const kinds = (await resources()).filter((one) => OWNED.includes(one.plural) && one.namespaced);
  for (const kind of kinds) {
    const list = await getJson<{ items?: KubeObject[] }>(`${pathOf(kind, namespace)}?limit=${LIMIT}`, { signal }).catch(() => ({ items: [] }));
    for (const item of list.items ?? []) {
      if (!item.metadata.ownerReferences?.some((owner) => owner.uid === uid)) continue;
      entries.push({ depth, kind: kind.kind, name: item.metadata.name, link: objectHref(kind, item.metadata.namespace, item.metadata.name) });
      await addOwned(item.metadata.uid!, item.metadata.namespace, depth + 1, entries, signal);
    }
  }
}
