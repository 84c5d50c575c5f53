// docs/reference/cli.md: its table has a row of each command, with options that the command has.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMAND_NAMES, findCommand } from '../../cli/command-list.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/cli.md'), 'utf8');
/** The first column of the table of commands, without what is escaped for Markdown. */
const rows = [...page.matchAll(/^\| `svc ((?:[^`\\]|\\.)+)` \| (?=\p{Ll})/gmu)]
  .map(([, synopsis]) => synopsis!.replaceAll('\\|', '|'))
  .filter((synopsis) => !synopsis.includes('-o json `'));
const words = (synopsis: string) => synopsis.split(/[[\]| ]+/).filter((word) => word !== '');
const commands = await Promise.all(
  rows.map(async (synopsis) => ({ synopsis, found: await findCommand(words(synopsis)) })),
);

test('each command has a row', () => {
  const names = commands.map(({ found }) => found!.command.description.name);
  expect([...new Set(names)].toSorted()).toEqual(COMMAND_NAMES.toSorted());
});

test.each(commands)('svc $synopsis has the options of its row', ({ synopsis, found }) => {
  const { name, options } = found!.command.description;
  const forms = new Set(
    Object.entries(options).flatMap(([option, { short }]) =>
      short === undefined ? [`--${option}`] : [`--${option}`, `-${short}`],
    ),
  );
  // A command may have its words behind `--`.
  const shown = words(synopsis).filter((word) => word.startsWith('-') && word !== '--');
  expect(shown.filter((word) => !forms.has(word))).toEqual([]);
  expect(words(synopsis).slice(0, name.split(' ').length).join(' ')).toBe(name);
});
