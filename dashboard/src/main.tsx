import { render } from "preact";
import { App } from "./app.tsx";
import { apply } from "./ui/theme.ts";
import "./style.css";

apply();
const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root element");
render(<App />, root);
