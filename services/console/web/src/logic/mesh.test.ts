import { describe, expect, test } from "vitest";
import { readHealth, readProcesses, FAMILIES } from "./mesh";
import { readMetrics } from "./metrics";

describe("mesh", () => {
  const metrics = (core: number, requests: number, errors = 0) =>
    readMetrics(
      `apimesh_process_up{process="aggregator"} 1
apimesh_process_up{process="core-api"} ${core}
apimesh_served_group_version{group="",process="core-api",version="v1"} 1
apimesh_served_group_version{group="apiregistration.k8s.io",process="aggregator",version="v1"} 1
process_resident_memory_bytes 1000
process_resident_memory_bytes{process="core-api"} 2000
apiserver_longrunning_requests{group="",version="v1",verb="WATCH"} 3
apiserver_request_total{group="",version="v1",code="200",verb="GET"} ${requests}
apiserver_request_total{group="",version="v1",code="503",verb="GET"} ${errors}
apiserver_request_total{group="apiregistration.k8s.io",version="v1",code="200",verb="GET"} 5
`,
      FAMILIES,
    );
  test("processes have their groups, memory, watches and rates", () => {
    const [aggregator, core] = readProcesses({ time: 3000, samples: metrics(1, 30, 2) }, { time: 1000, samples: metrics(1, 10) });
    expect(aggregator).toMatchObject({ name: "aggregator", state: "up", memoryBytes: 1000, requestsPerSecond: 11, errorsPerSecond: 1, watches: 3 });
    expect(core).toMatchObject({ name: "core-api", state: "up", groups: ["core/v1"], memoryBytes: 2000, requestsPerSecond: 11, watches: 3 });
  });
  test("a process that does not answer is down, and counters that begin again give no rate", () => {
    const [, core] = readProcesses({ time: 3000, samples: metrics(0, 1) }, { time: 1000, samples: metrics(1, 10) });
    expect(core!.state).toBe("down");
    expect(core!.requestsPerSecond).toBeUndefined();
  });
  test("health checks", () => {
    expect(readHealth("[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n")).toEqual([
      { name: "ping", ok: true },
      { name: "etcd", ok: false },
    ]);
  });
});
