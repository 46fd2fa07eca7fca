import { crdSuite } from "../crds/suite.ts";
import { tryRun } from "../testbed/command.ts";
import { program } from "../testbed/paths.ts";
import { Testbed } from "../testbed/testbed.ts";

Deno.test("M57 M252 M253 M254 the real API server takes the CRDs, and each of their rules acts; it takes the examples too", async (t) => {
  await using bed = await Testbed.start({ parts: ["kube"] });
  await crdSuite(t, {
    kubectl: (args, stdin) =>
      tryRun([program("kubectl"), "--kubeconfig", bed.kubeconfig, ...args], {
        ...(stdin === undefined ? {} : { stdin }),
      }),
  });
});
