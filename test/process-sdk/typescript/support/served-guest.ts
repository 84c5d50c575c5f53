// A guest whose code is served over gRPC on loopback by the TypeScript SDK.
import { onTestFinished } from 'vitest';
import type { Components } from '../../../../components/components.ts';
import { startProcessGuest } from '../../../../host/hosting/process/process-guest.ts';
import {
  PROCESS_SETTINGS_DEFAULT,
  type ProcessSettings,
} from '../../../../host/hosting/process/process-settings.ts';
import { readProcess } from '../../../../host/hosting/process/process-source.ts';
import type { ProcessConnection } from '../../../../host/hosting/process/process-stream.ts';
import type { Guest } from '../../../../model/guest.ts';
import type { GuestLog } from '../../../../model/guest-log.ts';
import { serveProcess } from '../../../../process-sdk/typescript/index.ts';

export function connectionTo(
  address: string,
  settings: Partial<ProcessSettings> = {},
): ProcessConnection {
  return {
    address,
    service: 'carts',
    developing: true,
    settings: { ...PROCESS_SETTINGS_DEFAULT, ...settings },
  };
}

/** Starts a guest of the process at an address. */
export async function guestAt(
  connection: ProcessConnection,
  log: GuestLog = () => {},
): Promise<Guest> {
  return startProcessGuest(await readProcess(connection), { shard: 0, shards: 1 }, log);
}

/** Serves the components on a free port until the test is over, and returns a guest of them. */
export async function servedGuest(components: Components): Promise<Guest> {
  const served = await serveProcess({ ...components, port: 0 });
  onTestFinished(() => served.close());
  return guestAt(connectionTo(served.address));
}
