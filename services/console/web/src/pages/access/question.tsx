import { useState } from "preact/hooks";
import type { Resource } from "../../api/discovery";
import { fullName } from "../../api/discovery";
import type { Question } from "../../logic/rbac";
import { useResources } from "../objects/use_resources";

const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "impersonate", "bind", "escalate", "approve", "sign"];

/** The fields of a question about permissions. */
export function QuestionForm({ initial, submit, label }: { initial: Question; submit: (question: Question) => void; label: string }) {
  const resources = useResources();
  const [verb, setVerb] = useState(initial.verb);
  const [resource, setResource] = useState(initial.group ? `${initial.resource}.${initial.group}` : initial.resource);
  const [namespace, setNamespace] = useState(initial.namespace);
  const [name, setName] = useState(initial.name);
  const ask = (event: Event) => {
    event.preventDefault();
    submit({ verb, ...split(resource.trim(), resources.value ?? []), namespace: namespace.trim(), name: name.trim() });
  };
  return (
    <form class="question card" onSubmit={ask}>
      <div class="field">
        <label for="verb">Verb</label>
        <select id="verb" value={verb} onChange={(event) => setVerb(event.currentTarget.value)}>
          {VERBS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <div class="field grow">
        <label for="resource">Resource</label>
        <input id="resource" data-search list="resources" required spellcheck={false} placeholder="pods, pods/log, deployments.apps" value={resource} onInput={(event) => setResource(event.currentTarget.value)} />
        <datalist id="resources">
          {(resources.value ?? []).map((one) => (
            <option key={fullName(one)} value={fullName(one)} />
          ))}
        </datalist>
      </div>
      <div class="field">
        <label for="namespace">Namespace</label>
        <input id="namespace" placeholder="all" value={namespace} onInput={(event) => setNamespace(event.currentTarget.value)} />
      </div>
      <div class="field">
        <label for="name">Name</label>
        <input id="name" placeholder="any" value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </div>
      <button type="submit" class="primary">
        {label}
      </button>
    </form>
  );
}

/** "deployments.apps/scale" and "deployments/scale.apps" are the subresource of a group; a plural without a group is looked up. */
function split(text: string, resources: Resource[]): { group: string; resource: string } {
  const [first = "", subresource] = text.split("/");
  const dot = first.indexOf(".");
  const plural = dot < 0 ? first : first.slice(0, dot);
  const known = resources.find((one) => one.plural === plural && (dot < 0 || one.group === first.slice(dot + 1)));
  return { group: dot < 0 ? (known?.group ?? "") : first.slice(dot + 1), resource: subresource ? `${plural}/${subresource}` : plural };
}
