// A shard's thread that does what a test tells it to: its module's bytes are the text of a program
// over `tell` (says a word of shard-messages.ts), `told` (waits for one) and `settings`.
import { parentPort, workerData } from 'node:worker_threads';
import type { FromShard, ShardSettings, ToShard } from '../../host/shard-messages.ts';

const settings = workerData as ShardSettings;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const tell = (message: FromShard) => parentPort!.postMessage(message);
const told = async (kind: ToShard['kind']) =>
  new Promise((resolve) => {
    parentPort!.on('message', (message: ToShard) => {
      if (message.kind === kind) resolve(message);
    });
  });

// A thread that listens to nobody ends by itself.
parentPort!.on('message', () => {});

type Program = (...words: readonly unknown[]) => Promise<void>;
const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => Program;
const text = new TextDecoder().decode(settings.moduleBytes);
await new AsyncFunction('tell', 'told', 'settings', text)(tell, told, settings);
