import { assertEquals } from "@std/assert";
import { renderTable } from "./table.ts";

Deno.test("renderTable() aligns columns and leaves no blanks at the end of a line", () => {
  const rows = [["NAME", "READY", "MESSAGE"], ["web-and-more", "True", ""], ["db", "False", "no"]];
  assertEquals(
    renderTable(rows),
    "NAME          READY  MESSAGE\nweb-and-more  True\ndb            False  no",
  );
});
