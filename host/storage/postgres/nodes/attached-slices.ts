// AttachedSlices are the owners of slices as one user of the journal sees them, and its side of a release: the thread that has opened
// the journal asks it over a port to let go of slices, and says when that has ended.
import type { MessagePort } from 'node:worker_threads';
import type { EntityRef } from '@svc/model/entity';
import { sliceOf } from '@svc/model/slice';
import type { ClusterSlices, ReleasedSlices } from '../../cluster-nodes.ts';
import type { SliceHeads } from '../feed/slice-heads.ts';
import type { UserReport, UserRequest } from '../postgres-connection.ts';
import type { SliceClaims } from '../slice-claims.ts';
import type { SliceTable } from './slice-table.ts';

export interface AttachedSlicesNeeds {
  /** Id of the journal. */
  readonly id: string;
  /** Uid of the node. */
  readonly uid: string;
  readonly table: SliceTable;
  readonly heads: SliceHeads;
  readonly claims: Pick<SliceClaims, 'release' | 'endRelease'>;
  /** The slices that the user writes if the node owns them. */
  readonly slices: readonly number[];
  readonly port: MessagePort;
  readonly report: (report: UserReport) => void;
}

/** Requests to look within this time, in milliseconds, are one. */
const GATHER_MS = 2;

interface Release {
  readonly slices: ReadonlySet<number>;
  readonly ended: PromiseWithResolvers<void>;
}

export class AttachedSlices implements ClusterSlices {
  readonly #needs: AttachedSlicesNeeds;
  /** The releases that have not ended, by their numbers. */
  readonly #releases = new Map<number, Release>();
  /** Whether a report to look is about to be sent. */
  #isLooking = false;
  #release: (slices: ReleasedSlices) => Promise<void> = () => Promise.resolve();

  constructor(needs: AttachedSlicesNeeds) {
    const { port } = needs;
    this.#needs = needs;
    port.on('message', (request: UserRequest) => void this.#answer(request));
    port.on('close', () => {
      for (const number of this.#releases.keys()) this.#end(number);
    });
    port.unref();
  }

  get id(): string {
    return this.#needs.id;
  }

  get uid(): string {
    return this.#needs.uid;
  }

  get self(): number {
    return this.#needs.table.self;
  }

  get version(): number {
    return this.#needs.table.version;
  }

  ownerOf(component: string, id: string): number {
    return this.#needs.table.ownerOf(sliceOf(component, id));
  }

  changed(version: number, timeoutMs: number): Promise<void> {
    return this.#needs.table.changed(version, timeoutMs);
  }

  /** Other nodes decide how often this is called, so that calls within a moment are one report. */
  look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    setTimeout(() => {
      this.#isLooking = false;
      this.#needs.report({ kind: 'look' });
    }, GATHER_MS).unref();
  }

  headOf(component: string, id: string): readonly [slice: number, head: number] {
    const slice = sliceOf(component, id);
    return [slice, this.#needs.heads.of(slice)];
  }

  advance(slice: number, head: number): void {
    this.#needs.heads.advance([[slice, head]]);
  }

  onRelease(release: (slices: ReleasedSlices) => Promise<void>): void {
    this.#release = release;
  }

  async #answer(request: UserRequest): Promise<void> {
    const { number } = request;
    if (request.kind === 'release-ended') {
      this.#end(number);
      return;
    }
    const own = new Set(this.#needs.slices);
    const slices = new Set(request.slices.filter((slice) => own.has(slice)));
    const ended = Promise.withResolvers<void>();
    this.#releases.set(number, { slices, ended });
    this.#needs.claims.release(slices);
    await this.#release({
      has: ({ component, id }: EntityRef) => slices.has(sliceOf(component, id)),
      ended: ended.promise,
    });
    this.#needs.report({ kind: 'released', number });
  }

  #end(number: number): void {
    const release = this.#releases.get(number);
    if (release === undefined) return;
    this.#releases.delete(number);
    this.#needs.claims.endRelease(release.slices);
    release.ended.resolve();
  }
}
