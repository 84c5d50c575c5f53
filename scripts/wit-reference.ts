// WitReference: writes docs/reference/wit.md from wit/runtime.wit and its comments.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Direction, readWit, type WitInterface, type WitItem } from './wit-source.ts';

const file = join(import.meta.dirname, '..', 'wit', 'runtime.wit');

export function witReference(): string {
  const wit = readWit(readFileSync(file, 'utf8'));
  const phases = phasesOf(wit.comment);
  const sections = wit.interfaces.map((one) => section(one, wit.directions.get(one.name), phases));
  return `# The WIT

This page describes the package \`${wit.name}\`. \`npm run generate\` writes it from [wit/runtime.wit](../../wit/runtime.wit).
[Other languages](../how-to/other-languages.md) shows the same functions with core types.

${wit.comment}

${sections.join('\n')}
## Worlds

| World | Imports and exports | What it is for |
|---|---|---|
${wit.worlds.map(({ name, comment, members }) => `| ${code(name)} | ${members.map(({ form }) => code(form)).join(', ')} | ${prose(comment)} |`).join('\n')}
`;
}

/** The table of phases: which imports a module may call in each phase. */
interface Phases {
  /** Names of imports, for each column of the table: `clock.now-ms`, `journal.read`, … */
  readonly imports: readonly (readonly string[])[];
  readonly rows: readonly { readonly phase: string; readonly cells: readonly string[] }[];
}

/** Reads the table in the package's comment: for each phase, the imports that the module may call. */
function phasesOf(comment: string): Phases {
  const [head, , ...rows] = comment
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
  return {
    imports: head!.slice(1).map((cell) => cell.split(', ')),
    rows: rows.map(([phase, ...cells]) => ({ phase: phase!, cells })),
  };
}

function section(
  { name, comment, functions, types }: WitInterface,
  direction: Direction | undefined,
  phases: Phases,
): string {
  const parts = [`## \`${name}\`\n\n${comment.replaceAll('\n', ' ')}\n`];
  if (functions.length > 0) {
    const head = direction === 'import' ? 'May be called while' : 'May call';
    const rows = functions.map((one) => {
      const phase =
        direction === 'import' ? callers(name, one, phases) : callees(name, one, phases);
      return `| ${code(one.form)} | ${prose(one.comment)} | ${phase} |`;
    });
    parts.push(`| Function | What it does | ${head} |\n|---|---|---|\n${rows.join('\n')}\n`);
  }
  if (types.length > 0) {
    const rows = types.flatMap((type) => [
      `| ${code(type.form)} | | ${prose(type.comment)} |`,
      ...type.members.map((one) => `| | ${code(one.form)} | ${prose(one.comment)} |`),
    ]);
    parts.push(`| Type | Member | What it is |\n|---|---|---|\n${rows.join('\n')}\n`);
  }
  return parts.join('\n');
}

/** Returns the phases in which an import may be called, with their conditions. */
function callers(name: string, { name: called }: WitItem, { imports, rows }: Phases): string {
  const column = imports.findIndex((names) => names.includes(`${name}.${called}`));
  if (column === -1) throw new Error(`the table of phases has no column for ${name}.${called}`);
  const open = rows.filter(({ cells }) => cells[column] !== 'no');
  return open
    .map(({ phase, cells }) => (cells[column] === 'yes' ? phase : `${phase}: ${cells[column]}`))
    .join('; ');
}

/** Returns the imports that an export may call, with their conditions; `nothing` if there are none. */
function callees(name: string, { name: called }: WitItem, { imports, rows }: Phases): string {
  const row = rows.find(({ phase }) =>
    phase.split(', ').some((one) => one === called || one === `${name}.${called}`),
  );
  if (row === undefined) throw new Error(`the table of phases has no row for ${name}.${called}`);
  const open = imports.flatMap((names, column) => {
    const cell = row.cells[column]!;
    if (cell === 'no') return [];
    return cell === 'yes' ? names : names.map((one) => `${one}: ${cell}`);
  });
  return open.length === 0 ? 'nothing' : open.join('; ');
}

function code(text: string): string {
  return `\`${text}\``;
}

function prose(comment: string): string {
  return comment.replaceAll('\n', ' ').replaceAll('|', String.raw`\|`);
}
