// Starts the page: loads the program and hands it the whole document. A file of its own, since the
// Content-Security-Policy allows no inline script. scripts/build-editor fills in the two names.
import init from "./{{glue}}";

init({ module_or_path: new URL("./{{wasm}}", import.meta.url) }).catch((error) => {
  const note = document.createElement("p");
  note.setAttribute("role", "alert");
  note.textContent = `Weir could not start in this browser: ${error}. Reload the page; if it stays, use a current browser.`;
  document.body.replaceChildren(note);
});
