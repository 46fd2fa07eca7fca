import { assertEquals, assertRejects } from "@std/assert";
import { CommandError } from "../errors.ts";
import { readManifests } from "./manifests.ts";

async function withFolder(
  files: Record<string, string>,
  test: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

Deno.test("readManifests() reads all documents of all files, in the order of their names", async () => {
  const second = CONFIG_MAP.replace("name: a", "name: b");
  const files = {
    "2.yaml": CONFIG_MAP,
    "1.yml": `---\n${second}---\n# nothing\n---\n${second}`,
    "notes.txt": "no manifest",
  };
  await withFolder(files, async (folder) => {
    const manifests = await readManifests(folder);
    assertEquals(manifests.map(({ object }) => object.metadata.name), ["b", "b", "a"]);
    assertEquals(manifests[2]?.file, `${folder}/2.yaml`);
  });
});

Deno.test("readManifests() names the file of what it cannot read", async () => {
  const bad = { "a: [": "broken.yaml", "kind: X": "no-object.yaml" };
  for (const [text, name] of Object.entries(bad)) {
    await withFolder({ [name]: text }, async (folder) => {
      await assertRejects(() => readManifests(folder), CommandError, `${folder}/${name}`);
    });
  }
  await withFolder({}, async (folder) => {
    await assertRejects(() => readManifests(folder), CommandError, "no .yaml files");
    await assertRejects(() => readManifests(`${folder}/x`), CommandError, "cannot be read");
  });
});
