export { installPythonPackages } from "../../../release/python-packages.ts";
