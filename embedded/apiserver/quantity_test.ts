import { assertEquals } from "@std/assert";
import { canonicalQuantity } from "./quantity.ts";

Deno.test("quantities come back in canonical form", () => {
  const cases: Record<string, string> = {
    "0": "0",
    "1": "1",
    "1000m": "1",
    "1500m": "1500m",
    "0.5": "500m",
    ".25": "250m",
    "1024Mi": "1Gi",
    "128Mi": "128Mi",
    "0.5Gi": "512Mi",
    "1e3": "1k",
    "1000000": "1M",
    "100M": "100M",
    "-0.5": "-500m",
    "+2": "2",
    "0.0000000001": "1n",
    "1E": "1E",
  };
  for (const [text, canonical] of Object.entries(cases)) {
    assertEquals(canonicalQuantity(text), canonical, text);
    assertEquals(canonicalQuantity(canonical), canonical, `${text}, twice`);
  }
});

Deno.test("text that is no quantity comes back as it is", () => {
  for (const text of ["", "x", "1 Gi", "Gi", "1.2.3"]) assertEquals(canonicalQuantity(text), text);
});
