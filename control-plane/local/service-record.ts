// ServiceRecord: what this machine should run of one service, on disk: the last thing that the control plane has asked for, and what
// has come of it. So a service is kept as it should be before the control plane has asked again, and a generation that has failed
// is not tried again at each start.
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ServiceKey } from '@svc/client';
import type { DesiredService, RemovedService } from '../orchestration/orchestrator.ts';
import { readJsonFile, replaceJsonFile } from './json-file.ts';
import { type BootTime, bootTimeIn } from './local-clock.ts';

/** The image of the desired generation, as it was found when the generation was asked for. */
export interface ResolvedImage {
  /** Digest, `sha256:…`. */
  readonly digest: string;
  /** The module; undefined if the image is a program. */
  readonly moduleFile?: string;
  /** Folder with all files of the image; undefined if it has a module. */
  readonly imageFolder?: string;
  /** The image as the descriptor named it. Undefined in a record of an earlier version. */
  readonly name?: string;
  /** Protocol in the label of the image, if it has one. */
  readonly protocol?: string;
  /** Version of svc in the label of the image, if it has one. Undefined in a record of an earlier version. */
  readonly runtime?: string;
}

export interface ServiceRecord {
  readonly version: 1;
  readonly desired: DesiredService | RemovedService;
  /** When the rollout began, or last got on. */
  readonly progressAt: BootTime;
  readonly image?: ResolvedImage;
  /** True once an instance of the image was refused because it cannot run beside those of other images. */
  readonly isApart?: boolean;
  /** The image of an earlier generation, until that of the desired one was found. */
  readonly formerImage?: ResolvedImage;
  /** True once all desired instances were ready at the same time. */
  readonly isComplete: boolean;
  /** True once an instance of the generation was ready: what ends it later is no fault of the generation. */
  readonly wasReady: boolean;
  /** Why the generation has failed for good. */
  readonly failure?: string;
  /** Why this installation does not start the generation. Another version of svc may. */
  readonly refusal?: string;
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
      const record = recordIn(readJsonFile(path));
      if (record !== undefined && path === this.#fileOf(record.desired.key)) found.push(record);
    }
    return found;
  }

  write(record: ServiceRecord): void {
    const { project } = record.desired.key;
    mkdirSync(join(this.#folder, project), { recursive: true, mode: 0o700 });
    replaceJsonFile(this.#fileOf(record.desired.key), record);
  }

  /** Removes the record, and the folder of the project once it is empty. */
  remove(key: ServiceKey): void {
    const file = this.#fileOf(key);
    rmSync(file, { force: true });
    try {
      rmdirSync(dirname(file));
    } catch {
      // The project has other services.
    }
  }

  #fileOf({ project, service }: ServiceKey): string {
    return join(this.#folder, project, `${service}.json`);
  }
}

/** Returns the record of a service that is asked for the first time, or of which another generation is asked for. */
export function recordOf(
  desired: DesiredService | RemovedService,
  progressAt: BootTime,
): ServiceRecord {
  return { version: 1, desired, progressAt, isComplete: false, wasReady: false };
}

/** Returns what is to be stored when something else is asked for. */
export function recordAfter(
  before: ServiceRecord,
  desired: DesiredService | RemovedService,
  now: BootTime,
): ServiceRecord {
  if (isOtherRollout(before.desired, desired))
    return { ...recordOf(desired, now), ...imagesAfter(before, desired) };
  if (instancesOf(before.desired) === instancesOf(desired)) return { ...before, desired };
  // A service that is started again after a pause is tried anew.
  const { failure: _tried, ...rest } = before;
  return { ...rest, desired, isComplete: false, progressAt: now };
}

/** A restart keeps the image of its apply. A further apply finds its own, which may be the same one. */
function imagesAfter(
  { desired: before, image, isApart, formerImage }: ServiceRecord,
  desired: DesiredService | RemovedService,
): Pick<ServiceRecord, 'image' | 'isApart' | 'formerImage'> {
  if (before.kind === 'removed' || desired.kind === 'removed') return {};
  if (before.incarnation !== desired.incarnation) return {};
  // Generations may be counted again from a lower one, after a restore of an older backup.
  const isRestart =
    desired.generation > before.generation &&
    desired.appliedGeneration === before.appliedGeneration &&
    desired.descriptor.image === before.descriptor.image;
  if (isRestart && image !== undefined) return { image, ...(isApart && { isApart }) };
  const former = image ?? formerImage;
  return former === undefined ? {} : { formerImage: former };
}

/** Returns the digest of the image that does not run beside others; undefined if that is not known of any. */
export function apartImageOf({ isApart, image }: ServiceRecord): string | undefined {
  return isApart === true ? image?.digest : undefined;
}

/** Returns why the generation has failed, for good or with this installation; undefined if it has not. */
export function failureOf({ failure, refusal }: ServiceRecord): string | undefined {
  return failure ?? refusal;
}

export function isOtherRollout(
  before: DesiredService | RemovedService,
  desired: DesiredService | RemovedService,
): boolean {
  if (before.kind === 'removed' || desired.kind === 'removed') return true;
  return before.generation !== desired.generation || before.incarnation !== desired.incarnation;
}

function instancesOf(desired: DesiredService | RemovedService): number {
  return desired.kind === 'removed' ? 0 : desired.instances;
}

/** Returns the record in a parsed file; undefined if it is none, such as one of a later version. */
function recordIn(value: unknown): ServiceRecord | undefined {
  if (!isRecord(value) || value['version'] !== 1) return undefined;
  const { desired, progressAt, image, isComplete, wasReady, failure, refusal } = value;
  if (!isRecord(desired) || bootTimeIn(progressAt) === undefined) return undefined;
  if (typeof isComplete !== 'boolean' || typeof wasReady !== 'boolean') return undefined;
  for (const reason of [failure, refusal])
    if (reason !== undefined && typeof reason !== 'string') return undefined;
  for (const one of [image, value['formerImage']])
    if (one !== undefined && !isImage(one)) return undefined;
  if (!hasTexts(desired['key'], ['project', 'service'])) return undefined;
  const { kind, incarnation, generation, instances, descriptor } = desired;
  const isDesired =
    kind === 'desired' &&
    typeof incarnation === 'string' &&
    typeof generation === 'number' &&
    typeof instances === 'number' &&
    isRecord(descriptor);
  return isDesired || kind === 'removed' ? (value as unknown as ServiceRecord) : undefined;
}

function isImage(value: unknown): boolean {
  if (!isRecord(value) || !['undefined', 'string'].includes(typeof value['runtime'])) return false;
  return hasTexts(value, ['digest', 'moduleFile']) || hasTexts(value, ['digest', 'imageFolder']);
}

function hasTexts(value: unknown, names: readonly string[]): boolean {
  return isRecord(value) && names.every((name) => typeof value[name] === 'string');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
