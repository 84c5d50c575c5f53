// svc cluster: prints the nodes that use a journal in a database, and who owns its slices. It reads the database, and asks no node.
import type { InspectedCluster, InspectedNode } from '@svc/host/tools';
import { printable } from '@svc/kit/printable';
import { command, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { databaseOf } from '../journal-word.ts';
import { numberText } from '../progress-line.ts';
import { jsonLine, timeText } from '../printed-value.ts';
import { outputStyle, printData } from '../terminal.ts';
import { tableLines } from '../text-table.ts';

/** Number of digits of a fingerprint in a table. */
const FINGERPRINT_DIGITS = 12;
const HEADS = [
  'node',
  'status',
  'machine',
  'address',
  'version',
  'module',
  'member for',
  'lease left',
  'slices',
] as const;
const SLICE_HEADS = ['slice', 'owner', 'epoch', 'head'] as const;

export const cluster = command(
  {
    name: 'cluster',
    summary: 'show the nodes that use a journal in a database, and what they own',
    about: `Shows the nodes that use a journal in a database: where they run, how long their leases last by
the clock of the database, and how many of the slices of the entities each owns. It reads the
database alone, and may do so while nodes run, or while none does.`,
    words: [{ name: 'DATABASE' }],
    options: {
      slices: {
        type: 'boolean',
        help: 'also each slice: its owner, its epoch, and the number of its last record',
      },
      output: OUTPUT_OPTION,
    },
    notes: `DATABASE is url-file:FILE or url-variable:NAME: the URL of the database is in this file, or in
this variable of the environment.`,
    examples: [
      'svc cluster url-file:database.url',
      'svc cluster url-file:database.url --slices',
      "svc cluster url-variable:DATABASE_URL -o json | jq '.nodes[].leaseLeftMs'",
    ],
  },
  async ([database], { slices, output }) => {
    const tools = await import('@svc/host/tools');
    const found = await tools.inspectCluster(databaseOf('cluster', tools, database!));
    await printData(output === 'json' ? jsonOf(database!, found, slices) : textOf(found, slices));
    return EXIT_CODE.ok;
  },
);

function textOf(found: InspectedCluster, withSlices: boolean): string {
  const { nodes, slices } = found;
  const tables = [
    ...(nodes.length === 0 ? ['No node uses the journal.'] : table(HEADS, nodes.map(cellsOf))),
    '',
    ...notesOf(found),
  ];
  if (withSlices)
    tables.push(
      '',
      ...table(
        SLICE_HEADS,
        slices.map(({ slice, owner, epoch, head }) => [
          String(slice),
          owner === undefined ? '-' : String(owner),
          String(epoch),
          String(head),
        ]),
      ),
    );
  return [...tables, ''].join('\n');
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const [head, ...lines] = tableLines(heads, rows);
  return [outputStyle('bold', head!), ...lines];
}

function cellsOf(node: InspectedNode): readonly string[] {
  const { number, status, machine, address, version, fingerprint, memberMs, leaseLeftMs } = node;
  return [
    String(number),
    status,
    printable(machine),
    address === undefined ? '-' : printable(`${hostText(address.host)}:${address.port}`),
    printable(version),
    printable(fingerprint.slice(0, FINGERPRINT_DIGITS)),
    durationText(memberMs),
    leaseLeftMs === 0 ? 'ended' : `${(leaseLeftMs / 1000).toFixed(1)} s`,
    String(node.slices),
  ];
}

function notesOf(found: InspectedCluster): readonly string[] {
  const { nodes, slices, takeoverPauseMs, synchronousStandbys } = found;
  const { owned, ofEnded, free } = ownedSlices(found);
  const epochs = slices.map(({ epoch }) => epoch);
  return [
    `Of ${counted(slices.length, 'slice')}, ${numberText(owned)} are owned by nodes whose leases last, ${numberText(ofEnded)} by nodes whose leases have ended, and ${numberText(free)} are free.`,
    `Their epochs are ${Math.min(...epochs)} to ${Math.max(...epochs)}; the version of the cluster is ${found.version}.`,
    ...(takeoverPauseMs === 0
      ? []
      : [
          `Nothing is taken from ended nodes for ${(takeoverPauseMs / 1000).toFixed(1)} s more, because the database was restored, or a standby was promoted.`,
        ]),
    ...(new Set(nodes.map(({ fingerprint }) => fingerprint)).size > 1
      ? ['The nodes run more than one module.']
      : []),
    synchronousStandbys === ''
      ? 'A 200 means that the events are on the disk of one server: the database has no synchronous standby.'
      : `A 200 means that the events are on the disks of the server and of a synchronous standby (${printable(synchronousStandbys)}).`,
  ];
}

function ownedSlices({ nodes, slices }: InspectedCluster): {
  readonly owned: number;
  readonly ofEnded: number;
  readonly free: number;
} {
  const ended = new Set(
    nodes.filter(({ status }) => status === 'Ended').map((node) => node.number),
  );
  const free = slices.filter(({ owner }) => owner === undefined).length;
  const ofEnded = slices.filter(({ owner }) => owner !== undefined && ended.has(owner)).length;
  return { owned: slices.length - free - ofEnded, ofEnded, free };
}

function jsonOf(database: string, found: InspectedCluster, withSlices: boolean): string {
  const { id, version, takeoverPauseMs, synchronousStandbys } = found;
  const nodes = found.nodes.map(({ address = null, joinedMs, ...node }) => {
    const { number, status, uid, machine } = node;
    const { fingerprint, memberMs, leaseLeftMs, slices } = node;
    const joined = timeText(joinedMs) ?? null;
    const rest = { version: node.version, fingerprint, joined, memberMs, leaseLeftMs, slices };
    return `\n${jsonLine({ number, status, uid, machine, address, ...rest })}`;
  });
  const slices = withSlices
    ? `,"slices":[${found.slices
        .map(({ owner = null, ...slice }) => `\n${jsonLine({ ...slice, owner })}`)
        .join(',')}\n]`
    : '';
  const head = jsonLine({
    database,
    id,
    version,
    ...ownedSlices(found),
    takeoverPauseMs,
    synchronousStandbys,
  });
  return `${head.slice(0, -1)},"nodes":[${nodes.join(',')}\n]${slices}}\n`;
}

/** An address of IPv6 has colons of its own. */
function hostText(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function durationText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return `${days} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}
