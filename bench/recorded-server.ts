// What (n) and (n2) load: a shard and its journal in a process, as `svc run` has them, whose recorder is taken away in every
// second turn. It prints its address, and then of each turn that is over what was answered in it.
// Usage: node bench/recorded-server.ts MODULE DATA-FOLDER SLICE-MS
import { readFileSync } from 'node:fs';
import { LoadedService } from './shards.ts';

const [moduleFile, dataFolder, sliceMs] = process.argv.slice(2);
const service = await LoadedService.start(readFileSync(moduleFile!), dataFolder!, 1);
const port = await service.takeTurns(Number(sliceMs), (slice) =>
  process.stdout.write(`${JSON.stringify(slice)}\n`),
);
process.stdout.write(`http://127.0.0.1:${port}\n`);
process.on('SIGTERM', () => process.exit(0));
