// DayProgram: a process with a control plane to which it sends the requests of the scripted day. After each answer it writes a
// line to the file `marks`, which a FaultDisk puts in order with what the disk was asked for.
// Usage: node day-program.ts FOLDER
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { MARKS } from '../../support/crash/disk-trace.ts';
import { startForHistories } from '../model-suite/control-plane-for-histories.ts';
import { HttpDriver } from '../model-suite/http-driver.ts';
import type { Answer } from '../model-suite/reference.ts';
import { DAY, RUN, keyOf } from './scripted-day.ts';

/** One line of the marks. */
export interface AnsweredRequest {
  readonly answer: Answer | undefined;
  readonly atMs: number;
}

const dataFolder = process.argv[2]!;
const control = await startForHistories(dataFolder);
const driver = new HttpDriver(
  () => control.url,
  async () => {},
);
const marks = openSync(join(dataFolder, MARKS), 'a');
for (const [index, request] of DAY.entries()) {
  const answer = await driver.send({ request, run: RUN, idempotencyKey: keyOf(index) });
  const line: AnsweredRequest = { answer, atMs: Date.now() };
  writeSync(marks, `${JSON.stringify(line)}\n`);
}
await control.stop();
