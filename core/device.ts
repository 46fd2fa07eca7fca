/**
 * A device of a tailnet, as far as the pure code cares.
 *
 * @module
 */

/** One device, as Tailscale's API lists it. */
export interface TailnetDevice {
  /** The stable node id, which state Secrets hold as `device_id`. */
  readonly nodeId: string;
  /** The full MagicDNS name without a trailing dot, with any `-1` suffix. */
  readonly name: string;
  /** The name that the device asked for. */
  readonly hostname: string;
  readonly addresses: readonly string[];
  readonly tags: readonly string[];
  readonly connectedToControl: boolean;
  /** True for a device that another tailnet shares with this one. */
  readonly isExternal: boolean;
  /** RFC 3339; absent while the device is connected. */
  readonly lastSeen?: string | undefined;
}

/** The device of that MagicDNS name (a trailing dot and case do not matter). */
export function deviceByName(
  devices: readonly TailnetDevice[],
  name: string,
): TailnetDevice | undefined {
  const wanted = name.replace(/\.$/, "").toLowerCase();
  return devices.find((device) => device.name.toLowerCase() === wanted);
}

/** The device that has this address. */
export function deviceByAddress(
  devices: readonly TailnetDevice[],
  address: string,
): TailnetDevice | undefined {
  return devices.find((device) => device.addresses.includes(address));
}
