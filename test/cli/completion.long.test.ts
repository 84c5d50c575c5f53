// Completion in the real shells, which reveals scripts that a shell cannot parse or misinterprets.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { withJournal } from '../support/with-journal.ts';

const folder = temporaryFolderOfFile();
const root = join(import.meta.dirname, '..', '..');
const env = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH']}` };

/** A name that a shell would execute if it reached the command line without quotes. */
const HOSTILE = '$(touch${IFS}hacked)';

beforeAll(async () => {
  mkdirSync(join(folder, 'bin'));
  const svc = join(folder, 'bin', 'svc');
  writeFileSync(
    svc,
    `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'cli/bin/svc.js')}' "$@"\n`,
  );
  chmodSync(svc, 0o755);
  const server = join(folder, 'bin', 'own-web-server');
  writeFileSync(server, '');
  chmodSync(server, 0o755);
  for (const file of ['my entry.ts', 'a.wasm', 'note.txt']) writeFileSync(join(folder, file), '');
  await withJournal(join(folder, 'data'), async (journal) => {
    for (const component of ['wallet', 'shopping-cart', HOSTILE]) await store(journal, component);
  });
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await runSvc(['completion', shell]);
    writeFileSync(join(folder, `completion.${shell}`), stdout);
  }
});

function store(
  journal: Parameters<Parameters<typeof withJournal>[1]>[0],
  component: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    journal.append(
      { component, id: 'a' },
      [{ kind: 'event', seq: 1, timeMs: 1, event: { manifest: 'E', json: '{}' } }],
      (failure) => (failure === undefined ? resolve() : reject(failure)),
    );
  });
}

function has(shell: string): boolean {
  const found = spawnSync(shell, ['-c', 'exit 0']).status === 0;
  if (!found) console.log(`${shell} is not installed, so its completion is not tried.`);
  return found;
}

function inShell(shell: string, args: readonly string[], script: string): string {
  const { stdout, stderr } = spawnSync(shell, [...args, '-c', script], {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(stderr).toBe('');
  return stdout;
}

/** Typed text → completions of its last word. */
const OFFERS: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['svc bui', ['build']],
  ['svc inspect a.wasm -o ', ['json', 'text']],
  ['svc inspect -o json a.wasm -o j', ['json']],
  ['svc build x.ts --js', ['--json']],
  ['svc run a.wasm --log ', ['json', 'text']],
  ['svc journal data ', ['shopping-cart', 'wallet']],
  ['svc journal -o json data w', ['wallet']],
  ['svc completion ', ['bash', 'fish', 'zsh']],
  ['svc explain SVC_PORT', ['SVC_PORT_IN_USE']],
  ['svc help jour', ['journal']],
  ['svc help journal ver', ['verify']],
  ['svc journal ver', ['verify']],
  ['svc journal verify data --struc', ['--structure']],
  ['svc journal verify data -o ', ['json', 'text']],
  ['svc journal export data --component w', ['wallet']],
  ['svc journal data --component w', ['wallet']],
  ['svc timers ret', ['retry']],
  ['svc timers data --state ', ['dead', 'pending']],
  ['svc timers data --owner x --sta', ['--state']],
  ['svc views que', ['query']],
  ['svc consumers sk', ['skip']],
  ['svc consumers data --state ', ['parked', 'retrying']],
  ['svc consumers skip data ledger transfer/t1 7 --rea', ['--reason']],
  ['svc version extra ', []],
  ['svc web --na', ['--name']],
  ['svc web -- own-web-s', ['own-web-server']],
  ['svc web --name shop --watch -- own-web-s', ['own-web-server']],
  ['svc web -- own-web-server no', ['note.txt']],
  ['svc web -- own-web-server -- --name data/../no', ['data/../note.txt']],
  ['svc web -- own-web-server --na', []],
  ['svc web -- journal verify data --struc', []],
];

function inBash(line: string): string[] {
  const words = line.split(' ').map((word) => `'${word}'`);
  return inShell(
    'bash',
    ['--norc'],
    `source completion.bash; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}
     _svc; printf '%s\\n' "\${COMPREPLY[@]}"`,
  )
    .split('\n')
    .filter((word) => word !== '')
    .toSorted();
}

function inFish(line: string): string[] {
  return inShell('fish', ['--no-config'], `source completion.fish; complete -C '${line}'`)
    .split('\n')
    .map((offer) => offer.split('\t')[0]!)
    .filter((word) => word !== '');
}

/** Starts a shell on a terminal of its own; resolves once the screen shows the expected text. */
function inZsh(line: string, screen: string): string {
  return inShell(
    'zsh',
    ['-f'],
    `zmodload zsh/zpty
     zpty shell zsh -f -i
     zpty -w shell "PS1='> '; autoload -U compinit; compinit -u -D; source completion.zsh; echo REA''DY"
     zpty -r -m shell out '*READY*'
     zpty -w -n shell '${line}'$'\\t'
     zpty -r -m shell out '*${screen}*'
     print found`,
  );
}

describe.skipIf(!has('bash'))('bash', () => {
  test.each(OFFERS)('after %j offers %j', (line, offered) => {
    expect(inBash(line)).toEqual(offered);
  });

  test('offers the files of the kind that a place takes, and folders to look into', () => {
    expect(inBash('svc build ')).toEqual(['bin', 'data', 'my entry.ts']);
    expect(inBash('svc run ')).toEqual(['a.wasm', 'bin', 'data']);
    const subcommands = ['backup', 'copy', 'export', 'import', 'verify'];
    expect(inBash('svc journal ')).toEqual(['bin', 'data', ...subcommands].toSorted());
    expect(inBash('svc journal backup ')).toEqual(['bin', 'data']);
    expect(inBash('svc journal backup data ')).toEqual(['bin', 'data']);
    const ofViews = ['prepare', 'query', 'rebuild', 'skip'];
    expect(inBash('svc views ')).toEqual(['bin', 'data', ...ofViews]);
    expect(inBash('svc consumers retry ')).toEqual(['bin', 'data']);
  });

  test('takes --output=json, which bash splits, for an option and its value', () => {
    expect(inBash('svc inspect --output = js')).toEqual(['json']);
    expect(inBash('svc inspect --output =')).toEqual(['json', 'text']);
  });

  test('leaves the command line of svc web to the completion of its command', () => {
    expect(
      inShell(
        'bash',
        ['--norc'],
        `source completion.bash; _command_offset() { COMPREPLY=("from $1"); }
         COMP_WORDS=(svc web --watch -- node ''); COMP_CWORD=5; _svc; echo "$COMPREPLY"`,
      ),
    ).toBe('from 4\n');
  });

  test('is registered for svc', () => {
    expect(inShell('bash', ['--norc'], 'source completion.bash; complete -p svc')).toBe(
      'complete -F _svc svc\n',
    );
  });
});

describe.skipIf(!has('fish'))('fish', () => {
  test.each(OFFERS)('after %j offers %j', (line, offered) => {
    expect(inFish(line).toSorted()).toEqual(offered);
  });

  test('offers the files of the kind that a place takes first', () => {
    expect(inFish('svc build ')[0]).toBe('my entry.ts');
    expect(inFish('svc run ')[0]).toBe('a.wasm');
    const subcommands = ['backup', 'copy', 'export', 'import', 'verify'];
    expect(inFish('svc journal ').toSorted()).toEqual(['bin/', 'data/', ...subcommands].toSorted());
    expect(inFish('svc journal backup data ').toSorted()).toEqual(['bin/', 'data/']);
  });
});

describe.skipIf(!has('zsh'))('zsh', () => {
  test.each([
    ['svc bui', 'svc build'],
    ['svc ', 'journal*-- show what a journal holds'],
    ['svc build m', 'svc build my*entry.ts'],
    ['svc run a', 'svc run a.wasm'],
    ['svc inspect a.wasm -o j', 'svc inspect a.wasm -o json'],
    ['svc build x.ts --js', 'svc build x.ts --json'],
    ['svc journal data w', 'svc journal data wallet'],
    ['svc journal -o json data sh', 'svc journal -o json data shopping-cart'],
    ['svc explain SVC_PORT', 'SVC_PORT_IN_USE'],
    ['svc help jour', 'svc help journal'],
    ['svc journal ver', 'svc journal verify'],
    ['svc journal verify d', 'svc journal verify data'],
    ['svc journal verify data --st', 'svc journal verify data --structure'],
    ['svc journal export data --component w', 'svc journal export data --component wallet'],
    ['svc help journal ba', 'svc help journal backup'],
    ['svc views reb', 'svc views rebuild'],
    ['svc consumers data --state pa', 'svc consumers data --state parked'],
    ['svc timers can', 'svc timers cancel'],
    ['svc web --na', 'svc web --name'],
    ['svc web --watch -- own-web-s', 'svc web --watch -- own-web-server'],
    ['svc web -- own-web-server no', 'svc web -- own-web-server note.txt'],
  ])('makes of %j and a tab %j', (line, screen) => {
    expect(inZsh(line, screen)).toBe('found\n');
  });
});
