// Where the application starts: the token stands in the page that the server gave.
import { render } from "preact";
import { Api, tokenOf } from "./api";
import { Application } from "./application";

const element = document.getElementById("heedmap");
if (element) render(<Application api={new Api(tokenOf(document))} />, element);
