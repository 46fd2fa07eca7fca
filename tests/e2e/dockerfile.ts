/** The Dockerfile, as far as it says what is in the image. */

/** A file or folder that a stage takes in. */
export interface Copy {
  readonly source: string;
  readonly target: string;
  /** From the build stage; else from the checkout. */
  readonly fromBuild: boolean;
}

/** One stage. */
export interface ImageStage {
  readonly base: string;
  readonly copies: readonly Copy[];
  readonly workdir: string;
  /** `uid:gid`. */
  readonly user: string;
  readonly entryPoint: readonly string[];
}

/** The stages in their order. @throws {Error} at an instruction that is not understood. */
export function stagesOf(dockerfile: string): ImageStage[] {
  const lines = dockerfile.replaceAll(/^#.*\n/gm, "").replaceAll(/\\\n\s*/g, "").split("\n");
  const stages: (ImageStage & { copies: Copy[] })[] = [];
  for (const line of lines.map((each) => each.trim()).filter((each) => each !== "")) {
    const [instruction = "", ...words] = line.split(/\s+/);
    if (instruction === "FROM") {
      const base = words[0] ?? "";
      stages.push({ base, copies: [], workdir: "/", user: "0:0", entryPoint: [] });
      continue;
    }
    const stage = stages.at(-1);
    if (!stage) throw new Error(`${line}: before the first FROM`);
    if (instruction === "COPY") stage.copies.push(copyOf(words));
    else Object.assign(stage, settingOf(instruction, line.slice(instruction.length).trim()));
  }
  return stages;
}

function copyOf(words: readonly string[]): Copy {
  const [source = "", target = "", ...more] = words.filter((word) => !word.startsWith("--"));
  if (more.length > 0) throw new Error(`COPY of several sources: ${words.join(" ")}`);
  return { source, target, fromBuild: words.includes("--from=build") };
}

function settingOf(instruction: string, text: string): Partial<ImageStage> {
  switch (instruction) {
    case "WORKDIR":
      return { workdir: text };
    case "USER":
      return { user: text };
    case "ENTRYPOINT":
      return { entryPoint: JSON.parse(text) };
    case "ENV":
    case "ARG":
    case "RUN":
      return {}; // of the build stage
  }
  throw new Error(`${instruction} ${text}: not understood`);
}
