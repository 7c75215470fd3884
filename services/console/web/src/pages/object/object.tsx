import { useState } from "preact/hooks";
import { request } from "../../api/client";
import { fullName, pathOf, type Resource } from "../../api/discovery";
import { toYaml } from "../../logic/yaml";
import { go, href, type Route } from "../../router";
import { Yaml } from "../../ui/code";
import { Head } from "../../ui/shell";
import { Empty, Loading, Problem } from "../../ui/states";
import { Tabs } from "../../ui/tabs";
import { useLoaded } from "../../ui/use";
import { findResource } from "../objects/use_resources";
import { Editor } from "./editor";
import { Events } from "./events";
import { Fields } from "./fields";
import { Owners } from "./owners";
import { Summary } from "./summary";
import { useObject } from "./use_object";

const TABS = [
  { id: "yaml", label: "YAML" },
  { id: "edit", label: "Edit" },
  { id: "events", label: "Events" },
  { id: "owners", label: "Owners" },
  { id: "fields", label: "Managed fields" },
];

/** #/object/GROUP/PLURAL/NAMESPACE/NAME ("-" is the core group, or no namespace) */
export function ObjectPage({ route }: { route: Route }) {
  const [group = "-", plural = "", namespace = "-", name = ""] = route.parts;
  const found = useLoaded(() => findResource(group === "-" ? "" : group, plural), []);
  if (found.error) return <Problem error={found.error} />;
  if (found.loading) return <Loading what="the object" />;
  if (!found.value) return <Empty title={`There is no resource ${plural}`} />;
  return <OneObject resource={found.value} namespace={namespace === "-" ? "" : namespace} name={name} tab={route.query.get("tab") ?? "yaml"} route={route} />;
}

function OneObject({ resource, namespace, name, tab, route }: { resource: Resource; namespace: string; name: string; tab: string; route: Route }) {
  const live = useObject(resource, namespace, name);
  const list = href("objects", [resource.group || "-", resource.plural], { ns: namespace });
  const link = (id: string) => href("object", route.parts, { tab: id === "yaml" ? undefined : id });
  return (
    <>
      <Head title={name} note={`${resource.kind} · ${fullName(resource)}${namespace ? ` · namespace ${namespace}` : ""}`}>
        <a class="button" href={list}>
          All {resource.plural}
        </a>
        {resource.verbs.includes("delete") && <DeleteButton resource={resource} namespace={namespace} name={name} list={list} />}
      </Head>
      {live.deleted && <p class="notice">This object was deleted.</p>}
      {live.error !== undefined && !live.object && <Problem error={live.error} needs={`get on ${resource.plural}`} />}
      {!live.object && live.error === undefined && <Loading what={name} />}
      {live.object && (
        <>
          <Summary object={live.object} />
          <Tabs tabs={TABS} current={tab} link={link} />
          {tab === "yaml" && <Yaml text={toYaml(live.object)} />}
          {tab === "edit" && <Editor resource={resource} object={live.object} onSaved={() => go(link("yaml"))} />}
          {tab === "events" && <Events object={live.object} />}
          {tab === "owners" && <Owners object={live.object} resource={resource} />}
          {tab === "fields" && <Fields entries={live.object.metadata.managedFields ?? []} />}
        </>
      )}
    </>
  );
}

function DeleteButton({ resource, namespace, name, list }: { resource: Resource; namespace: string; name: string; list: string }) {
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>();
  const remove = async () => {
    try {
      await request("DELETE", pathOf(resource, namespace, name), { body: JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Background" }) });
      go(list);
    } catch (failure) {
      setAsking(false);
      setError(failure);
    }
  };
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      {asking ? (
        <span class="confirm" role="group" aria-label="Confirm the deletion">
          <button type="button" class="danger" onClick={() => void remove()}>
            Delete {name}
          </button>
          <button type="button" onClick={() => setAsking(false)}>
            Keep
          </button>
        </span>
      ) : (
        <button type="button" onClick={() => setAsking(true)}>
          Delete…
        </button>
      )}
    </>
  );
}
