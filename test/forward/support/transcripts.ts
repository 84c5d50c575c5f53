// Transcripts: recorded requests, and what a process, a mounted and a called service receive of them, as lines of the wire.
// A folder of fixtures/transcripts/ has those of a version. Recorded lines never change: later versions may add some.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Arrival, OwnService } from '../../../forward/arrival.ts';
import { headForCall, headForMount, headForProcess } from '../../../forward/forwarded-head.ts';
import { headOf, linesOf } from './heads.ts';

export interface Transcript {
  readonly name: string;
  /** The service beside which the proxy runs. */
  readonly service: Omit<OwnService, 'project' | 'baseDomain'> & {
    readonly project?: string;
    readonly baseDomain?: string;
  };
  /** Absent: the process calls a service. */
  readonly from?: Arrival;
  /** The service that receives the request; absent: the process does. */
  readonly to?: { readonly path: string; readonly authority: string };
  readonly request: readonly string[];
  readonly receives: readonly string[];
}

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'transcripts');
/** Files of a version. */
const FILES = ['process.json', 'mount.json', 'call.json'];

/** Versions for which there are transcripts, the oldest first. */
export const TRANSCRIPT_VERSIONS = readdirSync(FOLDER).toSorted((a, b) =>
  a.localeCompare(b, 'en', { numeric: true }),
);

export function transcriptsOf(version: string): readonly Transcript[] {
  return FILES.flatMap((file) => {
    const text = readFileSync(join(FOLDER, version, file), 'utf8');
    return JSON.parse(text) as Transcript[];
  });
}

/** Returns the head that the rules make of a request, as lines. */
export function receivedLines({ service, from, to, request }: Transcript): readonly string[] {
  const head = headOf(request);
  const own: OwnService = {
    ...service,
    project: service.project,
    baseDomain: service.baseDomain,
  };
  const sent =
    from === undefined
      ? headForCall(head, to!)
      : to === undefined
        ? headForProcess(head, from, own)
        : headForMount(head, from, own, to);
  return [`${sent.method} ${sent.path} HTTP/1.1`, ...linesOf(sent.fields)];
}
