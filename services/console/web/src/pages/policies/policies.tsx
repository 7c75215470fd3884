import { href, type Route } from "../../router";
import { Head } from "../../ui/shell";
import { Tabs } from "../../ui/tabs";
import { AdmissionPolicies } from "./admission_policies";
import { FlowControl } from "./flow_control";
import { Webhooks } from "./webhooks";

const TABS = [
  { id: "webhooks", label: "Webhooks" },
  { id: "admission", label: "Admission policies" },
  { id: "flow", label: "Priority and fairness" },
];

export function Policies({ route }: { route: Route }) {
  const tab = route.parts[0] ?? "webhooks";
  return (
    <>
      <Head title="Policies" note="What can refuse, change or delay a request" />
      <Tabs tabs={TABS} current={tab} link={(id) => href("policies", [id])} />
      {tab === "webhooks" && <Webhooks />}
      {tab === "admission" && <AdmissionPolicies />}
      {tab === "flow" && <FlowControl />}
    </>
  );
}
