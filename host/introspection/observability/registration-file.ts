// RegistrationFile is the file by which a console on this machine finds a service: `PID.json` in the folder of running
// services, and `PID-INSTANCE.json` for each further service of one process. Only its user may read it. It is written as a
// whole, and removed when the process ends, unless the process was killed; a reader knows by its address whether it still
// means something.
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Registration {
  readonly name: string;
  /** Tells this process from every other, also from one that has its number later. */
  readonly instanceId: string;
  readonly pid: number;
  /** `http://127.0.0.1:PORT` */
  readonly observabilityAddress: string;
  /** ISO 8601, in UTC. */
  readonly startedAt: string;
}

/** The files of services of this process, by their paths. */
const own = new Map<string, RegistrationFile>();

/** A process may end without stopping its services: by an error that nobody expected. */
function removeAll(): void {
  for (const file of own.values()) file.remove();
}

export class RegistrationFile {
  readonly #path: string;
  readonly #instanceId: string;

  /** Throws what the file system says. */
  constructor(folder: string, registration: Registration) {
    const { pid, instanceId } = registration;
    const first = join(folder, `${pid}.json`);
    this.#path = own.has(first) ? join(folder, `${pid}-${instanceId}.json`) : first;
    this.#instanceId = instanceId;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const written = join(folder, `.${pid}-${instanceId}.tmp`);
    try {
      writeFileSync(written, `${JSON.stringify(registration)}\n`, { flag: 'wx', mode: 0o600 });
      // One that a process of the same number has left is replaced.
      renameSync(written, this.#path);
    } catch (error) {
      rmSync(written, { force: true });
      throw error;
    }
    if (own.size === 0) process.on('exit', removeAll);
    own.set(this.#path, this);
  }

  /** May be called again. Never throws: what is left is ignored once nothing answers at its address. */
  remove(): void {
    own.delete(this.#path);
    if (own.size === 0) process.off('exit', removeAll);
    try {
      // What is no file by now may be one that is never read to its end.
      if (!lstatSync(this.#path).isFile()) return;
      // Who shares a folder with another machine or container may share the number too.
      const { instanceId } = JSON.parse(readFileSync(this.#path, 'utf8')) as Partial<Registration>;
      if (instanceId === this.#instanceId) rmSync(this.#path, { force: true });
    } catch {
      // It is gone, or is somebody else's.
    }
  }
}
