// InterruptedEffects: loaded into the process of an orchestrator before everything else (--import). It counts the effects on files and
// processes, and does something before or after one of them: it kills this process, the router, or an instance.
// SVC_TEST_INTERRUPT: `<number>:<victim>`, the victim being `control-plane`, the id of another process, `oldest` or `newest` (of the instances).
import children from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { processesOfRuns } from '../../../../control-plane/local/run-processes.ts';

const [number, victim] = process.env['SVC_TEST_INTERRUPT']!.split(':');
const kill = process.kill.bind(process);
const folder = process.argv[2]!;
let count = 0;

interrupt(fs, ['mkdirSync', 'openSync', 'writeFileSync', 'fsyncSync', 'renameSync']);
interrupt(fs, ['rmSync', 'rmdirSync']);
interrupt(children, ['spawn']);
interrupt(process, ['kill']);
syncBuiltinESMExports();

function interrupt(target: object, names: readonly string[]): void {
  for (const name of names) {
    const real = Reflect.get(target, name) as (...args: readonly unknown[]) => unknown;
    Reflect.set(target, name, (...args: readonly unknown[]) => {
      step();
      const result = Reflect.apply(real, target, args);
      step();
      return result;
    });
  }
}

function step(): void {
  if (++count !== Number(number)) return;
  if (victim === 'control-plane') kill(process.pid, 'SIGKILL');
  if (/^\d+$/.test(victim!)) {
    kill(Number(victim), 'SIGKILL');
    return;
  }
  const leaders = processesOfRuns(`${folder}/`).filter(({ isLeader }) => isLeader);
  const byAge = leaders.toSorted((one, other) => one.start.startTime! - other.start.startTime!);
  const chosen = victim === 'oldest' ? byAge[0] : byAge.at(-1);
  if (chosen !== undefined) kill(chosen.start.pid, 'SIGKILL');
}
