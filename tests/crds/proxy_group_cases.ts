import type { Case, Fields } from "./cases.ts";

const kind = "TailscaleProxyGroup";
const spec = (fields: Fields = {}): Fields => ({ tailnet: "corp", type: "egress", ...fields });
const proxy = (fields: Fields): Fields => spec({ proxy: fields });

export const proxyGroupCases: readonly Case[] = [
  {
    asks: "privileged is only for networking: Kernel",
    kind,
    accepted: [
      spec(),
      proxy({ networking: "Kernel", privileged: true, image: "tailscale/tailscale:v1.98.4" }),
    ],
    refused: [proxy({ privileged: true })],
  },
  {
    asks: "a type of the three",
    schemaSays: /spec\.type: (Unsupported value|Required value)/,
    kind,
    accepted: ["ingress", "egress", "bidirectional"].map((type) => spec({ type })),
    refused: [spec({ type: "both" }), { tailnet: "corp" }],
  },
  {
    asks: "0 to 64 replicas",
    schemaSays: /spec\.replicas: Invalid value/,
    kind,
    accepted: [spec({ replicas: 0 }), spec({ replicas: 64 })],
    refused: [spec({ replicas: -1 }), spec({ replicas: 65 })],
  },
];
