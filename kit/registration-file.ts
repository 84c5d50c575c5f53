// RegistrationFile is the file by which a console on this machine finds a service: `PID.json` in the folder of
// running services, and `PID-INSTANCE.json` for each further service of one process. Only the user who runs the service
// may read the file. The file is written atomically, and removed when the service stops or the process ends. The file
// of a killed process stays (stale-registrations.ts), so a reader has to ask at the address in the file whether the
// service still runs.
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Registration {
  readonly name: string;
  /** Distinguishes this instance of a service from every other, including those of a later process with the same id. */
  readonly instanceId: string;
  readonly pid: number;
  /** `http://127.0.0.1:PORT` */
  readonly observabilityAddress: string;
  /** ISO 8601, in UTC. */
  readonly startedAt: string;
}

/** Files of this process's services, indexed by their paths. */
const own = new Map<string, RegistrationFile>();

/** Removes the files when the process ends without stopping its services, for example through an unexpected error. */
function removeAll(): void {
  for (const file of own.values()) file.remove();
}

export class RegistrationFile {
  readonly #path: string;
  readonly #instanceId: string;

  /** Writes the file. Throws the errors of the file system. */
  constructor(folder: string, registration: Registration) {
    const { pid, instanceId } = registration;
    const first = join(folder, `${pid}.json`);
    this.#path = own.has(first) ? join(folder, `${pid}-${instanceId}.json`) : first;
    this.#instanceId = instanceId;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const written = join(folder, `.${pid}-${instanceId}.tmp`);
    try {
      writeFileSync(written, `${JSON.stringify(registration)}\n`, { flag: 'wx', mode: 0o600 });
      // A file that another process with the same id has left is replaced.
      renameSync(written, this.#path);
    } catch (error) {
      rmSync(written, { force: true });
      throw error;
    }
    if (own.size === 0) process.on('exit', removeAll);
    own.set(this.#path, this);
  }

  /** Removes the file. May be called again. Never throws: readers ignore a file whose address nothing answers. */
  remove(): void {
    own.delete(this.#path);
    if (own.size === 0) process.off('exit', removeAll);
    try {
      // Reading anything but a regular file might never end.
      if (!lstatSync(this.#path).isFile()) return;
      // Machines or containers that share a folder may use the same process id.
      const { instanceId } = JSON.parse(readFileSync(this.#path, 'utf8')) as Partial<Registration>;
      if (instanceId === this.#instanceId) rmSync(this.#path, { force: true });
    } catch {
      // The file is gone, or belongs to another process.
    }
  }
}
