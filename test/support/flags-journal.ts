// The flags of the example in a folder of their own, with the journal that their service has written, and the command line
// there.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { runSvc, SvcProcess } from './host-process.ts';
import { copyFlagsProgram, fillProgramFolder } from './program-folder.ts';

export const FLAG = ['data', 'flag', 'search'];
export const PROGRAM = ['--program', 'src/components.ts'];
/** The code of the example's `apply` that makes a state. */
export const APPLIED = 'return { percentage: event.percentage, reason: event.reason };';

export class FlagsJournal {
  readonly folder: string;
  /** Times at which the service had answered each change, in order. */
  readonly answeredMs: number[] = [];

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Lets a service of the example store changes, and ends it. `whileRunning` is called after the second of them. */
  async fill(whileRunning: () => Promise<void> = async () => {}): Promise<void> {
    copyFlagsProgram(this.folder);
    fillProgramFolder(this.folder, {});
    const program = join(this.folder, 'src/main.ts');
    const args = ['--port', '0', '--data', 'data'];
    const service = new SvcProcess(args, { cwd: this.folder, program });
    const url = await service.listening();
    for (const percentage of [10, 20]) await this.#change(url, 'search', percentage);
    await whileRunning();
    await this.#change(url, 'search', 30);
    await this.#change(url, 'cart', 5);
    const { code, stderr } = await service.end('SIGTERM');
    assert.equal(code, 0, stderr);
  }

  readonly svc = async (...args: readonly string[]) => {
    const env = { FORCE_COLOR: undefined, NO_COLOR: undefined, FLAGS_GREETING: 'hello' };
    return runSvc(args, { cwd: this.folder, env });
  };

  /** Writes a copy of the flag with other code, and gives the file that exports it. */
  changed(name: string, from: string, to: string): string {
    const flag = readFileSync(join(this.folder, 'src/flag.ts'), 'utf8');
    assert(flag.includes(from), `the flag has no '${from}'`);
    writeFileSync(join(this.folder, 'src', `${name}-flag.ts`), flag.replace(from, to));
    const text = `import { flag } from './${name}-flag.ts';\nexport const components = { entities: [flag] };`;
    writeFileSync(join(this.folder, 'src', `${name}.ts`), text);
    return `src/${name}.ts`;
  }

  /** Writes a program of the flag and a view of all flags with this code, and gives the file that exports them. */
  withView(name: string, fold: string): string {
    const text = `import { defineView } from '@svc/host';
import { Type } from 'typebox';
import { flag } from './flag.ts';
const all = defineView({
  id: 'all',
  version: '1',
  row: Type.Object({ flags: Type.Array(Type.String()) }),
  from: [{ entity: flag, keys: () => ['all'], fold: (row, _event, { put, entityId }) => ${fold} }],
});
export const components = { entities: [flag], views: [all] };`;
    writeFileSync(join(this.folder, 'src', `${name}.ts`), text);
    return `src/${name}.ts`;
  }

  async #change(url: string, name: string, percentage: number): Promise<void> {
    const response = await fetch(`${url}/flags/${name}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ percentage, reason: `now ${percentage}` }),
    });
    assert.equal(response.status, 200);
    const answeredMs = Date.now();
    this.answeredMs.push(answeredMs);
    // The next record is of a later time.
    while (Date.now() <= answeredMs) await setImmediate();
  }
}
