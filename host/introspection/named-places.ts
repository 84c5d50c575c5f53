// NamedPlaces: places of a fault as the module's author knows them. An optimizer puts a handler into the export that
// runs it, and the place is then in a function that no author has written: it is named after what ran.
import type { InvocationKind, SourcePlace } from '@svc/contract';

/** What ran when it failed. */
export interface RunHandler {
  readonly kind: InvocationKind;
  readonly component: string;
  /** Undefined: it is not known. */
  readonly handler: string | undefined;
}

type Runs = 'handler' | 'apply' | 'component';

/** As the SDK calls what runs an entity's code. */
const ENTITY_EXPORTS: ReadonlyMap<string, Runs> = new Map([
  ['entity_command', 'handler'],
  ['entity_query', 'handler'],
  ['entity_apply', 'apply'],
  ['entity_constructor', 'component'],
  ['entity_snapshot', 'component'],
]);
const ENDPOINT_EXPORT = 'http_handle';

export function namedPlaces(places: readonly SourcePlace[], run: RunHandler): SourcePlace[] {
  return places.map((place) => {
    const { function: name } = place;
    const runs = name === ENDPOINT_EXPORT ? 'handler' : ENTITY_EXPORTS.get(name ?? '');
    if (runs === undefined) return place;
    // A request that failed with its call knows nothing of the call's.
    const isOfRun = (name === ENDPOINT_EXPORT) === (run.kind === 'endpoint');
    return { ...place, function: isOfRun ? nameOf(runs, run) : null };
  });
}

function nameOf(runs: Runs, { component, handler }: RunHandler): string {
  const name = { handler, apply: 'apply', component: undefined }[runs];
  return name === undefined ? component : `${component}.${name}`;
}
