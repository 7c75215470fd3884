import { useEffect, useState } from "preact/hooks";
import { ApiError, getJson } from "../../api/client";
import { pathOf, type Resource } from "../../api/discovery";
import { follow } from "../../api/watch";
import type { KubeObject } from "../../logic/yaml";

export interface Live {
  object?: KubeObject;
  deleted: boolean;
  error?: unknown;
}

/** An object, as a watch keeps it. */
export function useObject(resource: Resource, namespace: string, name: string): Live {
  const [live, setLive] = useState<Live>({ deleted: false });
  useEffect(() => {
    const abort = new AbortController();
    void keepObject(resource, namespace, name, abort.signal, setLive);
    return () => abort.abort();
  }, [resource, namespace, name]);
  return live;
}

async function keepObject(resource: Resource, namespace: string, name: string, signal: AbortSignal, publish: (live: Live) => void) {
  while (!signal.aborted) {
    try {
      const object = await getJson<KubeObject>(pathOf(resource, namespace, name), { signal });
      publish({ object, deleted: false });
      if (!resource.verbs.includes("watch")) return;
      await watchObject(resource, namespace, object, signal, publish);
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof ApiError ? error.code : 0;
      if (code === 403 || code === 404) return publish({ deleted: code === 404, error });
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function watchObject(resource: Resource, namespace: string, object: KubeObject, signal: AbortSignal, publish: (live: Live) => void) {
  const selector = encodeURIComponent(`metadata.name=${object.metadata.name}`);
  const path = `${pathOf(resource, namespace)}?watch=1&fieldSelector=${selector}&resourceVersion=${object.metadata.resourceVersion}`;
  await follow<KubeObject>(path, "application/json", signal, (events) => {
    for (const event of events) {
      if (event.type === "ADDED" || event.type === "MODIFIED") publish({ object: event.object, deleted: false });
      if (event.type === "DELETED") publish({ object: event.object, deleted: true });
    }
  });
}
