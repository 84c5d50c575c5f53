// The rules of imports within the checkout: which folder may import which, where the environment is read, and where each
// npm package is used. What workspaces may import of one another is in workspaces.ts. The functions are pure: they take
// lists of files and imports and give the problems, a line each.
import { dirname } from 'node:path';
import { cyclesOf } from './cycles.ts';
import { MAY_IMPORT } from './folder-imports.ts';
import { PACKAGE_FOLDERS, WORKSPACE_FOLDERS } from './package-folders.ts';
import type { Import, SourceTree } from './source-tree.ts';
import type { Workspace } from './workspaces.ts';

/** Folders of the checkout that are not workspaces. In tests and fixtures, only the length of a file is checked. */
const TOOLS = ['bench', 'scripts'];
export const UNCHECKED = ['fixtures', 'test'];
/** Entry points for other programs. No file of the host imports them. */
const ENTRY_POINTS = new Set(['host/embed.ts', 'host/testing.ts', 'host/tools.ts']);
/** Files in which several adapters meet. No file imports them, except that other programs import the entry points. */
const ROOTS = new Set([
  'host/main.ts',
  'host/service/shard.ts',
  'host/service/view-thread.ts',
  'host/history/reader/history-worker.ts',
  'host/dev-host.ts',
  ...ENTRY_POINTS,
]);
/** Files that wire several adapters together, or know the settings of several. */
const WIRING = new Set([
  'host/service/embedded-deployment.ts',
  'host/service/embedded-service.ts',
  'host/service/section-settings.ts',
  'host/service/served-guest.ts',
  'host/service/view-preparation.ts',
  'host/shards/shard-sections.ts',
]);
/** Types of values that are passed between adapters without knowledge of the journal or the hosting behind them. */
const PASSED_ON = new Set([
  'host/hosting/guest-source.ts',
  'host/storage/cluster-nodes.ts',
  'host/storage/journal-connection.ts',
  'host/storage/journal-location.ts',
]);
/** The other files directly in host/ and host/service/ belong to the roots. */
const COMPOSITION = /^host\/(?:service\/)?[^/]+\.ts$/;
/** Folders in which each file may import one adapter at most. Only the roots and the wiring import several. */
const JOINING_FOLDERS = ['dev', 'history/reader', 'http/requests', 'introspection', 'shards'];
/** The only readers of process.env. */
const ENVIRONMENT_READERS = new Set([
  'host/main.ts',
  'host/service/deployed-program.ts',
  // A URL of a database is read by each thread that connects, and is in no setting.
  'host/storage/postgres/database-source.ts',
  'process-sdk/typescript/serve-process.ts',
  'proxy/pod/main.ts',
  'control-plane/program/main.ts',
  'gateway/main.ts',
  'login-provider/main.ts',
  'registry/main.ts',
  'webhooks/program/main.ts',
  'cli/program-process.ts',
  'cli/source-process.ts',
  'cli/platform/environment.ts',
  'cli/commands/inspect.ts',
  'cli/bin/svc.js',
  'cli/commands/console.ts',
  'cli/commands/dev.ts',
  'cli/commands/up.ts',
  'cli/commands/web.ts',
  'host/dev-host.ts',
  'examples/09-calling-services/site/server.mjs',
]);
const ADAPTERS = [
  'host/hosting',
  'host/storage',
  'host/http',
  'host/introspection/management',
  'host/introspection/observability',
];
const PURE = [
  'model',
  'host/engine',
  'host/timers',
  'host/consumers',
  'http1/messages',
  'http1/grammar',
  'http1/readers',
  'http1/writers',
];
/** What the pure folders may import beside themselves: nothing of it reads a clock or does I/O. */
const PURE_PACKAGES = new Set([
  'node:assert',
  '@svc/contract',
  '@svc/kit/log-entry',
  '@svc/kit/printable',
  '@svc/kit/svc-error',
  '@svc/kit/trace-context',
  '@svc/kit/trace-state',
]);
const isPure = (specifier: string) =>
  PURE_PACKAGES.has(specifier) || specifier.startsWith('@svc/model/');
const IMPURE =
  /\bnew Date\b|\bDate\.now\b|\bsetTimeout\b|\bsetInterval\b|\bsetImmediate\b|\bMath\.random\b|\bfetch\(|\bperformance\.|\bprocess\./;

const isWithin = (file: string, folder: string) => file === folder || file.startsWith(`${folder}/`);
const isJoining = (file: string) =>
  COMPOSITION.test(file) || JOINING_FOLDERS.some((folder) => isWithin(file, `host/${folder}`));
const shown = ({ from, to }: Import) => `${from} → ${to}`;

/** The folder whose rule holds for the file. Undefined: there is none. */
function folderOf(file: string, workspaces: readonly Workspace[]): string | undefined {
  if (COMPOSITION.test(file)) return 'host';
  const ruled = Object.keys(MAY_IMPORT).find((name) => isWithin(file, name));
  if (ruled !== undefined) return ruled;
  // A workspace that has no rules for its folders imports itself and packages.
  const workspace = workspaces.find(({ folder }) => isWithin(file, folder));
  const hasRules = Object.keys(MAY_IMPORT).some((name) => name.startsWith(`${workspace?.folder}/`));
  return hasRules ? undefined : workspace?.folder;
}

/** Files in a folder that no rule covers. A file directly in the checkout needs none. */
export function uncovered(files: readonly string[], workspaces: readonly Workspace[]): string[] {
  const folders = files
    .filter((file) => file.includes('/') && folderOf(file, workspaces) === undefined)
    .map((file) => file.slice(0, file.lastIndexOf('/')));
  return [...new Set(folders)].map((folder) =>
    [...workspaces.map((workspace) => workspace.folder), ...TOOLS].some((known) =>
      isWithin(folder, known),
    )
      ? `${folder}/ has no rule: add it to MAY_IMPORT in test/architecture/folder-imports.ts`
      : `${folder}/ has no rule: make it a workspace, with a package.json that the workspaces of the package.json above name, or add it to MAY_IMPORT in test/architecture/folder-imports.ts`,
  );
}

export function forbiddenImports(
  { imports }: Pick<SourceTree, 'imports'>,
  workspaces: readonly Workspace[],
): string[] {
  return imports
    .filter(({ from, to, isPackage }) => {
      const folder = folderOf(from, workspaces);
      if (isPackage || folder === undefined || folder === 'host' || isWithin(to, folder))
        return false;
      if (to.endsWith('package.json') || to.startsWith('../')) return false;
      return !MAY_IMPORT[folder]?.some((allowed) => isWithin(to, allowed));
    })
    .map(shown);
}

export function importsOfRoots({ imports }: Pick<SourceTree, 'imports'>): string[] {
  return imports
    .filter(({ from, to }) => (ENTRY_POINTS.has(to) ? isWithin(from, 'host') : ROOTS.has(to)))
    .map(shown);
}

/** Files outside of the composition that import more than one adapter. */
export function joinedAdapters({ files, imports }: SourceTree): string[] {
  return files.filter((file) => {
    if (ROOTS.has(file) || WIRING.has(file) || !isJoining(file)) return false;
    const seen = ADAPTERS.filter((adapter) =>
      imports.some(({ from, to }) => from === file && isWithin(to, adapter) && !PASSED_ON.has(to)),
    );
    return seen.length > 1;
  });
}

/** What a journal and the rows beside it are made of. host/storage opens it by a location; the benchmarks measure it. */
const JOURNAL_FILES = ['host/storage/sqlite', 'host/storage/postgres', 'host/storage/views'];
/** Rows of a fold that nobody keeps. */
const SCRATCH = 'host/storage/views/temporary-rows.ts';

/** Imports of what a journal is made of by others than host/storage. */
export function bypassedLocations({ imports }: Pick<SourceTree, 'imports'>): string[] {
  return imports
    .filter(
      ({ from, to }) =>
        JOURNAL_FILES.some((folder) => isWithin(to, folder)) &&
        to !== SCRATCH &&
        !isWithin(from, 'host/storage') &&
        !isWithin(from, 'bench'),
    )
    .map(shown);
}

/** Cycles of files, types included. */
export function cycles({ files, imports }: Pick<SourceTree, 'files' | 'imports'>): string[] {
  const next = Map.groupBy(
    imports.filter(({ isPackage }) => !isPackage),
    ({ from }) => from,
  );
  return cyclesOf(files, (file) => (next.get(file) ?? []).map(({ to }) => to));
}

/** What the pure folders use of the outside: a clock, timers, chance, the process, or a package. */
export function impurities({ files, imports, texts }: SourceTree): string[] {
  const pure = files.filter((file) => PURE.some((folder) => isWithin(file, folder)));
  const used = pure.flatMap((file) => {
    const code = texts.get(file)!.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const [word] = IMPURE.exec(code) ?? [];
    return word === undefined ? [] : `${file} uses ${word}`;
  });
  const foreign = imports.filter(
    ({ from, specifier, isPackage }) => pure.includes(from) && isPackage && !isPure(specifier),
  );
  return [...used, ...foreign.map(shown)];
}

/** Imports of packages by a folder that is not the one for them. Packages of workspaces have folders only where WORKSPACE_FOLDERS says so. */
export function strayPackages({ imports }: Pick<SourceTree, 'imports'>): string[] {
  return imports
    .filter(({ from, to, isPackage }) => {
      if (!isPackage || to.startsWith('node:')) return false;
      if (to.startsWith('@svc/')) {
        const [workspace] = from.split('/', 1);
        const folders = WORKSPACE_FOLDERS[workspace!]?.[to];
        return (
          dirname(from) !== workspace && folders?.some((folder) => isWithin(from, folder)) === false
        );
      }
      return from.includes('/') && !PACKAGE_FOLDERS[to]?.some((folder) => isWithin(from, folder));
    })
    .map(shown);
}

export function environmentReaders({ files, texts }: Omit<SourceTree, 'imports'>): string[] {
  return files.filter(
    (file) =>
      /\bprocess\.env\b/.test(texts.get(file)!) &&
      !ENVIRONMENT_READERS.has(file) &&
      !isWithin(file, 'scripts'),
  );
}
