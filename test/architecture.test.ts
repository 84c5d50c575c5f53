// Checks what the compiler cannot: which room may import which, how big a file may grow, where the
// environment is read, and that each npm package is imported by one room. Reads the sources as text.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const LINES_MAX = 400;

/** A room → the rooms it may import beside itself and `@svc/contract`. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  'host/model': [],
  'host/engine': ['host/model'],
  // Inside of the wasm hosting, from what reads bytes to what runs a module.
  'host/hosting/wasm/binary': ['host/hosting/wasm/wasm-limits.ts', 'host/model'],
  'host/hosting/wasm/metering': [
    'host/hosting/wasm/binary',
    'host/hosting/wasm/wasm-limits.ts',
    'host/model',
  ],
  'host/hosting/wasm/places': [
    'host/hosting/wasm/binary',
    'host/hosting/wasm/metering',
    'host/hosting/wasm/wasm-limits.ts',
    'host/model',
  ],
  'host/hosting/wasm/admission': [
    'host/hosting/wasm/binary',
    'host/hosting/wasm/metering',
    'host/hosting/wasm/wasm-limits.ts',
    'host/model',
  ],
  'host/hosting/wasm/binding': [
    'host/engine/needs',
    'host/hosting/wasm/binary',
    'host/hosting/wasm/wasm-limits.ts',
    'host/model',
  ],
  'host/hosting/wasm/instances': [
    'host/engine/needs',
    'host/hosting/wasm/admission',
    'host/hosting/wasm/binary',
    'host/hosting/wasm/binding',
    'host/hosting/wasm/metering',
    'host/hosting/wasm/wasm-limits.ts',
    'host/model',
  ],
  'host/hosting/wasm': ['host/engine/needs', 'host/model'],
  'host/hosting/embedded': ['host/engine/needs', 'host/model'],
  // It reads a journal with a module in hand, and serves nothing.
  'host/history': [
    'host/engine',
    'host/hosting/wasm',
    'host/model',
    'host/module/module-file.ts',
    'host/module/module-inspection.ts',
    'host/storage/sqlite/tools',
    'host/system.ts',
  ],
  'host/log': ['host/model'],
  'host/module': ['host/hosting/wasm', 'host/model', 'host/room-settings.ts', 'host/settings.ts'],
  'host/requests': ['host/engine', 'host/http', 'host/model'],
  'host/shards': [
    'host/engine',
    'host/hosting/wasm',
    'host/log',
    'host/model',
    'host/observability',
    'host/requests',
    'host/room-settings.ts',
    // The type alone: a shard's journal is a value that they pass on.
    'host/storage/journal-connection.ts',
  ],
  'host/past': [
    'host/engine',
    'host/history',
    'host/hosting/wasm',
    'host/model',
    'host/module',
    'host/storage/sqlite/tools',
  ],
  'host/surface': [
    'host/engine',
    'host/hosting/wasm',
    'host/http',
    'host/log',
    'host/management',
    'host/model',
    'host/observability',
    'host/past',
    'host/room-settings.ts',
    'host/runtime-version.ts',
    'host/settings.ts',
    'host/shards',
    'host/system.ts',
  ],
  'host/dev': [
    'host/history',
    'host/hosting/wasm',
    'host/log',
    'host/model',
    'host/module',
    'host/room-settings.ts',
    'host/shards',
    'host/surface',
    'host/system.ts',
  ],
  'host/embedded': [
    'host/engine/needs',
    'host/model',
    'host/room-settings.ts',
    'host/settings.ts',
    'host/storage',
    'host/unread-manifests.ts',
  ],
  // The tools read a journal that another process may be writing. What serves needs none of them.
  'host/storage/sqlite/tools': ['host/engine/needs', 'host/model', 'host/storage/sqlite'],
  'host/storage/sqlite': ['host/engine/needs', 'host/model', 'host/storage/journal-series.ts'],
  'host/storage/memory': ['host/engine/needs', 'host/model'],
  'host/storage': ['host/engine/needs', 'host/model'],
  'host/http': ['host/engine/needs', 'host/model'],
  'host/management': ['host/engine/needs', 'host/model'],
  'host/observability': ['host/engine/needs', 'host/model'],
  'guest-sdk/assembly': [],
  'guest-sdk/compiler': [],
  // It runs modules in the runtime itself, which it knows as the package @svc/host.
  'guest-sdk/testing': ['guest-sdk/compiler'],
  cli: [],
  // It runs in the browser, and knows the types of what its server tells it.
  'console/page': [],
  'console/server': [],
  // It measures the runtime from outside, and the engine through the rooms that it is made of.
  bench: ['host', 'guest-sdk/compiler', 'test/support'],
  examples: [],
  scripts: [
    'cli',
    'contract',
    'host/model/setting-name.ts',
    'host/room-settings.ts',
    'host/settings.ts',
    'test/support',
  ],
};
/** Doors for other programs: nothing behind them imports them. */
const DOORS = new Set(['host/embed.ts', 'host/tools.ts']);
/** Where several adapters meet. Nobody imports them, but other programs the doors. */
const ROOTS = new Set([
  'host/main.ts',
  'host/shard.ts',
  'host/past/past-worker.ts',
  'host/dev-host.ts',
  ...DOORS,
]);
/** The settings of all adapters meet here, and nothing else of them. */
const ROOM_SETTINGS = 'host/room-settings.ts';
/** The value that leads a shard to its journal: shards pass it on and know no journal. */
const JOURNAL_CONNECTION = 'host/storage/journal-connection.ts';
/** The rest of what lies directly in host/ belongs to those roots. */
const COMPOSITION = /^host\/[^/]+\.ts$/;
/** Rooms that bring adapters together, file by file at most one, and the roots all of them. */
const JOINING_ROOMS = ['dev', 'embedded', 'log', 'module', 'past', 'requests', 'shards', 'surface'];
/** The only readers of process.env. */
const ENVIRONMENT_READERS = new Set([
  'host/main.ts',
  'cli/commands/run.ts',
  'cli/commands/inspect.ts',
  'cli/bin/svc.js',
  'cli/commands/console.ts',
  'cli/commands/dev.ts',
  'host/dev-host.ts',
]);
/** npm package → the rooms that may import it. */
const PACKAGE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  typebox: ['contract', 'host/hosting/embedded', 'examples'],
  // Of AssemblyScript's own library.
  util: ['guest-sdk/assembly'],
  fastify: ['bench'],
  // Of what is compared with, and is installed beside it.
  '@restatedev/restate-sdk': ['bench/peers'],
  'cloudflare:workers': ['bench/peers'],
  vitest: ['guest-sdk/testing', 'examples', 'cli/template'],
  pino: ['host'],
  assemblyscript: ['guest-sdk/compiler'],
  '@bytecodealliance/jco': ['guest-sdk/compiler'],
  preact: ['console/page'],
  '@preact/signals': ['console/page'],
  vite: ['scripts'],
  '@opentelemetry/exporter-trace-otlp-http': ['host/observability'],
  '@opentelemetry/resources': ['host/observability'],
  '@opentelemetry/sdk-trace': ['host/observability'],
  '@opentelemetry/api': ['host/observability'],
  '@svc/console': ['cli'],
  '@svc/contract': ['host', 'guest-sdk/compiler', 'guest-sdk/testing', 'cli', 'console', 'scripts'],
  '@svc/guest-sdk': ['cli', 'scripts', 'examples', 'cli/template'],
  '@svc/host': ['cli', 'guest-sdk/testing', 'examples'],
};
const PURE = ['host/model', 'host/engine'];
const IMPURE =
  /\bnew Date\b|\bDate\.now\b|\bsetTimeout\b|\bsetInterval\b|\bsetImmediate\b|\bMath\.random\b|\bfetch\(|\bperformance\.|\bprocess\./;

const files = globSync(
  '{bench,console,contract,host,guest-sdk,cli,examples,scripts}/**/*.{ts,tsx,js,mjs}',
  { cwd: root },
)
  .filter((file) => !/\/generated\/|node_modules|^console\/public\//.test(file))
  .toSorted();
const text = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
const within = (file: string, room: string) => file === room || file.startsWith(`${room}/`);
const isJoining = (file: string) =>
  COMPOSITION.test(file) || JOINING_ROOMS.some((room) => within(file, `host/${room}`));
const roomOf = (file: string) =>
  COMPOSITION.test(file) ? 'host' : Object.keys(MAY_IMPORT).find((room) => within(file, room));

interface Edge {
  readonly from: string;
  /** A file of the repository, or a package's name. */
  readonly to: string;
  readonly foreign: boolean;
}

/** AssemblyScript leaves the ending away. */
function fileOf(from: string, specifier: string): string {
  const path = normalize(join(dirname(from), specifier));
  return text.has(`${path}.ts`) ? `${path}.ts` : path;
}

const edges: readonly Edge[] = files.flatMap((from) => {
  const found: Edge[] = [];
  // A statement begins at the start of its line; what stands indented in a template is no import.
  const pattern =
    /(?:^(?:import|export)\s+(?:type\s+)?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+)(?:\s*,\s*\{[^}]*\})?\s+from\s+|\bimport\s*\(\s*|^import\s+)(['"])([^'"\n]+)\1/gm;
  for (const [, , specifier] of text.get(from)!.matchAll(pattern)) {
    if (specifier!.startsWith('.'))
      found.push({ from, to: fileOf(from, specifier!), foreign: false });
    else {
      const name = specifier!.startsWith('@')
        ? specifier!.split('/').slice(0, 2).join('/')
        : specifier!.split('/')[0]!;
      found.push({ from, to: name, foreign: true });
    }
  }
  return found;
});
const show = (edge: Edge) => `${edge.from} → ${edge.to}`;

describe('rooms', () => {
  test('there are files, and every one belongs to a known room', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(edges.length).toBeGreaterThan(100);
    expect(files.filter((file) => roomOf(file) === undefined)).toEqual([]);
  });

  test('import only what the import rules allow', () => {
    const broken = edges.filter(({ from, to, foreign }) => {
      const room = roomOf(from)!;
      if (foreign || room === 'host' || within(to, room)) return false;
      if (to.endsWith('package.json') || to.startsWith('../')) return false;
      return !MAY_IMPORT[room]!.some((allowed) => within(to, allowed));
    });
    expect(broken.map(show)).toEqual([]);
  });

  test('of the journal that serves import none of its tools', () => {
    const tools = 'host/storage/sqlite/tools';
    const serving = edges.filter(
      ({ from }) => within(from, 'host/storage') && !within(from, tools),
    );
    expect(serving.length).toBeGreaterThan(50);
    expect(serving.filter(({ to }) => within(to, tools)).map(show)).toEqual([]);
  });

  test('never import a composition root', () => {
    const broken = edges.filter(({ from, to }) =>
      DOORS.has(to) ? within(from, 'host') : ROOTS.has(to),
    );
    expect(broken.map(show)).toEqual([]);
  });

  test('of host/ see several adapters only in a composition root', () => {
    const adapters = [
      'host/hosting',
      'host/storage',
      'host/http',
      'host/management',
      'host/observability',
    ];
    const broken = files.filter((file) => {
      if (ROOTS.has(file) || file === ROOM_SETTINGS || !isJoining(file)) return false;
      const seen = adapters.filter((adapter) =>
        edges.some(
          ({ from, to }) => from === file && within(to, adapter) && to !== JOURNAL_CONNECTION,
        ),
      );
      return seen.length > 1;
    });
    expect(broken).toEqual([]);
  });

  test('have no cycle, types included', () => {
    const next = Map.groupBy(
      edges.filter((edge) => !edge.foreign),
      (edge) => edge.from,
    );
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      if (done.has(file) || path.includes(file)) return;
      for (const edge of next.get(file) ?? []) visit(edge.to, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  test('model and engine use no node module, clock, timer or chance of their own', () => {
    const pure = files.filter((file) => PURE.some((room) => within(file, room)));
    const broken = pure.filter((file) => {
      const code = text.get(file)!.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      return IMPURE.test(code);
    });
    expect(broken).toEqual([]);
    const foreign = edges.filter(
      ({ from, to, foreign: isForeign }) =>
        pure.includes(from) && isForeign && to !== 'node:assert' && to !== '@svc/contract',
    );
    expect(foreign.map(show)).toEqual([]);
  });

  test('import an npm package only where its room is', () => {
    const broken = edges.filter(({ from, to, foreign }) => {
      if (!foreign || to.startsWith('node:')) return false;
      return !PACKAGE_ROOMS[to]?.some((room) => within(from, room));
    });
    expect(broken.map(show)).toEqual([]);
  });

  test('read the environment in one place each', () => {
    const readers = files.filter((file) => /\bprocess\.env\b/.test(text.get(file)!));
    const broken = readers.filter(
      (file) => !ENVIRONMENT_READERS.has(file) && !within(file, 'scripts'),
    );
    expect(broken).toEqual([]);
  });
});

describe('a file', () => {
  test(`has at most ${LINES_MAX} lines, a test's too`, () => {
    const tests = globSync('test/**/*.ts', { cwd: root });
    const lines = (file: string) => readFileSync(join(root, file), 'utf8').split('\n').length - 1;
    expect([...files, ...tests].filter((file) => lines(file) > LINES_MAX)).toEqual([]);
  });

  test('says on its first line what it is for', () => {
    expect(files.filter((file) => !/^(#!.*\n)?(\/\/ |\/\*\*)/.test(text.get(file)!))).toEqual([]);
  });

  test('has no default export', () => {
    expect(files.filter((file) => /^export default\b/m.test(text.get(file)!))).toEqual([]);
  });

  test('has a name in kebab-case that is no lumber room', () => {
    const lumber = /(^|-)(utils?|common|helpers?|misc|manager|impl)(-|\.|$)/;
    const odd = files.filter((file) => {
      const name = relative(dirname(file), file);
      return (
        !/^[a-z0-9]+(-[a-z0-9]+)*(\.(config|test))?\.(ts|tsx|js|mjs)$/.test(name) ||
        lumber.test(name)
      );
    });
    expect(odd).toEqual([]);
  });
});
