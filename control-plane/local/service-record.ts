// ServiceRecord: what this machine should run of one service, on disk: the last thing that the control plane has asked for, and what
// has come of it. So a service is kept as it should be before the control plane has asked again, and a generation that has failed
// is not tried again at each start.
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceKey } from '@svc/client';
import type { DesiredService, RemovedService } from '../orchestration/orchestrator.ts';
import { readJsonFile, replaceJsonFile } from './json-file.ts';

/** The image of the desired generation, as it was found when the generation was asked for. */
export interface ResolvedImage {
  /** Digest, `sha256:…`. */
  readonly digest: string;
  readonly moduleFile: string;
}

export interface ServiceRecord {
  readonly version: 1;
  readonly desired: DesiredService | RemovedService;
  /** When the rollout began, or last got on, in milliseconds since 1970. */
  readonly progressAtMs: number;
  readonly image?: ResolvedImage;
  /** True once all desired instances were ready at the same time. */
  readonly isComplete: boolean;
  /** Why the generation has failed for good. */
  readonly failure?: string;
}

export class ServiceRecords {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the records of all services. A file that is none is left alone. */
  readAll(): readonly ServiceRecord[] {
    if (!existsSync(this.#folder)) return [];
    const found: ServiceRecord[] = [];
    for (const entry of readdirSync(this.#folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const record = readJsonFile(path) as ServiceRecord | undefined;
      const key = record?.version === 1 ? record.desired?.key : undefined;
      if (key !== undefined && path === this.#fileOf(key)) found.push(record!);
    }
    return found;
  }

  write(record: ServiceRecord): void {
    const { project } = record.desired.key;
    mkdirSync(join(this.#folder, project), { recursive: true, mode: 0o700 });
    replaceJsonFile(this.#fileOf(record.desired.key), record);
  }

  remove(key: ServiceKey): void {
    rmSync(this.#fileOf(key), { force: true });
  }

  #fileOf({ project, service }: ServiceKey): string {
    return join(this.#folder, project, `${service}.json`);
  }
}
