// The events of a test: the next one is sent when its file appears.
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const EVENTS = 3;
const POLL_MS = 10;

/** `path`: that of the files, without their numbers. */
export async function* eventsOf(path: string): AsyncGenerator<Buffer> {
  for (let number = 0; number < EVENTS; number++) {
    while (!existsSync(`${path}.${number}`)) await pause(POLL_MS);
    yield Buffer.from(`data: ${number}\n\n`);
  }
}
