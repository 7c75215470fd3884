import { getJson, getText } from "../../api/client";
import { readDump } from "../../logic/policies";
import { href } from "../../router";
import { Empty, Loading, Problem } from "../../ui/states";
import { useLoaded, useNow } from "../../ui/use";

interface FlowSchema {
  metadata: { name: string };
  spec: { matchingPrecedence: number; priorityLevelConfiguration: { name: string }; distinguisherMethod?: { type: string } };
}

const DEBUG = "/debug/api_priority_and_fairness";

/** Priority levels with their seats and queues, and the flow schemas that lead to them. */
export function FlowControl() {
  const round = Math.floor(useNow(2000) / 2000);
  const levels = useLoaded(async (signal) => readDump(await getText(`${DEBUG}/dump_priority_levels`, { signal })), [round]);
  const queues = useLoaded(async (signal) => readDump(await getText(`${DEBUG}/dump_queues`, { signal })), [round]);
  const schemas = useLoaded((signal) => getJson<{ items?: FlowSchema[] }>("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", { signal }), []);
  return (
    <>
      <section class="card">
        <h2>Priority levels</h2>
        {levels.error !== undefined ? <Problem error={levels.error} needs={`get on the paths ${DEBUG}/*`} /> : levels.value ? <Dump rows={levels.value} /> : <Loading what="priority levels" />}
      </section>
      <section class="card">
        <h2>Queues with requests</h2>
        {queues.value && (queues.value.some(isBusy) ? <Dump rows={queues.value.filter(isBusy)} /> : <Empty title="No request waits">Requests wait here when the seats of a priority level are taken.</Empty>)}
      </section>
      <section class="card">
        <h2>Flow schemas</h2>
        {schemas.error !== undefined && <Problem error={schemas.error} needs="list on flowschemas" />}
        <div class="scroll" tabIndex={0}>
          <table class="plain">
            <thead>
              <tr>
                <th>Precedence</th>
                <th>Flow schema</th>
                <th>Priority level</th>
                <th>Flows by</th>
              </tr>
            </thead>
            <tbody>
              {[...(schemas.value?.items ?? [])]
                .sort((one, other) => one.spec.matchingPrecedence - other.spec.matchingPrecedence)
                .map((schema) => (
                  <tr key={schema.metadata.name}>
                    <td>{schema.spec.matchingPrecedence}</td>
                    <td>
                      <a href={href("object", ["flowcontrol.apiserver.k8s.io", "flowschemas", "-", schema.metadata.name])}>{schema.metadata.name}</a>
                    </td>
                    <td>{schema.spec.priorityLevelConfiguration.name}</td>
                    <td>{schema.spec.distinguisherMethod?.type.replace("By", "") ?? "one flow"}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      </section>
    </>
  );
}

function isBusy(queue: Record<string, string>): boolean {
  return ["PendingRequests", "ExecutingRequests"].some((name) => Number(queue[name]) > 0);
}

function Dump({ rows }: { rows: Record<string, string>[] }) {
  const names = Object.keys(rows[0] ?? {}).filter(Boolean);
  return (
    <div class="scroll" tabIndex={0}>
      <table class="plain numbers">
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name}>{name.replace(/([a-z])([A-Z])/g, "$1 $2")}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {names.map((name) => (
                <td key={name}>{row[name]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
