/**
 * What the status of a TailscaleTailnet says.
 *
 * @module
 */
import { conditionsFrom, no, type Verdict, yes } from "../../core/conditions.ts";
import type { TailnetDevice } from "../../core/device.ts";
import {
  TailscaleTailnetCondition as Type,
  TailscaleTailnetReason as Reason,
  type TailscaleTailnetStatus,
} from "../../api/tailscale_tailnet.ts";
import type { Failure } from "../world.ts";
import type { TailnetObserved } from "./observe.ts";

/** The MagicDNS suffix that the tailnet's own devices have; undefined where there is none. */
export function magicDNSSuffix(devices: readonly TailnetDevice[]): string | undefined {
  const own = devices.find((device) => !device.isExternal && device.name.includes("."));
  return own?.name.slice(own.name.indexOf(".") + 1);
}

/** What the status is made of beside the observation. */
export interface Judgement {
  /** Why the credential cannot be used; absent where it can. */
  readonly failure: Failure | undefined;
  /** Why the tailnet is not ready although the credential may work. */
  readonly notReady?: Failure;
  readonly now: number;
}

/** The whole status. */
export function statusOf(o: TailnetObserved, judgement: Judgement): TailscaleTailnetStatus {
  const { metadata, status } = o.tailnet;
  return {
    ...deviceFacts(o),
    ...credentialFacts(o),
    usedBy: o.usedBy,
    conditions: conditionsFrom(verdictsOf(o, judgement), status?.conditions, {
      now: judgement.now,
      generation: metadata.generation,
    }),
  };
}

/** The credential that was tried; its scopes where Tailscale told them. */
function credentialFacts(
  { state, secret }: TailnetObserved,
): Pick<TailscaleTailnetStatus, "credential"> {
  if (!secret || !state?.check) return {};
  const { check, clientID } = state;
  const { resourceVersion } = secret.metadata;
  return {
    credential: {
      clientID,
      ...(resourceVersion ? { secretResourceVersion: resourceVersion } : {}),
      ...("failure" in check ? {} : {
        ...(check.scopes.length > 0 ? { scopes: [...check.scopes] } : {}),
        missingScopes: [...check.missing],
      }),
    },
  };
}

/** What the list of devices tells; what was told before while none was read. */
function deviceFacts(
  { state, tailnet, organization }: TailnetObserved,
): Pick<TailscaleTailnetStatus, "tailnetInfo" | "deviceCount" | "connectedDevices"> {
  if (state?.fetchedAt === undefined) {
    const { tailnetInfo, deviceCount, connectedDevices } = tailnet.status ?? {};
    return {
      ...(tailnetInfo ? { tailnetInfo } : {}),
      ...(deviceCount === undefined ? {} : { deviceCount }),
      ...(connectedDevices === undefined ? {} : { connectedDevices }),
    };
  }
  const suffix = magicDNSSuffix(state.devices);
  const info = {
    ...(suffix ? { name: suffix, magicDNSSuffix: suffix } : {}),
    ...(organization ? { organization } : {}),
  };
  return {
    ...(Object.keys(info).length > 0 ? { tailnetInfo: info } : {}),
    deviceCount: state.devices.length,
    connectedDevices: state.devices.filter((device) => device.connectedToControl).length,
  };
}

function verdictsOf(o: TailnetObserved, { failure, notReady = failure }: Judgement): Verdict[] {
  const authenticated = failure ? no(Type.Authenticated, failure.reason, failure.message) : yes(
    Type.Authenticated,
    Reason.Authenticated,
    `The OAuth client ${o.state?.clientID ?? ""} was accepted.`,
  );
  return [
    authenticated,
    notReady
      ? no(Type.Ready, notReady.reason, notReady.message)
      : yes(Type.Ready, Reason.Ready, "The tailnet can be used."),
  ];
}
