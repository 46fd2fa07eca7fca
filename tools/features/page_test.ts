import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { type Area, featuresPage } from "./page.ts";
import { titlesIn } from "./titles.ts";

const AREAS: Area[] = [
  { area: "Kinds & more", rows: { M1: "one group", M2: "a | b" } },
  { area: "Program", rows: { D1: "one file" } },
];

Deno.test("titlesIn() finds titles of any quotes that begin with rows, and no others", () => {
  const source = `
    Deno.test("M1 D1 it \\"works\\"", f);
    await t.step('M2 steps too', f);
    Deno.test(\`M2 of \${name} it says\`, f);
    Deno.test("says M1 later", f);
    const x = "M1";
  `;
  assertEquals(titlesIn("a_test.ts", source), [
    { file: "a_test.ts", title: 'it "works"', rows: ["M1", "D1"] },
    { file: "a_test.ts", title: "steps too", rows: ["M2"] },
    { file: "a_test.ts", title: "of … it says", rows: ["M2"] },
  ]);
});

Deno.test("the page counts rows, links tests by file and says which rows have none", () => {
  const page = featuresPage(AREAS, [
    { file: "api/a_test.ts", title: "one", rows: ["M1"] },
    { file: "api/a_test.ts", title: "two", rows: ["M1"] },
    { file: "tests/e2e/b_test.ts", title: "real", rows: ["M1"] },
  ]);
  assertStringIncludes(page, "**1 of 3 rows** are named by a test, 1 of them also on");
  assertStringIncludes(page, "| [Kinds & more](#kinds--more) | 2 | 1 | 1 |");
  assertStringIncludes(
    page,
    "| M1 | one group | [api/a_test.ts](../api/a_test.ts)<br>– one<br>– two<br>" +
      "★ [tests/e2e/b_test.ts](../tests/e2e/b_test.ts)<br>– real |",
  );
  assertStringIncludes(page, "- Kinds & more: M2\n- Program: D1\n");
  assertStringIncludes(page, "| M2 | a \\| b | no test yet |");
});

Deno.test("a title that names no row, or a row that is there twice, is an error", () => {
  const test = { file: "a_test.ts", title: "t", rows: ["M9"] };
  assertThrows(() => featuresPage(AREAS, [test]), Error, 'a_test.ts: "t" names M9');
  assertThrows(() => featuresPage([...AREAS, AREAS[0]!], []), Error, "row M1 twice");
});
