// NamedLocations names the source locations of a fault as the module's author knows them. An optimizer may inline a
// handler into the export that runs it; a location then names a generated function, and gets the name of the handler.
import type { InvocationKind, SourceLocation } from '@svc/contract';

/** The handler that failed with the fault. The fault may have occurred in a handler that it called. */
export interface RunHandler {
  readonly kind: InvocationKind;
  readonly component: string;
  /** Undefined if the handler is unknown. */
  readonly handler: string | undefined;
}

/** The code that an export runs: a handler, `apply`, or other code of the component. */
type ExportedCode = 'handler' | 'apply' | 'component';

/** Exports by which the SDK runs an entity's code, with the code that each runs. */
const ENTITY_EXPORTS: ReadonlyMap<string, ExportedCode> = new Map([
  ['entity_command', 'handler'],
  ['entity_query', 'handler'],
  ['entity_apply', 'apply'],
  ['entity_constructor', 'component'],
  ['entity_snapshot', 'component'],
]);
/** Exports that run handlers of another kind, with that kind. */
const OTHER_EXPORTS: ReadonlyMap<string, InvocationKind> = new Map([
  ['http_handle', 'endpoint'],
  ['consumer_handle', 'consumer'],
]);
const OTHER_KINDS: ReadonlySet<InvocationKind> = new Set(OTHER_EXPORTS.values());

export function namedLocations(
  locations: readonly SourceLocation[],
  run: RunHandler,
): SourceLocation[] {
  return locations.map((location) => {
    const { function: name } = location;
    const kind = OTHER_EXPORTS.get(name ?? '');
    const runs = kind === undefined ? ENTITY_EXPORTS.get(name ?? '') : 'handler';
    if (runs === undefined) return location;
    // A request also fails with the fault of an entity that it called. The location is then in a handler that is not
    // the one of `run`, and whose name is unknown here.
    const isOfRun = kind === (OTHER_KINDS.has(run.kind) ? run.kind : undefined);
    return { ...location, function: isOfRun ? nameOf(runs, run) : null };
  });
}

function nameOf(runs: ExportedCode, { component, handler }: RunHandler): string {
  const name = { handler, apply: 'apply', component: undefined }[runs];
  return name === undefined ? component : `${component}.${name}`;
}
