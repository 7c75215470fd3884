import { describe, expect, test } from "vitest";
import { readMetrics } from "./metrics";
import { countCalls, countChecks, readDump } from "./policies";

describe("policies", () => {
  test("calls of webhooks are counted by their result", () => {
    const samples = readMetrics(
      `apiserver_admission_webhook_rejection_count{error_type="no_error",name="w"} 2
apiserver_admission_webhook_rejection_count{error_type="calling_webhook_error",name="w"} 3
apiserver_admission_webhook_request_total{code="200",name="w"} 7
apiserver_admission_webhook_fail_open_count{name="w"} 1
apiserver_validating_admission_policy_check_total{policy="p",enforcement_action="deny",error_type="no_error"} 4
`,
      new Set(["apiserver_admission_webhook_rejection_count", "apiserver_admission_webhook_request_total", "apiserver_admission_webhook_fail_open_count", "apiserver_validating_admission_policy_check_total"]),
    );
    expect(countCalls(samples).get("w")).toEqual({ calls: 7, refused: 2, failed: 3, ignored: 1 });
    expect(countChecks(samples).get("p")).toEqual({ deny: 4 });
  });
  test("dumps are read by their head", () => {
    expect(readDump("A,   B,\nx,   1,\n\n")).toEqual([{ A: "x", B: "1", "": "" }]);
  });
});
