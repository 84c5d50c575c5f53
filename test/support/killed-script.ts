// KilledScript: plays a WebhookScript with a process of the webhook service that is killed at one of its writes, and started again.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type DiskOperation, readTrace } from './crash/disk-trace.ts';
import { type Fault, FaultDisk } from './crash/fault-disk.ts';
import type { IdentityProvider } from './identity-provider/identity-provider.ts';
import { KilledWebhooks } from './killed-webhooks.ts';
import { WebhookScript } from './webhook-script.ts';
import { within } from './within.ts';

export interface KilledScriptOptions {
  readonly provider: IdentityProvider;
  /** Access token for the tenants of the script. */
  readonly token: string;
  readonly env: NodeJS.ProcessEnv;
  /** Folder for those of the processes. */
  readonly scratch: string;
}

/** Where a process is killed: at which of the changes of its folder, and whether before, in the midst of, or after it. */
export type WritePoint = Pick<Fault, 'mode' | 'kind' | 'first'>;

export interface KilledScriptEnd {
  readonly wasKilled: boolean;
  /** Broken promises. */
  readonly complaints: readonly string[];
}

/** More than a start takes while several processes start. */
const START_S = 150;
/** More than a process makes. */
const NEVER = 1_000_000;

/** Returns every point at which a process of the script can be killed. Throws if it breaks a promise without being killed. */
export async function writePoints(options: KilledScriptOptions): Promise<readonly WritePoint[]> {
  const played = new KilledScript(options, { mode: 'stop', kind: 'change', first: NEVER });
  try {
    const { complaints } = await played.end();
    if (complaints.length > 0) throw new Error(complaints.join('\n'));
    const { changes, operations } = played.seen();
    const count = (kind: DiskOperation['kind']): number =>
      operations.filter((operation) => operation.kind === kind).length;
    return [
      ...numbered(changes).map((first) => ({ mode: 'stop', kind: 'change', first }) as const),
      // What is answered is answered after a sync.
      ...numbered(count('sync')).map((first) => ({ mode: 'after', kind: 'sync', first }) as const),
      ...numbered(count('write')).map((first) => ({ mode: 'tear', kind: 'write', first }) as const),
    ];
  } finally {
    played.remove();
  }
}

/** Resolves with what is broken after the process was killed at a point, which it may not reach if it writes less than another time. */
export async function playedKilled(
  options: KilledScriptOptions,
  point: WritePoint,
): Promise<KilledScriptEnd> {
  const played = new KilledScript(options, point);
  try {
    return await played.end();
  } finally {
    played.remove();
  }
}

class KilledScript {
  readonly #folder: string;
  readonly #disk: FaultDisk;
  readonly #service: KilledWebhooks;
  readonly #script: WebhookScript;
  #starts = 0;
  #isOver = false;

  constructor({ provider, token, env, scratch }: KilledScriptOptions, point: WritePoint) {
    this.#folder = mkdtempSync(join(scratch, 'script-'));
    const cwd = join(this.#folder, 'service');
    mkdirSync(cwd);
    this.#disk = new FaultDisk(cwd, this.#folder, { traced: point.first === NEVER });
    this.#disk.control.fail(point);
    this.#service = new KilledWebhooks({ provider, cwd, env, token });
    this.#script = new WebhookScript({
      client: () => within(START_S, () => `a start: ${this.#service.stderr}`, this.#service.client),
      dataFolder: join(cwd, 'data'),
    });
  }

  /** Plays the script to its end. */
  async end(): Promise<KilledScriptEnd> {
    const running = this.#running();
    try {
      const unplayed = running.then(() => []);
      const complaints = [...(await Promise.race([this.#script.play(), unplayed]))];
      this.#isOver = true;
      await this.#service.end('SIGTERM');
      await running;
      const { hit } = this.#disk.control.counts();
      if (this.#starts === 1 && hit > 0) {
        // It was killed while it stopped.
        this.#service.start();
        complaints.push(...(await this.#script.compared()));
      }
      if (this.#service.stderr.includes('"error"')) complaints.push(this.#service.stderr);
      return { wasKilled: hit > 0, complaints };
    } catch (error) {
      return { wasKilled: true, complaints: [String(error)] };
    } finally {
      this.#isOver = true;
      await this.#service.end('SIGKILL');
    }
  }

  seen(): { readonly changes: number; readonly operations: readonly DiskOperation[] } {
    return {
      changes: this.#disk.control.counts().seen,
      operations: readTrace(this.#disk.tracePath),
    };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Resolves once the service has ended as it should. The first process has the disk at which it is killed. */
  async #running(): Promise<void> {
    this.#service.start(this.#starts++ === 0 ? { ...this.#disk.env } : {});
    const { stderr } = await this.#service.ended;
    if (this.#isOver) return;
    if (this.#starts > 1 || this.#disk.control.counts().hit === 0)
      throw new Error(`the service has ended by itself: ${stderr}`);
    await this.#service.end('SIGKILL');
    await this.#running();
  }
}

function numbered(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at + 1);
}
