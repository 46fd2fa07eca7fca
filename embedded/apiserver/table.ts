/**
 * Tables: lists, objects and watches as `kubectl get` asks for them.
 *
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { columnsOf } from "./columns.ts";
import { ageText } from "./durations.ts";
import { isMap, type Json, type JsonMap, mapAt, mapsIn } from "./json.ts";
import { jsonPathValues } from "./json_path.ts";
import type { ResourceRoute } from "./route.ts";
import type { PrinterColumn } from "./types.ts";

/** What a table needs to know of a request. */
export interface TableContext {
  readonly route: ResourceRoute;
  readonly params: URLSearchParams;
  readonly clock: Clock;
}

/** The table that a request prefers to plain objects, if it does. */
export function tableFor(request: Request, context: TableContext): Table | undefined {
  const [preferred = ""] = (request.headers.get("accept") ?? "").split(",");
  const parts = preferred.split(";").map((part) => part.trim());
  const asked = parts[0] === "application/json" && parts.includes("as=Table") &&
    parts.includes("g=meta.k8s.io") && parts.includes("v=v1");
  return asked ? new Table(context) : undefined;
}

const NAME: PrinterColumn = {
  name: "Name",
  type: "string",
  jsonPath: ".metadata.name",
  description: "The name of the object.",
};

/** Turns what a plain answer would hold into `meta.k8s.io/v1` Tables. */
export class Table {
  readonly #columns: readonly PrinterColumn[];
  readonly #clock: Clock;
  readonly #include: string;

  constructor({ route, params, clock }: TableContext) {
    this.#columns = [NAME, ...columnsOf(route.type)];
    this.#clock = clock;
    this.#include = params.get("includeObject") ?? "Metadata";
  }

  ofList(list: JsonMap): JsonMap {
    return this.#table(mapAt(list, "metadata") ?? {}, mapsIn(list["items"]));
  }

  ofObject(object: JsonMap): JsonMap {
    const resourceVersion = mapAt(object, "metadata")?.["resourceVersion"] ?? "";
    return this.#table({ resourceVersion }, [object]);
  }

  /** A bookmark has no row: nobody is to see it. */
  ofEvent(type: string, object: JsonMap): JsonMap {
    return type === "BOOKMARK"
      ? this.#table(mapAt(object, "metadata") ?? {}, [])
      : this.ofObject(object);
  }

  #table(metadata: JsonMap, objects: readonly JsonMap[]): JsonMap {
    return {
      kind: "Table",
      apiVersion: "meta.k8s.io/v1",
      metadata,
      columnDefinitions: this.#columns.map(definition),
      rows: objects.map((object) => this.#row(object)),
    };
  }

  #row(object: JsonMap): JsonMap {
    const cells = this.#columns.map((column) => this.#cell(column, object));
    if (this.#include === "None") return { cells };
    const metadata = mapAt(object, "metadata") ?? {};
    const part = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
    return { cells, object: this.#include === "Object" ? object : part };
  }

  #cell({ type, jsonPath }: PrinterColumn, object: JsonMap): Json {
    const values = jsonPathValues(jsonPath, object);
    const [value] = values;
    if (type === "date") return ageText(value, this.#clock.now());
    if (value === undefined || value === null) return type === "string" ? "" : null;
    if (type !== "string") return value;
    return values.map((one) => isMap(one) || Array.isArray(one) ? JSON.stringify(one) : String(one))
      .join(",");
  }
}

function definition({ name, type, description = "", wide }: PrinterColumn): JsonMap {
  return {
    name,
    type: type === "date" ? "string" : type,
    format: name === NAME.name ? "name" : "",
    description,
    priority: wide ? 1 : 0,
  };
}
