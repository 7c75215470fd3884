import { render } from "preact";
import { App } from "./app";
import { applyTheme } from "./ui/theme";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/controls.css";
import "./styles/table.css";
import "./styles/code.css";
import "./styles/mesh.css";

applyTheme();
render(<App />, document.getElementById("app")!);
