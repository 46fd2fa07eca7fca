/**
 * The tailnet's settings, to read.
 *
 * @module
 */
import type { Route } from "./router.ts";

/** `tailnet/:tailnet/settings` and `tailnet/:tailnet/dns/preferences`. */
export function settingsRoutes(): Route[] {
  return [
    {
      method: "GET",
      pattern: "tailnet/:tailnet/settings",
      scope: "feature_settings",
      access: "read",
      handle: () => ({
        devicesApprovalOn: false,
        devicesKeyDurationDays: 180,
        httpsEnabled: true,
        usersApprovalOn: false,
      }),
    },
    {
      method: "GET",
      pattern: "tailnet/:tailnet/dns/preferences",
      scope: "dns",
      access: "read",
      handle: () => ({ magicDNS: true }),
    },
  ];
}
